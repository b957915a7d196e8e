/** Views that are fetched when the rest is there: those with a terminal in them, which weighs more than all the rest, and the wall. */
import { Failed, Loading } from "../ui/said.js";
import { useLoaded } from "../ui/use-loaded.js";

const views = {
	terminal: () => import("./terminal.js"),
	recording: () => import("./recording.js"),
	side: () => import("./side.js"),
	wall: () => import("./wall.js"),
};

interface TerminalProps {
	readonly id: string;
	readonly offset: number | undefined;
	readonly owner: boolean;
	readonly onLeave?: (() => void) | undefined;
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

export function LazySide() {
	const { value, error } = useLoaded(views.side, []);
	if (error) return <Failed error={error} />;
	return value ? <value.SidePage /> : <Loading what="the terminals" />;
}

export function LazyWall() {
	const { value, error } = useLoaded(views.wall, []);
	if (error) return <Failed error={error} />;
	return value ? <value.WallPage /> : <Loading what="the wall" />;
}
