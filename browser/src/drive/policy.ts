/** Asks a person before the browser takes certain actions. */
import type { ToolContext } from "holdfast";
import { oneLine, WebError } from "../base/index.js";
import { hostOf, isLinkLocal } from "../net/index.js";
import { localName } from "./hidden.js";
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

/** Returns the URL to go to. `permitted`: hosts and local URLs that a person has allowed; one is added here. */
export async function checkUrl(text: string, policy: BrowserPolicy, context: Pick<ToolContext, "ask">, permitted: Set<string>): Promise<string> {
	const given = text.trim();
	const url = parse(given) ?? parse(`${PLAIN.test(given) ? "http" : "https"}://${given}`);
	if (!url || (/\s/.test(given) && !/^[a-z]+:/i.test(given)))
		throw new WebError(`${JSON.stringify(oneLine(text, 200))} is no URL; give one such as https://example.org/`);
	if (url.protocol === "javascript:" || url.protocol === "data:" || url.protocol === "blob:")
		throw new WebError(`${url.protocol} URLs are not opened; nothing was done`);
	if (url.href === "about:blank") return url.href;
	if (url.protocol !== "http:" && url.protocol !== "https:") {
		const known = ["file:", "chrome:", "about:", "view-source:", "devtools:", "chrome-extension:"].includes(url.protocol);
		if (!known) throw new WebError(`${oneLine(url.protocol, 40)} is no scheme that a browser opens; nothing was done`);
		await decide(policy.local_urls, context, `open ${oneLine(url.href, 500)} in the browser`, "it shows files or settings of the machine to the model");
		permitted.add(localName(url.href.replace(/^about:/, "chrome://")) ?? url.href);
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

/** Given without a scheme, these are servers that people develop on: an address, a name without a dot, any with a port. */
const PLAIN = /^(?:\[[0-9a-f:.]+\]|[\d.]+|[^/.:?#]+|[^/?#]+:\d+)(?:[:/?#]|$)/i;

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
	const found = [
		...(ref === undefined ? [] : [tab.page.getByRef(ref).evaluate(actionsOf, byKey)]),
		...(ref === undefined || byKey ? [focusedActions(tab)] : []), // an element that takes no focus leaves the keys to what has it
	];
	for (const action of new Set((await tab.answers(Promise.all(found))).flat())) {
		const { host, protocol } = new URL(action);
		if (!/^https?:$/.test(protocol) || visited.has(host)) continue;
		await decide(policy.posts, context, `send a form to ${oneLine(host, 200)}`, "this host was not visited before, and gets what is in the form");
	}
}

async function focusedActions(tab: Tab): Promise<string[]> {
	const elements = await Promise.all(
		tab.frames().map((frame) =>
			frame
				.locator(":focus")
				.elementHandles()
				.catch(() => []),
		),
	); // a frame that has gone sends nothing
	const found = await Promise.all(
		elements.flat().map((element) => element.evaluate(actionsOf as (node: Node, byKey: boolean) => string[], true).catch(() => [])),
	);
	return found.flat();
}

/**
 * Runs in the page. Returns where the POSTs go that acting on this element may send. Fields hide properties of their form (`<input name="action">`) and names
 * those of the document, so what both have is asked of their prototypes.
 */
function actionsOf(element: Element, byKey: boolean): string[] {
	type Control = HTMLInputElement | HTMLButtonElement;
	const given = <T>(prototype: object, name: string, of: Node): T | null => Object.getOwnPropertyDescriptor(prototype, name)?.get?.call(of) ?? null;
	const attribute = (of: Element, name: string): string | null => Element.prototype.getAttribute.call(of, name);
	const shadowOf = (one: Element) => given<ShadowRoot>(Element.prototype, "shadowRoot", one);
	const below = (root: Node): Element[] => {
		const { prototype } = root instanceof Element ? Element : root instanceof Document ? Document : DocumentFragment;
		return [...(prototype.querySelectorAll.call(root, "*") as NodeListOf<Element>)].flatMap((one) => [one, ...belowShadow(one)]);
	};
	const belowShadow = (one: Element): Element[] => {
		const shadow = shadowOf(one);
		return shadow ? below(shadow) : [];
	};
	const isButton = (one: Element): one is Control =>
		(one instanceof HTMLInputElement || one instanceof HTMLButtonElement) && ["submit", "image"].includes(one.type);
	const controlOf = (one: Element): Element => (one instanceof HTMLLabelElement ? (one.control ?? one) : one);
	const post = (control: Control, { pressed }: { pressed: boolean }): string[] => {
		const { form, baseURI } = control;
		if (!form) return [];
		const method = (pressed ? attribute(control, "formmethod") : null) ?? attribute(form, "method");
		const action = (pressed ? attribute(control, "formaction") : null) ?? attribute(form, "action") ?? "";
		return method?.toLowerCase() === "post" && URL.canParse(action, baseURI) ? [new URL(action, baseURI).href] : [];
	};
	// The control around it, as the page is drawn: the contents of a slot are in the element around the slot.
	let around: Element | null = element;
	while (around && !Element.prototype.matches.call(around, "button, input, select, textarea, label"))
		around =
			given<Element>(Element.prototype, "assignedSlot", around) ??
			given<Element>(Node.prototype, "parentElement", around) ??
			(Node.prototype.getRootNode.call(around) as Partial<ShadowRoot>).host ??
			null;
	const acted = around ? [around] : [...belowShadow(element), ...below(element)]; // a click on what is no control goes to the middle of what is in it
	return acted.map(controlOf).flatMap((one) => {
		if (isButton(one)) return post(one, { pressed: true });
		if (!byKey || !(one instanceof HTMLInputElement)) return [];
		const buttons = below(one.getRootNode()).filter(isButton); // Enter in a field presses the first button of its form
		return [...post(one, { pressed: false }), ...buttons.flatMap((other) => (other.form === one.form ? post(other, { pressed: true }) : []))];
	});
}

/** Keys that send a form: Enter in a field, and what presses a button. */
export const maySend = (key: string): boolean => /Enter|Space|[ \r\n]/.test(key);
