/** All that a task did, in order, live: output on a click, search, exports. */
import { useState } from "preact/hooks";
import type { TaskLogEntry } from "../../../src/doors/http/schemas.js";
import { download, taskLogOutput, taskLogPath } from "../api/calls.js";
import { go, href } from "../state/route.js";
import { Button } from "../ui/button.js";
import { clock } from "../ui/format.js";
import { Marked } from "../ui/marked.js";
import { Empty, Failed, Loading } from "../ui/said.js";
import { tell } from "../ui/toasts.js";
import { useLoaded } from "../ui/use-loaded.js";
import { useTaskLog } from "./use-task-log.js";

export function TaskPage({ task, wanted }: { task: string; wanted: string }) {
	const { entries, earlier, error, showEarlier } = useTaskLog(task, wanted);
	return (
		<div class="page task-log">
			<header class="page-head">
				<h1 class="task-name">{task}</h1>
				<fieldset class="exports">
					<legend class="hidden">Export the transcript</legend>
					{(["md", "json", "html"] as const).map((format) => (
						<Button key={format} icon="download" label={`Export as ${FORMS[format]}`} onClick={() => tell(download(taskLogPath(task, format)))}>
							{FORMS[format]}
						</Button>
					))}
				</fieldset>
			</header>
			<Search key={wanted} task={task} wanted={wanted} />
			{error ? (
				<Failed error={error} />
			) : entries ? (
				<Entries entries={entries} wanted={wanted} earlier={earlier} showEarlier={showEarlier} />
			) : (
				<Loading what="what it did" />
			)}
		</div>
	);
}

const FORMS = { md: "Markdown", json: "JSON", html: "HTML" } as const;

function Search({ task, wanted }: { task: string; wanted: string }) {
	const [text, setText] = useState(wanted);
	return (
		<form
			class="search-form"
			onSubmit={(event) => {
				event.preventDefault();
				go(["t", task], text.trim() ? { q: text.trim() } : {});
			}}
		>
			<input
				type="search"
				class="input"
				aria-label="Text in commands and output of this task"
				placeholder="Text in commands and output"
				value={text}
				onInput={(event) => setText(event.currentTarget.value)}
			/>
			<Button kind="primary" submit>
				Search
			</Button>
		</form>
	);
}

interface EntriesProps {
	readonly entries: readonly TaskLogEntry[];
	readonly wanted: string;
	readonly earlier: boolean;
	readonly showEarlier: () => void;
}

function Entries({ entries, wanted, earlier, showEarlier }: EntriesProps) {
	if (entries.length === 0) return <Empty title={wanted ? "Not found" : "Nothing yet"}>{wanted && <p>No entry of this task has it.</p>}</Empty>;
	return (
		<>
			{earlier && (
				<p>
					<Button onClick={showEarlier}>Show earlier entries</Button>
				</p>
			)}
			<ol class="entries">
				{entries.map((entry) => (
					<Entry key={entry.entry_id} entry={entry} wanted={wanted} />
				))}
			</ol>
		</>
	);
}

function Entry({ entry, wanted }: { entry: TaskLogEntry; wanted: string }) {
	const { words, has_output, session_id, lines, at, kind } = entry;
	const [open, setOpen] = useState(false);
	const head = (
		<>
			<time dateTime={at}>{clock(at)}</time>
			<b class={words.tone}>{words.head}</b>
			<span class="entry-text">
				<Marked text={words.text} wanted={wanted} />
				<small class="quiet">{words.details.filter((word) => word !== session_id).join(", ")}</small>
			</span>
		</>
	);
	return (
		<li class={`entry ${kind}`}>
			{has_output ? (
				<details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
					<summary>{head}</summary>
					{open && session_id !== undefined && <Output key={entry.bytes} id={session_id} wanted={wanted} />}
				</details>
			) : (
				<div class="entry-line">{head}</div>
			)}
			{!open &&
				lines?.map((line, at) => (
					<p key={at} class="found mono">
						<Marked text={line} wanted={wanted} />
					</p>
				))}
		</li>
	);
}

function Output({ id, wanted }: { id: string; wanted: string }) {
	const { value, error } = useLoaded((signal) => taskLogOutput(id, signal), [id]);
	if (error) return <Failed error={error} />;
	if (!value) return <Loading what="its output" />;
	return (
		<>
			<pre class="entry-output">
				{wanted
					? value.output.split("\n").map((line, at) => (
							<div key={at}>
								<Marked text={line} wanted={wanted} />
							</div>
						))
					: value.output}
			</pre>
			<p>
				<a href={href(["p", id])}>Open as a terminal</a>
			</p>
		</>
	);
}
