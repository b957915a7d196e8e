/** A terminal with all there is to know about it and to do with it. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ProcessDetail, ProcessItem } from "../../../src/doors/http/schemas.js";
import { detail as readDetail } from "../api/calls.js";
import { isRunning, processes } from "../state/processes.js";
import { href } from "../state/route.js";
import { TerminalView } from "../terminal/view.js";
import { Failed, Loading } from "../ui/said.js";
import { tell } from "../ui/toasts.js";
import { useLoaded } from "../ui/use-loaded.js";
import { KeyRow } from "./key-row.js";
import { KeyboardBar } from "./keyboard-bar.js";
import { LineInput } from "./line-input.js";
import { PastBar } from "./past-bar.js";
import { SearchBar } from "./search-bar.js";
import { TerminalHead } from "./terminal-head.js";

export function TerminalPage({ id, offset, owner }: { id: string; offset: number | undefined; owner: boolean }) {
	const loaded = useLoaded((signal) => readDetail(id, signal), [id]);
	if (loaded.error)
		return (
			<Failed error={loaded.error}>
				<p>
					<a href={href([])}>Back to the list</a>
				</p>
			</Failed>
		);
	if (!loaded.value) return <Loading what="the terminal" />;
	return <Shown key={loaded.value.session_id} detail={loaded.value} offset={offset} owner={owner} />;
}

function Shown({ detail, offset, owner }: { detail: ProcessDetail; offset: number | undefined; owner: boolean }) {
	const host = useRef<HTMLDivElement>(null);
	const past = useRef<HTMLDivElement>(null);
	const [view, setView] = useState<TerminalView>();
	const [searching, setSearching] = useState(false);
	useEffect(() => {
		const made = new TerminalView(detail, host.current as HTMLElement, past.current as HTMLElement);
		setView(made);
		Object.assign(window, { holdfast: made }); // for tests, and for the console of who wants to know
		return () => made.dispose();
	}, [detail]);
	useEffect(() => {
		if (view && offset !== undefined) tell(view.showHistory(offset));
	}, [view, offset]);
	const process = current(detail, view);
	const inPast = view?.history.value !== undefined;
	return (
		<article class="terminal" aria-label={`Terminal of ${process.command}`}>
			<TerminalHead detail={detail} process={process} view={view} owner={owner} onSearch={() => setSearching(!searching)} searching={searching} />
			{isRunning(process) && process.note && (
				<p class="hands lost" role="status">
					{process.note}
				</p>
			)}
			{view && <KeyboardBar view={view} process={process} owner={owner} />}
			{view && searching && <SearchBar view={view} owner={owner} onClose={() => setSearching(false)} />}
			{view && inPast && <PastBar view={view} />}
			<div class="screens">
				<div ref={host} class={inPast ? "screen away" : "screen"} />
				<div ref={past} class={inPast ? "screen" : "screen away"} />
				{!view?.live.ready.value && <Loading what="the screen" />}
			</div>
			{view && <KeyRow view={view} />}
			{view && <LineInput view={view} />}
		</article>
	);
}

/** The list is told of changes; who only looks has no list, and the terminal's own connection says the most important ones. */
function current(detail: ProcessDetail, view: TerminalView | undefined): ProcessItem {
	const live = view?.live;
	if (live?.ended.value && live.process.value) return live.process.value;
	return processes.value.get(detail.session_id) ?? live?.process.value ?? detail;
}
