/** A terminal with all there is to know about it and to do with it. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ProcessDetail, ProcessItem } from "../../../src/doors/http/schemas.js";
import { detail as readDetail } from "../api/calls.js";
import { wasStartedHere } from "../state/keyboards.js";
import { isRunning, processes } from "../state/processes.js";
import { href } from "../state/route.js";
import { TerminalView } from "../terminal/view.js";
import { Failed, Loading } from "../ui/said.js";
import { tell } from "../ui/toasts.js";
import { useLoaded } from "../ui/use-loaded.js";
import { Details } from "./details.js";
import { KeyRow } from "./key-row.js";
import { KeyboardBar } from "./keyboard-bar.js";
import { LineInput } from "./line-input.js";
import { PastBar } from "./past-bar.js";
import { SearchBar } from "./search-bar.js";
import { TerminalHead } from "./terminal-head.js";

interface Props {
	readonly id: string;
	readonly offset: number | undefined;
	readonly owner: boolean;
	/** Takes the terminal out of a row of several. */
	readonly onLeave?: (() => void) | undefined;
}

export function TerminalPage({ id, offset, owner, onLeave }: Props) {
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
	return <Shown key={loaded.value.session_id} detail={loaded.value} offset={offset} owner={owner} onLeave={onLeave} />;
}

function Shown({ detail, offset, owner, onLeave }: Omit<Props, "id"> & { detail: ProcessDetail }) {
	const host = useRef<HTMLDivElement>(null);
	const past = useRef<HTMLDivElement>(null);
	const [view, setView] = useState<TerminalView>();
	const [searching, setSearching] = useState(false);
	const [details, setDetails] = useState(false);
	useEffect(() => {
		const made = new TerminalView(detail, host.current as HTMLElement, past.current as HTMLElement);
		setView(made);
		Object.assign(window, { holdfast: made }); // for tests, and for the console of who wants to know
		if (wasStartedHere(detail.session_id)) made.takeKeyboard();
		return () => made.dispose();
	}, [detail]);
	useEffect(() => {
		if (view && offset !== undefined) tell(view.showHistory(offset));
	}, [view, offset]);
	const closeDetails = () => {
		setDetails(false);
		host.current?.closest("article")?.querySelector<HTMLElement>(".term-tools button")?.focus();
	};
	const process = current(detail, view);
	const inPast = view?.history.value !== undefined;
	return (
		<article
			class="terminal"
			data-id={detail.session_id}
			aria-label={`Terminal of ${process.command}`}
			onFocusIn={() => view && Object.assign(window, { holdfast: view })} // of several, the one where the focus is
		>
			<TerminalHead
				process={process}
				view={view}
				owner={owner}
				onLeave={onLeave}
				searching={searching}
				onSearch={() => setSearching(!searching)}
				details={details}
				onDetails={() => setDetails(!details)}
			/>
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
				{details && <Details detail={detail} process={process} owner={owner} onClose={closeDetails} />}
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
