/** The frame of the page: what is on top, the list beside it, and the view that the address names. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { welcome } from "./api/credentials.js";
import { link } from "./api/events.js";
import { pending } from "./state/approvals.js";
import { announced } from "./state/notify.js";
import { waiting } from "./state/processes.js";
import { href, route } from "./state/route.js";
import { session } from "./state/start.js";
import { Empty, Loading } from "./ui/said.js";
import { Toasts } from "./ui/toasts.js";
import { Approvals } from "./views/approvals.js";
import { FilesPage } from "./views/files.js";
import { Gate } from "./views/gate.js";
import { LazyRecording, LazyTerminal } from "./views/lazy.js";
import { List } from "./views/list.js";
import { SearchPage } from "./views/search.js";
import { StartDialog } from "./views/start-dialog.js";
import { Timeline } from "./views/timeline.js";
import { Top } from "./views/top.js";

const starting = signal(false);

export function App() {
	useTitle();
	useShortcuts();
	if (!welcome.value) return <Gate />;
	if (!session.value) return <Waiting />;
	return session.value.scope === "viewer" ? <Looking id={session.value.session_id ?? ""} /> : <Owner />;
}

const Waiting = () => (
	<main class="gate" id="main">
		{link.value === "lost" ? (
			<Empty title="The server does not answer">
				<p>Start it again where it ran; this page goes on by itself as soon as it is there:</p>
				<pre>holdfast serve</pre>
			</Empty>
		) : (
			<Loading what="the page" />
		)}
	</main>
);

function Owner() {
	const [view = ""] = route.value.parts;
	const besideList = view === "" || view === "p";
	const shape = ["shell", !besideList && "alone", view === "" && "at-list", view === "p" && "at-terminal"].filter(Boolean).join(" ");
	return (
		<div class={shape}>
			<button type="button" class="button skip" onClick={() => document.getElementById("main")?.focus()}>
				To the content
			</button>
			<div class="top-area">
				<Top view={view} onStart={() => (starting.value = true)} />
				{link.value === "lost" && (
					<div class="banner" role="alert">
						The server does not answer. What runs goes on running; this page goes on by itself when the server is back: <code>holdfast serve</code>
					</div>
				)}
			</div>
			<aside class="side" aria-label="Terminals">
				<List />
			</aside>
			<main class="main" id="main" tabIndex={-1}>
				<View />
			</main>
			{starting.value && <StartDialog onClose={() => (starting.value = false)} />}
			<Toasts />
			<p class="hidden" role="status" aria-live="assertive">
				{announced.value}
			</p>
		</div>
	);
}

function View() {
	const { parts, query } = route.value;
	const [view = "", id = "", what] = parts;
	if (view === "p" && what === "recording") return <LazyRecording key={id} id={id} />;
	if (view === "p") return <LazyTerminal key={id} id={id} offset={query.has("at") ? Number(query.get("at")) || 0 : undefined} owner />;
	if (view === "approvals") return <Approvals />;
	if (view === "timeline") return <Timeline />;
	if (view === "files") return <FilesPage />;
	if (view === "search") return <SearchPage key={query.get("q")} wanted={query.get("q") ?? ""} />;
	if (view === "")
		return (
			<Empty title="Choose a terminal">
				<p>The list shows every terminal, live. What waits for input comes first.</p>
				<p class="quiet">
					<kbd>/</kbd> filter · <kbd>n</kbd> start something · <kbd>↑</kbd> <kbd>↓</kbd> go through the list
				</p>
			</Empty>
		);
	return (
		<Empty title="There is no such page">
			<a href={href([])}>To the terminals</a>
		</Empty>
	);
}

/** For one terminal and nothing else. */
const Looking = ({ id }: { id: string }) => (
	<main class="gate only" id="main">
		{route.value.parts[2] === "recording" ? <LazyRecording id={id} /> : <LazyTerminal id={id} offset={undefined} owner={false} />}
		<Toasts />
	</main>
);

/** What waits is in the title too, for who has the page in another tab. */
function useTitle(): void {
	const count = waiting.value.length + pending.value.length;
	useEffect(() => {
		document.title = count > 0 ? `(${count}) Holdfast` : "Holdfast";
	}, [count]);
}

function useShortcuts(): void {
	useEffect(() => {
		const heard = (event: KeyboardEvent) => {
			const target = event.target as HTMLElement;
			if (event.ctrlKey || event.metaKey || event.altKey || starting.value || target.closest("input, textarea, select, dialog, .xterm")) return;
			if (event.key === "/") document.getElementById("filter")?.focus();
			else if (event.key === "n") starting.value = true;
			else return;
			event.preventDefault();
		};
		addEventListener("keydown", heard);
		return () => removeEventListener("keydown", heard);
	}, []);
}
