/** What a person is asked about before the browser does it. */
import type { ToolContext } from "holdfast";
import type { Page } from "playwright-core";
import { oneLine, WebError } from "../base/index.js";
import { refusedAddress } from "../net/index.js";

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

/** Returns the URL to go to. */
export async function checkUrl(text: string, policy: BrowserPolicy, context: Pick<ToolContext, "ask">): Promise<string> {
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
	const host = url.hostname.replace(/^\[|\]$/g, "");
	if (/link-local|metadata/.test(refusedAddress(host) ?? "") || host === "metadata.google.internal" || host.startsWith("fe80"))
		await decide(
			policy.private_hosts,
			context,
			`open ${oneLine(url.href, 500)} in the browser`,
			"metadata servers have such addresses, and give away credentials",
		);
	return url.href;
}

const parse = (text: string): URL | undefined => (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text) && URL.canParse(text) ? new URL(text) : undefined);

/** Asks before a form is posted to a host that was not visited before. `ref`: what is clicked, or the element that has the focus. */
export async function checkPost(
	page: Page,
	ref: string | undefined,
	options: { policy: BrowserPolicy; visited: ReadonlySet<string>; context: Pick<ToolContext, "ask"> },
): Promise<void> {
	if (options.policy.posts === "allow") return;
	const target = ref === undefined ? page.locator(":focus") : page.getByRef(ref);
	const action = await target.evaluate(actionOf, undefined, { timeout: 2_000 }).catch(() => undefined);
	if (!action || !URL.canParse(action)) return;
	const { host, protocol } = new URL(action);
	if (!/^https?:$/.test(protocol) || options.visited.has(host)) return;
	await decide(options.policy.posts, options.context, `send a form to ${oneLine(host, 200)}`, "this host was not visited before, and gets what is in the form");
}

/** Runs in the page. Returns where a POST goes that this element sends. */
function actionOf(element: Element): string | undefined {
	const button = element.closest("button, input[type=submit], input[type=image]") as HTMLButtonElement | HTMLInputElement | null;
	if (button?.type === "button" || button?.type === "reset") return undefined;
	const field = element.closest("input, select, textarea") as HTMLInputElement | null;
	const form = button?.form ?? field?.form ?? null;
	if (!form || (!button && field?.tagName === "TEXTAREA")) return undefined;
	const method = (button?.getAttribute("formmethod") ?? form.getAttribute("method") ?? "get").toLowerCase();
	const action = button?.getAttribute("formaction") ?? form.getAttribute("action") ?? "";
	return method === "post" ? new URL(action, document.baseURI).href : undefined;
}
