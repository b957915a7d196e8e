/** A page as its title and its content in markdown. */
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { absoluteLinks, dropNoise, dropSurroundings } from "./clean.js";
import { plainText, tidy, toMarkdown } from "./markdown.js";

export interface HtmlContent {
	readonly title: string;
	readonly markdown: string;
	/** How the content was found: as an article, or as the whole page without its surroundings. */
	readonly by: "article" | "page";
}

/** Below this share of the page's own text an article is but a piece of it: one answer of a thread, one entry of an index. */
const LEAST_SHARE = 0.5;
const LEAST_ARTICLE = 250;

export function extractHtml(html: string, url: string): HtmlContent {
	const document = parsed(html);
	const title = titleOf(document);
	absoluteLinks(document, url);
	dropNoise(document);
	if (isDeep(document.body)) return { title, markdown: withTitle(tidy(plainText(document.body)), title), by: "page" };
	const article = articleOf(document);
	const root = document.querySelector("main,[role=main]") ?? document.body ?? document.documentElement;
	dropSurroundings(root);
	const whole = tidy(plainText(root)).length;
	if (article && article.length >= LEAST_ARTICLE && article.length >= whole * LEAST_SHARE)
		return { title: article.title || title, markdown: withTitle(article.markdown, title), by: "article" };
	return { title, markdown: withTitle(toMarkdown(root), title), by: "page" };
}

/** The parts of the head, in a page that has none of the three tags. */
const HEAD = /^(?:\s+|<!--[\s\S]*?-->|<!doctype[^>]*>|<html\b[^>]*>|<(?:meta|link|base)\b[^>]*>|<(title|style|script)\b[^>]*>[\s\S]*?<\/\1\s*>)+/i;
const MOST_HEAD = 64 * 1024;

/** The parser wants a head and a body; pages often lack one of their tags. */
function parsed(html: string): Document {
	const tag = /<body\b[^>]*>/i.exec(html) ?? /<\/head\s*>/i.exec(html);
	const end = tag?.index ?? HEAD.exec(html.slice(0, MOST_HEAD))?.[0].length ?? 0;
	const bare = (text: string) => text.replace(/<!doctype[^>]*>|<\/?(?:html|head|body)\b[^>]*>/gi, "");
	return parseHTML(`<!doctype html><html><head>${bare(html.slice(0, end))}</head><body>${bare(html.slice(end))}</body></html>`).document as unknown as Document;
}

/** Deeper than pages are that people write; what looks for the content takes time by the square of the depth. */
const MOST_DEPTH = 300;

function isDeep(root: Element): boolean {
	const stack: [Element, number][] = [[root, 0]];
	for (let at = stack.pop(); at; at = stack.pop()) {
		const [element, depth] = at;
		if (depth > MOST_DEPTH) return true;
		for (let child = element.firstElementChild; child; child = child.nextElementSibling) stack.push([child, depth + 1]);
	}
	return false;
}

function titleOf(document: Document): string {
	const given =
		document.querySelector("meta[property='og:title']")?.getAttribute("content") ??
		document.querySelector("title")?.textContent ??
		document.querySelector("h1")?.textContent ??
		"";
	return given.replace(/\s+/g, " ").trim();
}

function articleOf(document: Document): { title: string; markdown: string; length: number } | undefined {
	try {
		const found = new Readability(document.cloneNode(true) as Document, {
			charThreshold: LEAST_ARTICLE,
			maxElemsToParse: 200_000,
			keepClasses: true,
			serializer: (node) => node as unknown as string,
		}).parse();
		const root = found?.content as unknown as Element | undefined;
		if (!root) return undefined;
		return { title: (found?.title ?? "").trim(), markdown: toMarkdown(root), length: tidy(plainText(root)).length };
	} catch {
		return undefined; // a page that it cannot work with: too large, too deep, no body. The whole page is taken
	}
}

const withTitle = (markdown: string, title: string): string => (/^# /m.test(markdown.slice(0, 2_000)) || title === "" ? markdown : `# ${title}\n\n${markdown}`);
