/** The frame of the page: what is on top, the list beside it, and the view that the address names. */
import { useEffect } from "preact/hooks";
import { welcome } from "./api/credentials.js";
import { link } from "./api/events.js";
import { pending } from "./state/approvals.js";
import { dialog } from "./state/dialogs.js";
import { announced } from "./state/notify.js";
import { waiting } from "./state/processes.js";
import { href, route } from "./state/route.js";
import { listenForShortcuts } from "./state/shortcuts.js";
import { session } from "./state/start.js";
import { Empty, Loading } from "./ui/said.js";
import { Toasts } from "./ui/toasts.js";
import { Approvals } from "./views/approvals.js";
import { FilesPage } from "./views/files.js";
import { Gate } from "./views/gate.js";
import { KeysDialog } from "./views/keys-dialog.js";
import { LazyRecording, LazySide, LazyTerminal, LazyWall } from "./views/lazy.js";
import { List } from "./views/list.js";
import { PartPage } from "./views/part.js";
import { Questions } from "./views/questions.js";
import { SearchPage } from "./views/search.js";
import { SettingsDialog } from "./views/settings-dialog.js";
import { StartDialog } from "./views/start-dialog.js";
import { TaskPage } from "./views/task.js";
import { TasksPage } from "./views/tasks.js";
import { Timeline } from "./views/timeline.js";
import { Top } from "./views/top.js";

export function App() {
	useTitle();
	useEffect(listenForShortcuts, []);
	if (!welcome.value) return <Gate />;
	if (!session.value) return <Waiting />;
	return session.value.scope === "viewer" ? <Looking id={session.value.session_id ?? ""} /> : <Owner />;
}

const Waiting = () => (
	<main class="gate" id="main">
		{link.value === "lost" ? (
			<Empty title="The server does not answer" whole>
				<p>Start it again where it ran; this page goes on by itself as soon as it is there:</p>
				<pre>holdfast serve</pre>
			</Empty>
		) : (
			<Loading what="the page" />
		)}
	</main>
);

function Owner() {
	const [view = "", part = ""] = route.value.parts;
	const besideList = view === "" || view === "p" || view === "side";
	const shape = ["shell", !besideList && "alone", view === "" && "at-list", (view === "p" || view === "side") && "at-terminal"].filter(Boolean).join(" ");
	return (
		<div class={shape}>
			<button type="button" class="button skip" onClick={() => document.getElementById("main")?.focus()}>
				To the content
			</button>
			<div class="top-area">
				<Top view={view} part={part} />
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
			{dialog.value === "start" && <StartDialog onClose={close} />}
			{dialog.value === "settings" && <SettingsDialog onClose={close} />}
			{dialog.value === "keys" && <KeysDialog onClose={close} />}
			<div class="corner">
				{view !== "approvals" && <Questions />}
				<Toasts />
			</div>
			<p class="hidden" role="status" aria-live="assertive">
				{announced.value}
			</p>
		</div>
	);
}

const close = (): void => {
	dialog.value = "";
};

function View() {
	const { parts, query } = route.value;
	const [view = "", id = "", what] = parts;
	if (view === "p" && what === "recording") return <LazyRecording key={id} id={id} />;
	if (view === "p") return <LazyTerminal key={id} id={id} offset={query.has("at") ? Number(query.get("at")) || 0 : undefined} owner />;
	if (view === "side") return <LazySide />;
	if (view === "wall") return <LazyWall />;
	if (view === "approvals") return <Approvals />;
	if (view === "timeline") return <Timeline />;
	if (view === "t" && id === "") return <TasksPage />;
	if (view === "t") return <TaskPage key={id} task={id} wanted={query.get("q") ?? ""} />;
	if (view === "files") return <FilesPage />;
	const part = view === "parts" ? session.value?.parts.find(({ name }) => name === id) : undefined;
	if (part) return <PartPage key={part.name} part={part} />;
	if (view === "search") return <SearchPage key={query.get("q")} wanted={query.get("q") ?? ""} />;
	if (view === "")
		return (
			<Empty title="Choose a terminal" whole>
				<p>The list shows every terminal, live. What waits for input comes first.</p>
				<p class="quiet">
					<kbd>↑</kbd> <kbd>↓</kbd> go through the list · <kbd>n</kbd> start something · <kbd>?</kbd> all keys
				</p>
			</Empty>
		);
	return (
		<Empty title="There is no such page" whole>
			<a href={href([])}>To the terminals</a>
		</Empty>
	);
}

/** The page of a link: one terminal and nothing else. */
const Looking = ({ id }: { id: string }) => (
	<main class="gate only" id="main">
		{route.value.parts[2] === "recording" ? <LazyRecording id={id} /> : <LazyTerminal id={id} offset={undefined} owner={false} />}
		{dialog.value === "keys" && <KeysDialog onClose={close} />}
		<div class="corner">
			<Toasts />
		</div>
	</main>
);

/** The title shows what waits too, for a person with the page in another tab. */
function useTitle(): void {
	const count = waiting.value.length + pending.value.length;
	useEffect(() => {
		document.title = count > 0 ? `(${count}) Holdfast` : "Holdfast";
	}, [count]);
}
