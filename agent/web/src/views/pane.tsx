/** Terminals of a conversation: a link with how the process is, and the live terminal beside the conversation where there is room for both. */
import { useEffect, useReducer, useRef } from "preact/hooks";
import { Icon } from "../ui/icon.js";
import { useAround } from "./context.js";

const ROOM = matchMedia("(min-width: 75rem)");

export function ProcessLink({ id, words }: { id: string; words?: string }) {
	const { host, store } = useAround();
	const [, again] = useReducer((count: number) => count + 1, 0);
	useEffect(() => host.onProcesses(() => again(undefined)), [id]);
	const process = host.process(id);
	const beside = (event: MouseEvent) => {
		if (!ROOM.matches || event.ctrlKey || event.metaKey || event.shiftKey) return; // there is no room, or it is wanted in another tab
		event.preventDefault();
		store.terminal.value = store.terminal.value === id ? undefined : id;
	};
	return (
		<a class={process?.waits ? "ag-process waits" : process?.running ? "ag-process runs" : "ag-process"} href={host.terminalHref(id)} onClick={beside}>
			<Icon name="terminal" />
			<span>{words ?? id}</span>
			{process && <span class="ag-process-is">{process.words}</span>}
		</a>
	);
}

export function TerminalPane({ id }: { id: string }) {
	const { host, store } = useAround();
	const place = useRef<HTMLDivElement>(null);
	useEffect(() => {
		if (!place.current) return;
		return host.mountTerminal(place.current, id, () => {
			store.terminal.value = undefined;
		});
	}, [id]);
	return <div ref={place} class="ag-pane" />;
}
