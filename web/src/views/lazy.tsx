/** Views with a terminal in them, which weighs more than all the rest: fetched when the rest is there. */
import { Failed, Loading } from "../ui/said.js";
import { useLoaded } from "../ui/use-loaded.js";

const views = {
	terminal: () => import("./terminal.js"),
	recording: () => import("./recording.js"),
};

interface TerminalProps {
	readonly id: string;
	readonly offset: number | undefined;
	readonly owner: boolean;
}

export function LazyTerminal(props: TerminalProps) {
	const { value, error } = useLoaded(views.terminal, []);
	if (error) return <Failed error={error} />;
	return value ? <value.TerminalPage {...props} /> : <Loading what="the terminal" />;
}

export function LazyRecording({ id }: { id: string }) {
	const { value, error } = useLoaded(views.recording, []);
	if (error) return <Failed error={error} />;
	return value ? <value.RecordingPage id={id} /> : <Loading what="the player" />;
}
