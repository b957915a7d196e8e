/** What a person is asked about before the browser does it. */
import net from "node:net";
import type { ToolContext } from "holdfast";
import { oneLine, WebError } from "../base/index.js";
import { hostOf, refusedAddress } from "../net/index.js";
import type { Tab } from "./tab.js";

export type Verdict = "ask" | "allow" | "refuse";

export interface BrowserPolicy {
	/** `file:`, `chrome:` and other URLs that lead into the machine. */
	readonly local_urls: Verdict;
	/** Hosts given as link-local addresses, where metadata servers are. Loopback and private hosts are open: people develop on these. */
	readonly private_hosts: Verdict;
	/** Files outside the directory of the task's shell. */
	readonly uploads: Verdict;
	readonly downloads: Verdict;
	/** Forms that are posted to a host which was not visited before. */
	readonly posts: Verdict;
}

export const POLICY: BrowserPolicy = { local_urls: "ask", private_hosts: "ask", uploads: "ask", downloads: "allow", posts: "ask" };

export async function decide(verdict: Verdict, context: Pick<ToolContext, "ask">, text: string, reason: string): Promise<void> {
	if (verdict === "allow") return;
	if (verdict === "refuse") throw new WebError(`${text}: this is refused by web.json (browser.policy); nothing was done`);
	await context.ask({ text, reason });
}

/** Returns the URL to go to. `permitted`: hosts that a person has allowed; one is added here. */
export async function checkUrl(text: string, policy: BrowserPolicy, context: Pick<ToolContext, "ask">, permitted: Set<string>): Promise<string> {
	const given = text.trim();
	const url = parse(given) ?? parse(`https://${given}`);
	if (!url || (/\s/.test(given) && !/^[a-z]+:/i.test(given)))
		throw new WebError(`${JSON.stringify(oneLine(text, 200))} is no URL; give one such as https://example.org/`);
	if (url.protocol === "javascript:" || url.protocol === "data:" || url.protocol === "blob:")
		throw new WebError(`${url.protocol} URLs are not opened; nothing was done`);
	if (url.href === "about:blank") return url.href;
	if (url.protocol !== "http:" && url.protocol !== "https:") {
		const known = ["file:", "chrome:", "about:", "view-source:", "devtools:", "chrome-extension:"].includes(url.protocol);
		if (!known) throw new WebError(`${oneLine(url.protocol, 40)} is no scheme that a browser opens; nothing was done`);
		await decide(policy.local_urls, context, `open ${oneLine(url.href, 500)} in the browser`, "it shows files or settings of the machine to the model");
		return url.href;
	}
	const host = hostOf(url);
	if (isLinkLocal(host) || host === "metadata.google.internal") {
		await decide(
			policy.private_hosts,
			context,
			`open ${oneLine(url.href, 500)} in the browser`,
			"metadata servers have such addresses, and give away credentials",
		);
		permitted.add(host);
	}
	return url.href;
}

const parse = (text: string): URL | undefined => (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text) && URL.canParse(text) ? new URL(text) : undefined);

export interface PostCheck {
	readonly policy: BrowserPolicy;
	readonly visited: ReadonlySet<string>;
	readonly context: Pick<ToolContext, "ask">;
	/** A key: it sends the form of a field, too. A click sends that of a button alone. */
	readonly byKey?: boolean;
}

/** Asks before a form is posted to a host that was not visited before. `ref`: the element that is acted on; undefined: what has the focus, in whichever frame. */
export async function checkPost(tab: Tab, ref: string | undefined, { policy, visited, context, byKey = false }: PostCheck): Promise<void> {
	if (policy.posts === "allow") return;
	const found = ref === undefined ? focusedActions(tab) : tab.page.getByRef(ref).evaluate(actionOf, byKey);
	for (const action of [await tab.answers<string | null | (string | null)[]>(found)].flat()) {
		if (action === null || !URL.canParse(action)) continue;
		const { host, protocol } = new URL(action);
		if (!/^https?:$/.test(protocol) || visited.has(host)) continue;
		await decide(policy.posts, context, `send a form to ${oneLine(host, 200)}`, "this host was not visited before, and gets what is in the form");
	}
}

async function focusedActions({ page }: Tab): Promise<(string | null)[]> {
	const elements = await Promise.all(
		page.frames().map((frame) =>
			frame
				.locator(":focus")
				.elementHandles()
				.catch(() => []),
		),
	); // a frame that has gone sends nothing
	return Promise.all(elements.flat().map((element) => element.evaluate(actionOf as (node: Node, byKey: boolean) => string | null, true).catch(() => null)));
}

/** Runs in the page. Returns where a POST goes that this element sends. Fields of a form hide its properties (`<input name="action">`), so none of these is read. */
function actionOf(element: Element, byKey: boolean): string | null {
	const attribute = (of: Element, name: string): string | null => Element.prototype.getAttribute.call(of, name);
	const control = element.closest("button, input, select, textarea") ?? element.closest("label")?.control ?? null;
	if (!(control instanceof HTMLInputElement || control instanceof HTMLButtonElement) || !control.form) return null;
	const isButton = ["submit", "image"].includes(control.type);
	if (!isButton && (!byKey || control instanceof HTMLButtonElement)) return null;
	const method = (isButton ? attribute(control, "formmethod") : null) ?? attribute(control.form, "method");
	const action = (isButton ? attribute(control, "formaction") : null) ?? attribute(control.form, "action") ?? "";
	return method?.toLowerCase() === "post" ? new URL(action, control.baseURI).href : null;
}

/** Keys that send a form: Enter in a field, and what presses a button. */
export const maySend = (keys: string): boolean => /Enter|Space|^ $|[\r\n]/.test(keys);

/** Returns why the page is not shown to the model: a document in it came from a link-local address, by a redirect, a link or a name that leads there. */
export async function hiddenPage(tab: Tab, policy: BrowserPolicy, permitted: ReadonlySet<string>): Promise<string | undefined> {
	if (policy.private_hosts === "allow") return undefined;
	for (const frame of tab.page.frames()) {
		const url = frame.url();
		const host = /^https?:/.test(url) ? hostOf(new URL(url)) : "";
		if (permitted.has(host)) continue;
		const address = [host, (await tab.addressOf(frame)) ?? ""].find(isLinkLocal);
		if (address !== undefined)
			return `${oneLine(url, 200)} came from ${address}, where metadata servers are, so the page is not shown. Open this address with browser_navigate to have a person asked, or another page`;
	}
	return undefined;
}

const isLinkLocal = (address: string): boolean => net.isIP(address) !== 0 && /link-local|metadata/.test(refusedAddress(address) ?? "");
