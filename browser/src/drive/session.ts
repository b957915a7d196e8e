/** The connection of this program to the browser of a task. Calls on it run one after the other. */
import type { Runtime, Task } from "holdfast";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { messageOf, WebError } from "../base/index.js";
import { findBrowser, type KeptBrowser, keptBrowser, type LaunchSettings, openTunnel } from "../chrome/index.js";
import { Addresses } from "./addresses.js";
import { Downloads } from "./downloads.js";
import { type BrowserPolicy, POLICY, type Verdict } from "./policy.js";
import { PageSecrets } from "./secrets.js";
import { Tab } from "./tab.js";

export interface SessionSettings extends LaunchSettings {
	readonly cdp?: string | undefined;
	readonly policy?: { readonly [name in keyof BrowserPolicy]?: Verdict | undefined } | undefined;
}

const ACTION_MS = 15_000;
/** Each is a process or more, and a page may open any number. */
const MOST_TABS = 30;
const CONNECT_MS = 30_000;

export class BrowserSession {
	readonly #browser: Browser;
	readonly context: BrowserContext;
	/** The kept process; undefined for a browser elsewhere. */
	readonly processId: string | undefined;
	/** Hosts that were visited: a form may be sent there without a question. */
	readonly visited = new Set<string>();
	/** Link-local hosts that a person has allowed. */
	readonly permitted = new Set<string>();
	readonly policy: BrowserPolicy;
	readonly secrets = new PageSecrets();
	readonly addresses: Addresses;
	/** Those that pages have opened beyond what there may be. */
	closedTabs = 0;
	#downloads: Downloads | undefined;
	readonly #tabs = new Map<Page, Tab>();
	#current: Page | undefined;
	#last: Promise<unknown> = Promise.resolve();
	readonly #watching = new Set<Promise<void>>();

	private constructor(browser: Browser, policy: BrowserPolicy, processId: string | undefined) {
		this.#browser = browser;
		this.policy = policy;
		this.processId = processId;
		this.context = browser.contexts()[0] ?? unreachable();
		this.context.setDefaultTimeout(ACTION_MS);
		this.addresses = new Addresses(this.context);
		for (const page of this.context.pages()) this.#add(page);
		this.#current = this.context.pages().at(-1);
		this.context.on("page", (page) => {
			if (this.context.pages().length > MOST_TABS) {
				this.closedTabs++;
				return void page.close().catch(() => {}); // its page was faster
			}
			this.#add(page);
			this.#current = page; // what a click opens is what comes next
		});
	}

	static async open(options: { runtime: Runtime; task: Task; place: string; settings: SessionSettings; signal: AbortSignal }): Promise<BrowserSession> {
		const { runtime, task, place, settings, signal } = options;
		const policy = { ...POLICY, ...settings.policy };
		if (settings.cdp !== undefined) return new BrowserSession(await connect(settings.cdp), policy, undefined);
		const kept = await keptBrowser(runtime, task, place, settings, signal);
		const session = new BrowserSession(await reach(task, place, kept), policy, kept.process.id);
		session.#downloads = await Downloads.watch(session.#browser, kept.directory, { refused: policy.downloads === "refuse" });
		if (!kept.started) await session.#dismissOld();
		return session;
	}

	/** Undefined for a browser elsewhere, whose files are out of reach. */
	get downloads(): Downloads | undefined {
		return this.#downloads;
	}

	get isConnected(): boolean {
		return this.#browser.isConnected();
	}

	/** Runs one call after the other: two calls at once on one page would each see half of what the other does. One that is over by `signal` is not waited for. */
	async inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
		const mine = this.#last.then(() => {
			signal.throwIfAborted();
			return work();
		});
		const over = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
		this.#last = Promise.race([mine.catch(() => {}), over]);
		return mine;
	}

	tabs(): Tab[] {
		return this.context.pages().map((page) => this.#add(page));
	}

	/** The tab that calls are about. A new one if there is none. */
	async tab(): Promise<Tab> {
		const page = this.#current && !this.#current.isClosed() ? this.#current : (this.context.pages().at(-1) ?? (await this.context.newPage()));
		this.#current = page;
		return this.#add(page);
	}

	async select(tab: Tab): Promise<void> {
		this.#current = tab.page;
		await tab.answers(tab.page.bringToFront()).catch(() => {}); // for the person who watches; one that does not answer is used all the same
	}

	async newTab(): Promise<Tab> {
		if (this.context.pages().length >= MOST_TABS) throw new WebError(`there are ${MOST_TABS} tabs; close one with browser_tabs. Nothing was done`);
		const page = await this.context.newPage();
		this.#current = page;
		return this.#add(page);
	}

	/** Lets go of the browser; it goes on. */
	async detach(): Promise<void> {
		await Promise.allSettled(this.#watching); // playwright throws where no one catches it if its browser is closed meanwhile
		await this.#browser.close().catch(() => {}); // over CDP this ends the connection alone
	}

	#add(page: Page): Tab {
		const known = this.#tabs.get(page);
		if (known) return known;
		const visited = (url: string): void => {
			if (/^https?:/.test(url)) this.visited.add(new URL(url).host);
		};
		const tab = new Tab(page, { nextDocument, visited });
		this.#tabs.set(page, tab);
		page.once("close", () => this.#tabs.delete(page));
		const watching = this.secrets.watch(page).catch(() => {}); // it is closed already
		this.#watching.add(watching);
		void watching.then(() => this.#watching.delete(watching));
		return tab;
	}

	/** A dialog that a killed program has left open would block every call, and is told to no one. */
	async #dismissOld(): Promise<void> {
		for (const page of this.context.pages()) {
			const cdp = await this.context.newCDPSession(page).catch(() => undefined);
			await cdp?.send("Page.handleJavaScriptDialog", { accept: false }).catch(() => {}); // there is none
			await cdp?.detach().catch(() => {});
		}
	}
}

/** Names of documents, of three signs. They begin anywhere, so that a ref which an earlier program has given is not taken for one of now. */
const NAMES = 36 ** 3;
let documents = Math.floor(Math.random() * NAMES);
function nextDocument(): string {
	documents = (documents + 1) % NAMES;
	return documents.toString(36).padStart(3, "0");
}

/** On this machine its port is on loopback; a sandbox may have a loopback of its own, and another machine has one. */
async function reach(task: Task, place: string, { port, path }: KeptBrowser): Promise<Browser> {
	if (place === "local") return connect(`ws://127.0.0.1:${port}${path}`);
	const tunnel = await openTunnel(task, port);
	try {
		return await connect(`ws://127.0.0.1:${tunnel.port}${path}`);
	} catch (error) {
		await tunnel.close();
		throw error;
	}
}

async function connect(endpoint: string): Promise<Browser> {
	try {
		return await chromium.connectOverCDP(endpoint, { timeout: CONNECT_MS });
	} catch (error) {
		throw new WebError(`the browser at ${endpoint.replace(/\?.*$/, "?…")} cannot be reached (${messageOf(error).split("\n", 1)[0]})`);
	}
}

const unreachable = (): never => {
	throw new WebError("the browser has no context to work in; close it with browser_close and try again");
};

/** The sessions of this program, by task. */
export class Sessions {
	readonly #open = new Map<string, Promise<BrowserSession>>();
	/** Open until `close`: the last handle of a task that closes interrupts the task's calls, of which one is here. */
	readonly #handles = new Map<string, Task>();
	readonly #runtime: Runtime;
	readonly #settings: SessionSettings;

	constructor(runtime: Runtime, settings: SessionSettings) {
		this.#runtime = runtime;
		this.#settings = settings;
	}

	/** Connects, if need be starting the browser. Calls at once wait for each other, so that they start one browser. */
	of(task: string, place: string, signal: AbortSignal): Promise<BrowserSession> {
		const mine = this.#opened(this.#open.get(task), task, place, signal);
		this.#open.set(task, mine);
		mine.catch(() => this.#open.get(task) === mine && this.#open.delete(task));
		return mine;
	}

	async #opened(earlier: Promise<BrowserSession> | undefined, task: string, place: string, signal: AbortSignal): Promise<BrowserSession> {
		const known = await earlier?.catch(() => undefined); // one that was given up is tried again
		const alive = known?.isConnected && (known.processId === undefined || findBrowser(this.#runtime, task)?.id === known.processId);
		if (known && alive) return known;
		await known?.detach();
		signal.throwIfAborted();
		const before = this.#handles.get(task);
		const handle = this.#runtime.task(task);
		this.#handles.set(task, handle);
		await before?.close();
		return BrowserSession.open({ runtime: this.#runtime, task: handle, place, settings: this.#settings, signal });
	}

	/** Ends the browser of a task; returns what was seen of that. */
	async end(task: string): Promise<string> {
		const session = await this.#open.get(task)?.catch(() => undefined);
		this.#open.delete(task);
		await session?.detach();
		const process = findBrowser(this.#runtime, task);
		if (!process) return session ? "This program has let go of the browser; it runs elsewhere." : "There was no browser.";
		const { survivors } = await process.kill({ graceMs: 5_000 });
		return survivors.length === 0
			? "The browser is closed, and its processes are gone."
			: `The browser was killed, but ${survivors.length} of its processes are still there.`;
	}

	async close(): Promise<void> {
		const all = [...this.#open.values()];
		this.#open.clear();
		for (const session of all) await (await session.catch(() => undefined))?.detach();
		for (const handle of this.#handles.values()) await handle.close();
		this.#handles.clear();
	}
}
