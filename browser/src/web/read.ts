/** Fetches a URL and makes readable text of it, whatever it is. */
import { oneLine, untrusted, WebError } from "../base/index.js";
import { decodeText, extractIn, imageSize, imageType, kindOf } from "../extract/index.js";
import { type Fetched, type Filter, fetchUrl, type NetLimits, type Rates, type Robots } from "../net/index.js";

export interface Reader {
	readonly filter: Filter;
	readonly robots?: Robots | undefined;
	readonly rates: Rates;
	readonly limits?: Partial<NetLimits> | undefined;
}

export interface ReadPage {
	readonly url: string;
	readonly title: string;
	readonly type: string;
	readonly fetched: string;
	readonly text: string;
	readonly notes: string[];
}

export async function readUrl(url: string, { filter, robots, rates, limits }: Reader, signal: AbortSignal): Promise<ReadPage> {
	const before = async (hop: URL): Promise<void> => {
		const delay = await robots?.check(hop, signal);
		await rates.turn(hop.host, delay, signal);
	};
	const got = await fetchUrl(url, { filter, before, signal, ...(limits ? { limits } : {}) });
	const notes: string[] = [];
	if (got.redirects.length > 0) notes.push(`redirected from ${oneLine(got.redirects[0] ?? "", 200)}`);
	const page = await readable(got, notes, signal);
	if (got.status >= 400)
		throw new WebError(
			`${new URL(got.url).host} answered ${got.status} ${statusWords(got.status)}:\n${untrusted(got.url, oneLine(page.text, 200) || "(nothing)")}`,
		);
	return { url: got.url, fetched: new Date().toISOString(), notes, ...page };
}

async function readable(got: Fetched, notes: string[], signal: AbortSignal): Promise<Pick<ReadPage, "title" | "type" | "text">> {
	const contentType = got.headers["content-type"];
	const [type = "unknown"] = /^[\w.+-]{1,60}\/[\w.+-]{1,80}(?=\s*(;|$))/.exec(contentType?.trim().toLowerCase() ?? "") ?? []; // the header may have any words in it
	const kind = kindOf(contentType, got.bytes);
	const size = `${got.cut ? "more than " : ""}${got.bytes.length} bytes`;
	if (kind === "image") {
		const dimensions = imageSize(got.bytes);
		const text = `An image: ${imageType(got.bytes) ?? type}${dimensions ? `, ${dimensions.width} × ${dimensions.height} pixels` : ""}, ${size}. Its content is not text.`;
		return { title: "", type, text };
	}
	if (kind === "binary")
		return { title: "", type, text: `A file of the type ${type}, ${size}. It is no text; download it with terminal (curl -LO) if you need it.` };
	if (kind === "pdf") {
		if (got.cut) throw new WebError(`the PDF has more than ${got.bytes.length} bytes; larger ones are not read. Download it with terminal (curl -LO)`);
		const { title, markdown, pages } = await extractIn({ kind: "pdf", bytes: got.bytes }, signal);
		notes.push(`PDF of ${pages} pages`);
		return { title, type: "application/pdf", text: markdown };
	}
	if (got.cut) notes.push(`only the first ${got.bytes.length} bytes were read, the page is longer`);
	const { text, charset, declared } = decodeText(got.bytes, contentType, got.cut);
	if (declared !== undefined) notes.push(`read as ${charset}, although it says ${declared}`);
	if (kind === "text") return { title: "", type, text };
	const { title, markdown } = await extractIn({ kind: "html", html: text, url: got.url }, signal);
	const onward = markdown.length < LITTLE ? onwardIn(text.slice(0, 16_000), got.url) : undefined;
	if (onward !== undefined) notes.push(`the page leads on to ${oneLine(onward, 500)}: give this address`);
	else if (markdown.length < LITTLE && /<script\b/i.test(text))
		notes.push("the page has little text without its scripts: browser_navigate shows what they make");
	return { title, type: "text/html", text: markdown };
}

/** Below this a page says next to nothing. */
const LITTLE = 200;

/** Returns the target of `<meta http-equiv="refresh">`: the first page of many a documentation has no more than that. */
function onwardIn(html: string, base: string): string | undefined {
	const [tag = ""] = /<meta\b[^>]*http-equiv\s*=\s*["']?refresh\b[^>]*>/i.exec(html) ?? [];
	const [, target] = /\burl\s*=\s*['"]?([^'">\s]+)/i.exec(tag) ?? [];
	return target !== undefined && URL.canParse(target, base) ? new URL(target, base).href : undefined;
}

const STATUS: Readonly<Record<number, string>> = {
	401: "(it wants a login)",
	403: "(forbidden)",
	404: "(not found)",
	410: "(gone)",
	429: "(too many requests; wait a while)",
	451: "(not available for legal reasons)",
};
const statusWords = (status: number): string => STATUS[status] ?? (status >= 500 ? "(its error; try again later)" : "");
