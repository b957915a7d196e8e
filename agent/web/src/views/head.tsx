/** What a conversation is called, which model and place it has, and the way to all that it did. */
import { useState } from "preact/hooks";
import type { ShownEntry } from "../../../src/page/messages.js";
import { tokens } from "../ui/format.js";
import { Icon } from "../ui/icon.js";
import { shownCode } from "../ui/text.js";
import { useAround } from "./context.js";
import { nameOf } from "./list.js";

export function Head({ id, entries }: { id: string; entries: readonly ShownEntry[] }) {
	const { host, store } = useAround();
	const item = store.item(id);
	const [editing, setEditing] = useState(false);
	const usage = entries.findLast((entry) => entry.t === "assistant" && entry.usage);
	const context = usage?.t === "assistant" && usage.usage ? usage.usage.input + usage.usage.output : undefined;
	return (
		<header class="ag-head">
			<a class="button bare icon ag-back" href={host.href([])} aria-label="Back to the list">
				<Icon name="back" />
			</a>
			<div class="ag-what">
				{editing ? (
					<TitleForm id={id} title={item?.title ?? ""} onDone={() => setEditing(false)} />
				) : (
					<h1>
						<span>{item ? nameOf(item) : id}</span>
						<button type="button" class="button bare icon" aria-label="Change the title" title="Change the title" onClick={() => setEditing(true)}>
							<Icon name="edit" />
						</button>
					</h1>
				)}
				<p class="ag-facts">
					{item && <span>{shownCode(item.model)}</span>}
					{item && <span>{shownCode(item.place)}</span>}
					{context !== undefined && <span title="Tokens of the last request and its answer">{tokens(context)} tokens</span>}
					<span class="ag-id">{id}</span>
				</p>
			</div>
			{item && (
				<a class="button bare" href={host.taskHref(item.task)} title="Every command that ran for this conversation, with its output">
					<Icon name="log" />
					<span class="ag-word">What it did</span>
				</a>
			)}
		</header>
	);
}

function TitleForm({ title, onDone }: { id: string; title: string; onDone: () => void }) {
	const { host, store } = useAround();
	const save = async (text: string) => {
		try {
			if (text.trim() !== "" && text !== title) await store.setTitle(text);
			onDone();
		} catch (error) {
			host.say((error as Error).message, true);
		}
	};
	return (
		<form
			class="ag-title"
			onSubmit={(event) => {
				event.preventDefault();
				void save(String(new FormData(event.currentTarget).get("title") ?? ""));
			}}
			onKeyDown={(event) => {
				if (event.key === "Escape") onDone();
			}}
		>
			<label class="hidden" for="ag-title">
				Title
			</label>
			{/* biome-ignore lint/a11y/noAutofocus: it was just asked for */}
			<input id="ag-title" name="title" class="input" defaultValue={title} maxLength={80} autoFocus placeholder="A title" />
			<button type="submit" class="button">
				Save
			</button>
			<button type="button" class="button bare" onClick={onDone}>
				Cancel
			</button>
		</form>
	);
}
