/** Everything there is, live: what waits for a person first, then what is pinned, then by task or by place. */
import { canClear, clearEnded, collapsed, FILTERS, type Filter, filter, type Group, grouping, groups, text } from "../state/list.js";
import { known, newestFirst } from "../state/processes.js";
import { go, href, route } from "../state/route.js";
import { session } from "../state/start.js";
import { Icon } from "../ui/icon.js";
import { Empty, Loading } from "../ui/said.js";
import { useRoving } from "../ui/use-roving.js";
import { ListRow } from "./list-row.js";

export function List() {
	const chips = useRoving<HTMLDivElement>("button");
	const rows = useRoving<HTMLElement>("a.row, h2 button, h2 a");
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
					<div ref={chips} class="filter-row" role="toolbar" aria-label="What the list shows">
						{Object.entries(FILTERS).map(([key, word]) => (
							<button key={key} type="button" class="chip" aria-pressed={filter.value === key} onClick={() => (filter.value = key as Filter)}>
								{word}
							</button>
						))}
						<span class="gap" />
						{canClear.value && (
							<button type="button" class="chip" title="Take what has ended out of this list; it stays under Ended" onClick={clearEnded}>
								clear ended
							</button>
						)}
						<button
							type="button"
							class="chip"
							title="Group by task or by place"
							onClick={() => (grouping.value = grouping.value === "place" ? "task" : "place")}
						>
							by {grouping.value === "place" ? "place" : "task"}
						</button>
					</div>
				</form>
			</search>
			<nav ref={rows} class="list" aria-label="Terminals">
				{known.value ? <Groups /> : <Loading what="the list" />}
				<p class="to-tasks">
					<a href={href(["t"])}>What tasks did</a>
				</p>
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
	return groups.value.map((group) => <OneGroup key={group.key} group={group} />);
}

function OneGroup({ group: { key, title, beside, items, loud, taskOf } }: { group: Group }) {
	const [view, ...ids] = route.value.parts;
	const closed = !loud && collapsed.has(key);
	return (
		<section class={loud ? "group loud" : "group"} aria-label={title}>
			<h2>
				{loud ? (
					<span>{title}</span>
				) : (
					<button type="button" aria-expanded={!closed} onClick={() => collapsed.toggle(key)}>
						<Icon name={closed ? "forward" : "down"} />
						<span>{title}</span>
					</button>
				)}
				{taskOf !== undefined && (
					<a class="to-log" href={href(["t", taskOf])} aria-label={`log of ${taskOf}`} title="All that this task did">
						log
					</a>
				)}
				<small>{closed ? items.length : beside}</small>
			</h2>
			{!closed && (
				<ul>
					{items.map((process) => (
						<ListRow key={process.session_id} process={process} current={(view === "p" || view === "side") && ids.includes(process.session_id)} />
					))}
				</ul>
			)}
		</section>
	);
}

const Nothing = () => (
	<Empty title="Nothing runs yet">
		<p>Start something by hand with “New”, or connect an agent over MCP:</p>
		<pre>{session.value?.mcp ?? "holdfast mcp"}</pre>
		<p class="quiet">Whatever it starts shows up here by itself.</p>
	</Empty>
);
