/** One action in the page and what the page is afterwards. An action that a dialog holds up is not waited for. */
import { messageOf, oneLine, untrusted, WebError } from "../base/index.js";
import { hiddenPage } from "./hidden.js";
import type { BrowserSession } from "./session.js";
import { cutSnapshot, parseRef, takeSnapshot } from "./snapshot.js";
import { BusyPage, type Tab } from "./tab.js";

export const SHOWN = 6_000;
const SETTLE_MS = 3_000;
const TIMEOUT_MS = 10_000;
/** More than playwright takes for any action: what has no limit of its own, as keys and scripts, ends here. */
const ACT_MS = 40_000;

export class StaleRef extends Error {
	override readonly name = "StaleRef";
}

/** Returns playwright's own ref. Throws `StaleRef` for one of another document or element. */
export async function innerRef(tab: Tab, ref: string): Promise<string> {
	const parsed = parseRef(ref);
	if (!parsed) throw new WebError(`${JSON.stringify(oneLine(ref, 40))} is no ref; take one from a snapshot, such as k2de5`);
	const inner = tab.innerRef(parsed);
	if (inner === undefined) throw new StaleRef(`the ref ${ref} is of another page or tab, or from before this program started; nothing was done`);
	const there = () => tab.answers(tab.page.getByRef(inner).count()).catch(absent);
	// Playwright knows the refs of its last snapshot alone, which may have been one of a part.
	if ((await there()) === 0) await tab.page.ariaSnapshot({ mode: "ai", timeout: TIMEOUT_MS }).catch(absent);
	if ((await there()) > 0 && (await tab.document(inner)) === parsed.document) return inner;
	throw new StaleRef(`the ref ${ref} is stale: its element is gone, or another page is shown; nothing was done`);
}

function absent(error: unknown): 0 {
	if (error instanceof WebError) throw error;
	return 0; // its frame is gone
}

/** Runs an action until it is done, or a dialog opens, or the tab crashes or closes. */
export async function act(tab: Tab, action: () => Promise<unknown>): Promise<void> {
	ready(tab);
	const work = action();
	work.catch(() => {}); // looked at below, or the dialog is told instead
	await tab.answers(Promise.race([work, until(tab, () => tab.dialog !== undefined || tab.crashed)]), ACT_MS);
	if (!tab.dialog && !tab.crashed) {
		await work;
		await settle(tab);
	}
}

async function until(tab: Tab, holds: () => boolean): Promise<void> {
	while (!holds()) await tab.interrupted();
}

/** Throws for a tab in which nothing can be done now. */
export function ready(tab: Tab): void {
	if (tab.dialog)
		throw new WebError(
			`a dialog is open (${tab.dialog.type()}); answer it with browser_dialog first, or leave the page with browser_navigate and new_tab. Nothing was done. It says:\n${untrusted(tab.page.url(), tab.dialog.message())}`,
		);
	if (tab.crashed) throw new WebError("the tab has crashed; open a page with browser_navigate. Nothing was done");
}

/** Waits for a navigation that the action has begun, and for the page to paint once. Not for one that never finishes. */
async function settle(tab: Tab): Promise<void> {
	const patience = AbortSignal.timeout(SETTLE_MS);
	const late = new Promise<void>((resolve) => patience.addEventListener("abort", () => resolve(), { once: true }));
	const painted = () => tab.page.evaluate(() => new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0))));
	const work = (async () => {
		await painted().catch(() => {}); // a navigation took its document away
		await tab.page.waitForLoadState("domcontentloaded", { timeout: SETTLE_MS });
	})().catch(() => {});
	await Promise.race([work, late, until(tab, () => tab.dialog !== undefined || tab.crashed)]);
}

/** The state of a tab for the model: where it is, and its snapshot as far as the budget goes. */
export async function shown(session: BrowserSession, tab: Tab, options: { budget?: number; offset?: number; ref?: string } = {}): Promise<string> {
	const tabs = session.tabs();
	const url = oneLine(tab.page.url(), 300);
	const head = [`${url}${tabs.length > 1 ? ` · tab ${tabs.indexOf(tab) + 1} of ${tabs.length}` : ""}`];
	if (session.closedTabs > 0)
		head.push(`${session.closedTabs} tabs that pages have opened were closed at once: there are too many. Close some with browser_tabs.`);
	session.closedTabs = 0;
	if (tab.dialog)
		return [...head, `A dialog is open (${tab.dialog.type()}); answer it with browser_dialog. It says:`, untrusted(url, tab.dialog.message())].join("\n");
	if (tab.crashed) return [...head, "The tab has crashed; open a page with browser_navigate."].join("\n");
	const downloads = session.downloads?.waiting ?? [];
	if (downloads.length > 0)
		head.push(`${downloads.length === 1 ? "A download has" : `${downloads.length} downloads have`} begun; browser_download keeps the last one.`);
	const hidden = await hiddenPage(tab, session);
	if (hidden !== undefined) return [...head, hidden].join("\n");
	let title: string;
	let text: string;
	try {
		const [given] = await Promise.all([tab.answers(tab.page.title()), session.secrets.look(tab)]);
		title = oneLine(given, 150);
		text = session.secrets.mask(await takeSnapshot(tab, options.ref === undefined ? undefined : await innerRef(tab, options.ref)));
	} catch (error) {
		if (error instanceof BusyPage) return [...head, `Nothing can be shown: ${error.message}.`].join("\n");
		if (tab.dialog) return shown(session, tab); // it has opened just now
		throw error;
	}
	if (tab.silentFrames().length > 0) head.push("A frame in the page has not answered yet, so it is left out; browser_wait and browser_snapshot may show it.");
	const since = await hiddenPage(tab, session); // a frame may have come while the snapshot was taken
	if (since !== undefined) return [...head, since].join("\n");
	const { budget = SHOWN, offset = 0 } = options;
	if (offset > text.length) throw new WebError(`the snapshot has ${text.length} characters, so there is nothing at offset ${offset}`);
	const { text: part, next } = cutSnapshot(text, budget, offset);
	const more = next === undefined ? [] : [`${text.length - next} more characters: browser_snapshot with offset ${next}, or with the ref of a part.`];
	const said = [...downloads.map(({ name }) => `Download: ${oneLine(name, 200)}`), ...(title === "" ? [] : [`Title: ${title}`]), part || "(an empty page)"];
	return [...head, untrusted(url, said.join("\n")), ...more].join("\n");
}

/** Playwright's errors have a log of many lines; the first says it. */
export function wordsOf(error: unknown): string {
	const [first = ""] = messageOf(error)
		.replace(/\u001b\[[0-9;]*m/g, "")
		.split("\nCall log:", 1);
	const text = first.replace(/^(?:locator|page|frame)\.\w+: /, "").trim();
	if (/Target page, context or browser has been closed|Target closed/.test(text)) return "the tab was closed meanwhile; look with browser_tabs";
	if (/Timeout \d+ms exceeded/.test(text))
		return `it could not be done in time: the element is hidden, covered or disabled, or the page does not answer. Take a new snapshot (${oneLine(text, 120)})`;
	return oneLine(text, 400);
}
