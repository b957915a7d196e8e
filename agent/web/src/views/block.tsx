/** A message, an answer, or a remark. */
import { useState } from "preact/hooks";
import type { CutText, ShownEntry } from "../../../src/page/messages.js";
import type { Block } from "../state/blocks.js";
import { clock, counted } from "../ui/format.js";
import { Markdown } from "../ui/markdown.js";
import { shownCode, shownText } from "../ui/text.js";
import { CallView } from "./call.js";
import { useAround } from "./context.js";

const WHY = { interrupted: "", cut: "The connection to the model broke here.", length: "The model reached the limit of an answer here." };

export function BlockView({ block }: { block: Block }) {
	switch (block.kind) {
		case "said":
			return <Said entry={block.entry} />;
		case "answer":
			return (
				<li class="ag-turn answer">
					<Thought n={block.n} thought={block.entry.thought} />
					<Words n={block.n} text={block.entry.text} />
					{block.calls.length > 0 && (
						<ul class="ag-calls" aria-label="What it did">
							{block.calls.map((one) => (
								<CallView key={one.call.id} block={one} />
							))}
						</ul>
					)}
				</li>
			);
		case "partial":
			return (
				<li class="ag-turn answer">
					<Words n={block.n} text={block.entry.text} />
					{WHY[block.entry.why] && <p class="ag-remark">{WHY[block.entry.why]}</p>}
				</li>
			);
		case "remark":
			return (
				<li class={block.tone === "bad" ? "ag-turn ag-remark bad" : "ag-turn ag-remark"}>
					{block.more ? (
						<details>
							<summary>{shownCode(block.text)}</summary>
							<p class="ag-plain">{shownText(block.more.text)}</p>
						</details>
					) : (
						<p>{shownText(block.text)}</p>
					)}
				</li>
			);
	}
}

function Said({ entry }: { entry: Extract<ShownEntry, { t: "user" }> }) {
	const { by, files, at, text } = entry;
	const who = by.platform === "page" ? "" : shownCode(`${by.name ?? by.person} in ${by.platform}`);
	return (
		<li class="ag-turn said-by">
			<p class="ag-by">
				<span class="hidden">You, </span>
				{who && <span>{who}</span>} <time dateTime={at}>{clock(at)}</time>
			</p>
			<CutPlain n={entry.n} text={text} />
			{files.map(({ name, bytes }) => (
				<p key={name} class="ag-by">
					{shownCode(name)}, {counted(bytes, "byte", "bytes")}
				</p>
			))}
		</li>
	);
}

/** What a person wrote is shown as it is. */
function CutPlain({ n, text }: { n: number; text: CutText }) {
	const { text: shown, more } = useWhole(n, text, (entry) => (entry.t === "user" ? entry.text : undefined));
	return (
		<>
			<p class="ag-plain" dir="auto">
				{shownText(shown)}
			</p>
			{more}
		</>
	);
}

/** The words of an answer. */
function Words({ n, text }: { n: number; text: CutText }) {
	const { text: shown, more } = useWhole(n, text, (entry) => (entry.t === "assistant" || entry.t === "partial" ? entry.text : undefined));
	if (shown.trim() === "") return null;
	return (
		<>
			<Markdown text={shown} />
			{more}
		</>
	);
}

function Thought({ n, thought }: { n: number; thought: CutText }) {
	const { text, more } = useWhole(n, thought, (entry) => (entry.t === "assistant" ? entry.thought : undefined));
	if (text === "") return null;
	return (
		<details class="ag-thought">
			<summary>Thought</summary>
			<p class="ag-plain">{shownText(text)}</p>
			{more}
		</details>
	);
}

/** A text that was cut on its way, and a button that gets the rest. */
export function useWhole(n: number, given: CutText, pick: (entry: ShownEntry) => CutText | undefined) {
	const { store, host } = useAround();
	const [whole, setWhole] = useState<string>();
	const load = async () => {
		try {
			setWhole(pick(await store.whole(n))?.text ?? given.text);
		} catch (error) {
			host.say((error as Error).message, true);
		}
	};
	const more =
		given.chars !== undefined && whole === undefined ? (
			<button type="button" class="ag-link" onClick={() => void load()}>
				Show all of {given.chars.toLocaleString("en")} characters
			</button>
		) : null;
	return { text: whole ?? given.text, more };
}
