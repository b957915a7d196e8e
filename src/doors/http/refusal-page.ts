/** The page for a refused browser, with the reason and what to do. Programs get JSON. */
import type { Context } from "hono";

/** Whether a browser asks for something to show. A script of a page, and a program, ask for anything or for JSON. */
export const wantsPage = (context: Context): boolean => acceptsPage(context.req.header("accept"));

const acceptsPage = (accept: string | undefined): boolean => /(^|,)\s*text\/html\s*(;|,|$)/i.test(accept ?? "");

export interface SmallPage {
	readonly title: string;
	/** Paragraphs of text; what is between backticks is shown as code. */
	readonly text: readonly string[];
	/** Behind them: HTML of our own, with everything of others in it escaped. */
	readonly more?: string;
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:38rem;margin:12vh auto;padding:0 1.25rem;color:#1c2024;background:#fff}
h1{font-size:1.3rem}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#eef0f2;padding:.75rem;border-radius:.4rem}
button{font:inherit;padding:.5rem 1.25rem;border:1px solid #1c2024;border-radius:.4rem;background:#1c2024;color:#fff}
@media(prefers-color-scheme:dark){body{color:#e6e8ea;background:#16181a}pre{background:#26292c}button{background:#e6e8ea;color:#16181a}}`;

/** A page that loads and runs nothing. A form in it may only be sent to this server. */
export function smallPage(context: Context, status: number, page: SmallPage): Response {
	for (const [name, value] of Object.entries(PAGE_HEADERS)) context.header(name, value);
	return context.html(pageText(page), status as 400);
}

const PAGE_HEADERS = {
	"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
	"X-Content-Type-Options": "nosniff",
	"Referrer-Policy": "same-origin", // with none at all a browser would send the form with the origin `null`, which is refused
	"Cache-Control": "no-store",
};

function pageText({ title, text, more = "" }: SmallPage): string {
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${escapeHtml(title)} · Holdfast</title><style>${STYLE}</style></head>
<body><main><h1>${escapeHtml(title)}</h1>
${text.map((paragraph) => `<p>${withCode(escapeHtml(paragraph))}</p>`).join("\n")}
${more}</main></body></html>
`;
}

/** Marks text between backticks as something to type. */
const withCode = (html: string): string => html.replaceAll(/`([^`]+)`/g, "<code>$1</code>");

/** The page of a refusal: the message is the sentence that a program would get. */
export function refusalPage(context: Context, status: number, message: string): Response {
	const sentence = message.charAt(0).toUpperCase() + message.slice(1);
	const advice = status === 401 ? ["`holdfast serve --link`, on the machine that Holdfast runs on, prints a link that lets this browser in."] : [];
	return smallPage(context, status, { title: TITLES[status] ?? "This did not work", text: [`${sentence}.`, ...advice] });
}

/** The same for a visitor who is answered without Hono: as a page if `accept` takes one, else as a line. */
export function refusalText(status: number, message: string, accept: string | undefined): { text: string; headers: Record<string, string> } {
	const sentence = message.charAt(0).toUpperCase() + message.slice(1);
	if (!acceptsPage(accept)) return { text: `${sentence}.\n`, headers: { "Content-Type": "text/plain; charset=utf-8" } };
	const text = pageText({ title: TITLES[status] ?? "This did not work", text: [`${sentence}.`] });
	return { text, headers: { "Content-Type": "text/html; charset=utf-8", ...PAGE_HEADERS } };
}

const TITLES: Readonly<Record<number, string>> = {
	401: "This browser is not signed in",
	403: "This request was refused",
	404: "There is nothing here",
	429: "Too many tries",
	502: "There is no application here",
};

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string);
