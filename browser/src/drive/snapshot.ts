/** The accessibility tree of a page as text for a model: without what says nothing, with refs of ours, cut by a budget. */
import type { Page } from "playwright-core";

export interface Snapshot {
	readonly text: string;
	/** The number that begins each ref: another document has another one. */
	readonly document: number;
}

const TIMEOUT_MS = 10_000;
const MOST_URL = 100;

/** `document`: the number of the page's document. */
export async function takeSnapshot(page: Page, document: number, ref?: string): Promise<Snapshot> {
	const options = { mode: "ai", timeout: TIMEOUT_MS } as const;
	const raw = ref === undefined ? await page.ariaSnapshot(options) : await page.getByRef(ref).ariaSnapshot(options);
	const text = compact(raw).replace(/\[ref=((?:f\d+)?e\d+)\]/g, `[ref=${document}$1]`);
	return { text: await withoutPasswords(page, text), document };
}

/** Drops nameless groups, keeping what is in them, and shortens addresses. */
export function compact(raw: string): string {
	const lines: string[] = [];
	const dropped: number[] = []; // indents of the groups that are left out around this line
	for (const line of raw.split("\n")) {
		const indent = line.search(/\S/);
		if (indent < 0) continue;
		while ((dropped.at(-1) ?? -1) >= indent) dropped.pop();
		if (/^- generic (?:\[active\] )?\[ref=\w+\]:$/.test(line.slice(indent))) {
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

/** What is in a password field is for the page alone, whoever typed it. */
async function withoutPasswords(page: Page, text: string): Promise<string> {
	const found = await Promise.all(
		page.frames().map((frame) =>
			frame
				.locator("input[type=password], input[autocomplete*=password]")
				.evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value))
				.catch(() => [] as string[]),
		),
	);
	return found
		.flat()
		.filter((value) => value !== "")
		.sort((a, b) => b.length - a.length)
		.reduce((shown, value) => shown.replaceAll(value, "•••").replaceAll(JSON.stringify(value).slice(1, -1), "•••"), text);
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
export function parseRef(ref: string): { readonly document: number; readonly inner: string } | undefined {
	const [, document, inner] = /^(?:ref=)?(\d+)((?:f\d+)?e\d+)$/.exec(ref.trim()) ?? [];
	return document !== undefined && inner !== undefined ? { document: Number(document), inner } : undefined;
}
