/** All conversations, the last used first, wherever they began. */
import { useState } from "preact/hooks";
import type { ConversationItem } from "../../../src/page/messages.js";
import { ago, counted, now } from "../ui/format.js";
import { Icon } from "../ui/icon.js";
import { shownCode } from "../ui/text.js";
import { useAround } from "./context.js";

export function ConversationListView() {
	const { store, host } = useAround();
	const [wanted, setWanted] = useState("");
	const all = store.list.value;
	const found = (all ?? []).filter((item) => fits(item, wanted));
	return (
		<>
			<div class="ag-filter">
				<label class="ag-filter-text">
					<span class="hidden">Filter conversations</span>
					<Icon name="search" />
					<input class="input" type="search" placeholder="Filter" value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
				</label>
				<a class="button" href={host.href(["new"])} aria-current={store.shown.value === "new" ? "page" : undefined}>
					<Icon name="plus" />
					New<span class="hidden"> conversation</span>
				</a>
			</div>
			<nav class="ag-list" aria-label="Conversations">
				{all === undefined ? (
					<p class="ag-note beat">Getting the conversations …</p>
				) : found.length === 0 ? (
					<p class="ag-note">{wanted ? "None fits." : "Nothing was said yet."}</p>
				) : (
					<ul>
						{found.map((item) => (
							<Row key={item.id} item={item} current={item.id === store.shown.value} />
						))}
					</ul>
				)}
				{store.more.value && (
					<button type="button" class="button bare" onClick={() => store.showMore()}>
						Show older ones
					</button>
				)}
			</nav>
		</>
	);
}

const fits = ({ title, first, id, model, place }: ConversationItem, wanted: string): boolean =>
	[title ?? "", first, id, model, place].some((text) => text.toLowerCase().includes(wanted.trim().toLowerCase()));

export const nameOf = ({ title, first, id }: Pick<ConversationItem, "title" | "first" | "id">): string => shownCode(title || first || id);

function Row({ item, current }: { item: ConversationItem; current: boolean }) {
	const { host } = useAround();
	const { words, tone } = stateOf(item);
	return (
		<li>
			<a class="ag-row" href={host.href([item.id])} aria-current={current ? "page" : undefined}>
				<span class="ag-row-name">{nameOf(item)}</span>
				<span class="ag-row-time">{ago(item.updated_at, now.value)}</span>
				<span class="ag-row-meta">
					{words && <span class={`ag-state ${tone}`}>{words}</span>}
					<span>{item.broken !== null ? shownCode(item.id) : counted(item.messages, "message", "messages")}</span>
					<span>{shownCode(item.model)}</span>
					{item.place !== "local" && <span>{shownCode(item.place)}</span>}
				</span>
			</a>
		</li>
	);
}

function stateOf({ state, broken, ended }: ConversationItem): { readonly words: string; readonly tone: string } {
	if (broken !== null) return { words: "damaged", tone: "bad" };
	if (state.is === "asks") return { words: "asks you", tone: "wait" };
	if (state.is === "works") return { words: state.by === null ? "works" : `works in ${state.by}`, tone: "run" };
	if (state.is === "cut") return { words: "cut short", tone: "wait" };
	return ended === null ? { words: "", tone: "" } : { words: "ended", tone: "over" };
}
