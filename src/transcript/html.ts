/**
 * The transcript as one HTML file that needs nothing else: output is folded, a few lines of script search in it. Everything that a task has said or printed is
 * escaped, and the policy in the file allows this one script, by its hash, and nothing from another place.
 */
import { createHash } from "node:crypto";
import { counted, visible } from "../base/index.js";
import type { Exported } from "./export.js";
import { outputOf } from "./output.js";
import type { EntryOfProcess } from "./read.js";
import { wordsOf } from "./words.js";

const SCRIPT = `
const find = document.getElementById("find"), count = document.getElementById("count"), entries = [...document.querySelectorAll("article")];
find.hidden = false;
find.addEventListener("input", () => {
	const wanted = find.value.trim().toLowerCase();
	let shown = 0;
	for (const entry of entries) {
		const has = wanted === "" || entry.textContent.toLowerCase().includes(wanted);
		entry.hidden = !has;
		if (has) shown++;
		const output = entry.querySelector("details");
		if (output) output.open = wanted !== "" && output.textContent.toLowerCase().includes(wanted);
	}
	count.textContent = shown + " of " + entries.length;
});
`;

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --quiet: light-dark(#5a5f66, #a2a8b0); --bad: light-dark(#b3261e, #ff8a80); --good: light-dark(#1a6b34, #7ddc99); --asks: light-dark(#8a5a00, #ffcf70); }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 70rem; padding: 1rem; }
header { position: sticky; top: 0; background: Canvas; padding: .5rem 0; border-bottom: 1px solid var(--line); display: flex; gap: 1rem; align-items: baseline; flex-wrap: wrap; }
h1 { font-size: 1.2rem; margin: 0; overflow-wrap: anywhere; }
input { font: inherit; padding: .2rem .5rem; flex: 1; min-width: 8rem; }
article { border-bottom: 1px solid var(--line); padding: .5rem 0; }
code, pre { font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; direction: ltr; }
pre { margin: .25rem 0 0; }
p { margin: 0; } time, small, summary, #count { color: var(--quiet); font-variant-numeric: tabular-nums; }
summary { cursor: pointer; width: max-content; }
b.good { color: var(--good); } b.bad { color: var(--bad); } b.asks { color: var(--asks); }
`;

const POLICY = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${createHash("sha256").update(SCRIPT).digest("base64")}'; base-uri 'none'; form-action 'none'`;

export function* htmlOf({ task, at, entries }: Exported): Generator<string, void> {
	const title = escaped(visible(task));
	yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">
<title>Transcript of ${title}</title><style>${STYLE}</style></head><body>
<header><h1>Transcript of ${title}</h1><input id="find" type="search" placeholder="Search commands and output" aria-label="Search commands and output" hidden>
<span id="count" role="status"></span></header><main>
`;
	let count = 0;
	for (const told of entries) {
		count++;
		yield entryIn(told);
	}
	yield `</main><footer><p><small>${counted(count, "entry", "entries")}. Exported by Holdfast at ${at.toISOString()}; what looks like a secret is masked.</small></p></footer>
<script>${SCRIPT}</script></body></html>
`;
}

function entryIn({ entry, process }: EntryOfProcess): string {
	const { head, text, details, tone } = wordsOf(entry);
	const whole = entry.kind === "command" || entry.kind === "notice" || entry.kind === "asked" ? visible(entry.message ?? entry.command ?? text) : text;
	const about = details.length > 0 ? ` <small>${escaped(details.join(", "))}</small>` : "";
	return `<article><p><time datetime="${escaped(entry.at)}">${escaped(entry.at.slice(0, 19).replace("T", " "))}</time> <b class="${tone}">${escaped(head)}</b>${about}</p>
<pre>${escaped(whole)}</pre>${process ? folded(outputOf(process).output) : ""}</article>
`;
}

const folded = (output: string): string =>
	output === "" ? "" : `\n<details><summary>${counted(lines(output), "line")}</summary><pre>${escaped(output)}</pre></details>`;

const lines = (text: string): number => text.replace(/\n$/, "").split("\n").length;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] as string);
