/** The accessibility tree of a page as text for a model: without what says nothing, with refs of ours, cut by a budget. */
import { frameOf, type Tab } from "./tab.js";

const TIMEOUT_MS = 10_000;
const MOST_URL = 100;

/** `ref`: only this element, by playwright's ref. */
export async function takeSnapshot(tab: Tab, ref?: string): Promise<string> {
	const taken = (timeout: number) => {
		const options = { mode: "ai", timeout } as const;
		return ref === undefined ? tab.page.ariaSnapshot(options) : tab.page.getByRef(ref).ariaSnapshot(options);
	};
	// Playwright waits for a frame that is silent as long as it may, and then leaves it out.
	const patience = tab.patienceMs();
	const raw = patience === undefined ? await taken(TIMEOUT_MS) : await taken(patience).catch(() => taken(TIMEOUT_MS));
	return withRefs(tab, compact(raw));
}

/** Puts our refs in the place of playwright's: the name of the document, and the element in it. */
async function withRefs(tab: Tab, text: string): Promise<string> {
	const firsts = new Map<string, string>();
	for (const [, inner = ""] of text.matchAll(REF)) if (!firsts.has(frameOf(inner))) firsts.set(frameOf(inner), inner);
	const names = new Map(await Promise.all([...firsts].map(async ([frame, inner]) => [frame, await tab.document(inner)] as const)));
	return text.replace(REF, (_all, inner: string) => `[ref=${names.get(frameOf(inner))}${inner.slice(frameOf(inner).length)}]`);
}

const REF = /\[ref=((?:f\d+)?e\d+)\]/g;

/** Groups that say nothing by themselves. Those around several things keep these together, but for the first two. */
const WRAPPER = /^- (generic|rowgroup|listitem|cell|gridcell) (?:\[active\] )?\[ref=\w+\]:$/;

/** Drops nameless groups, keeping what is in them, and shortens addresses. */
export function compact(raw: string): string {
	const given = raw.split("\n").filter((line) => /\S/.test(line));
	const indents = given.map((line) => line.search(/\S/));
	const lines: string[] = [];
	const dropped: number[] = []; // indents of the groups that are left out around this line
	for (const [at, line] of given.entries()) {
		const indent = indents[at] ?? 0;
		while ((dropped.at(-1) ?? -1) >= indent) dropped.pop();
		const [, role] = WRAPPER.exec(line.slice(indent)) ?? [];
		if (role === "generic" || role === "rowgroup" || (role !== undefined && isAlone(indents, at + 1))) {
			dropped.push(indent);
			continue;
		}
		const shown = line
			.slice(indent)
			.replace(" [cursor=pointer]", "")
			.replace(/^- \/url: (.*)$/, (_all, url: string) => `- /url: ${url.length > MOST_URL ? `${url.slice(0, MOST_URL)}…` : url}`);
		lines.push(" ".repeat(Math.max(0, indent - 2 * dropped.length)) + shown);
	}
	return lines.join("\n");
}

/** Whether the line there is the only child of the one before it. */
function isAlone(indents: readonly number[], at: number): boolean {
	const own = indents[at] ?? 0;
	let next = at + 1;
	while ((indents[next] ?? 0) > own) next++;
	return (indents[next] ?? 0) < own || next >= indents.length;
}

/** Cuts at a line. */
export function cutSnapshot(text: string, budget: number, offset = 0): { readonly text: string; readonly next?: number } {
	const piece = text.slice(offset, offset + budget);
	if (offset + piece.length >= text.length) return { text: piece };
	const end = piece.lastIndexOf("\n");
	const shown = end > budget / 2 ? piece.slice(0, end) : piece;
	return { text: shown, next: offset + shown.length + (end > budget / 2 ? 1 : 0) };
}

/** Takes a ref of ours apart. */
export function parseRef(ref: string): { readonly document: string; readonly element: string } | undefined {
	const [, document, element] = /^(?:ref=)?([0-9a-z]{3})(e\d+)$/.exec(ref.trim()) ?? [];
	return document !== undefined && element !== undefined ? { document, element } : undefined;
}
