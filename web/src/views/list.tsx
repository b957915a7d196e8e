/** Everything there is, live: what waits for a person first, then by task or by place. */
import { computed, signal } from "@preact/signals";
import type { ProcessItem } from "../../../src/doors/http/schemas.js";
import { kept } from "../state/kept.js";
import { isRunning, isWaiting, known, newestFirst, waiting } from "../state/processes.js";
import { go, route } from "../state/route.js";
import { session } from "../state/start.js";
import { Icon } from "../ui/icon.js";
import { Empty, Loading } from "../ui/said.js";
import { ListRow } from "./list-row.js";

const FILTERS = { all: "All", running: "Running", ended: "Ended" } as const;
type Filter = keyof typeof FILTERS;

const text = signal("");
const filter = signal<Filter>("all");
const grouping = kept("grouping", "task");

const matches = (process: ProcessItem, wanted: string): boolean =>
	[process.name ?? "", process.command, process.session_id, process.task, process.place, process.cwd, process.last_line].some((field) =>
		field.toLowerCase().includes(wanted),
	);

const shown = computed(() => {
	const wanted = text.value.trim().toLowerCase();
	return newestFirst.value.filter(
		(process) => (filter.value === "all" || isRunning(process) === (filter.value === "running")) && (!wanted || matches(process, wanted)),
	);
});

interface Group {
	readonly key: string;
	readonly title: string;
	readonly beside: string;
	readonly items: readonly ProcessItem[];
	readonly loud?: boolean;
}

const groups = computed<readonly Group[]>(() => {
	const waits = waiting.value.filter((process) => shown.value.includes(process));
	const rest = new Map<string, ProcessItem[]>();
	for (const process of shown.value) {
		if (isWaiting(process)) continue;
		const key = grouping.value === "place" ? process.place : `${process.task}\0${process.place}`;
		rest.set(key, [...(rest.get(key) ?? []), process]);
	}
	const others = [...rest].map(([key, items]) => {
		const [title = "", place = ""] = key.split("\0");
		return { key, title, beside: place, items: [...items.filter(isRunning), ...items.filter((process) => !isRunning(process))] };
	});
	return waits.length > 0 ? [{ key: "\0waits", title: "Waits for input", beside: String(waits.length), items: waits, loud: true }, ...others] : others;
});

export function List() {
	return (
		<>
			<search>
				<form
					class="filter"
					onSubmit={(event) => {
						event.preventDefault();
						if (text.value.trim()) go(["search"], { q: text.value.trim() });
					}}
				>
					<label class="filter-text">
						<span class="hidden">Filter the list; Enter searches in all logs</span>
						<Icon name="search" />
						<input
							id="filter"
							type="search"
							class="input"
							placeholder="Filter  ·  Enter searches all logs"
							autocomplete="off"
							value={text.value}
							onInput={(event) => {
								text.value = event.currentTarget.value;
							}}
						/>
					</label>
					<div class="filter-row">
						<fieldset class="chips">
							<legend class="hidden">Show</legend>
							{Object.entries(FILTERS).map(([key, word]) => (
								<label key={key} class="chip">
									<input type="radio" name="filter" checked={filter.value === key} onChange={() => (filter.value = key as Filter)} />
									<span>{word}</span>
								</label>
							))}
						</fieldset>
						<label class="by">
							<span>by</span>
							<select value={grouping.value} onChange={(event) => (grouping.value = event.currentTarget.value)}>
								<option value="task">task</option>
								<option value="place">place</option>
							</select>
						</label>
					</div>
				</form>
			</search>
			<nav class="list" aria-label="Terminals" onKeyDown={move}>
				{known.value ? <Groups /> : <Loading what="the list" />}
			</nav>
		</>
	);
}

function Groups() {
	if (newestFirst.value.length === 0) return <Nothing />;
	if (groups.value.length === 0)
		return (
			<Empty title="Nothing fits">
				<p>No terminal fits this filter. Press Enter in it to search in the logs instead.</p>
			</Empty>
		);
	const current = route.value.parts[0] === "p" ? route.value.parts[1] : undefined;
	return groups.value.map(({ key, title, beside, items, loud }) => (
		<section key={key} class={loud ? "group loud" : "group"} aria-label={title}>
			<h2>
				<span>{title}</span> <small>{beside}</small>
			</h2>
			<ul>
				{items.map((process) => (
					<ListRow key={process.session_id} process={process} current={process.session_id === current} />
				))}
			</ul>
		</section>
	));
}

const Nothing = () => (
	<Empty title="Nothing runs yet">
		<p>Start something by hand with “New”, or connect an agent over MCP:</p>
		<pre>{session.value?.mcp ?? "holdfast mcp"}</pre>
		<p class="quiet">Whatever it starts shows up here by itself.</p>
	</Empty>
);

/** Up and down go from one to the next. */
function move(event: KeyboardEvent): void {
	const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
	if (!step) return;
	const rows = [...document.querySelectorAll<HTMLElement>(".list a.row")];
	const next = rows[rows.indexOf(document.activeElement as HTMLElement) + step];
	if (!next) return;
	event.preventDefault();
	next.focus();
}
