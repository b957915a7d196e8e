/** The browsers of tasks as the page sees them: which tab is in front, and connections to it. */
import fs from "node:fs";
import type { Process, Runtime } from "holdfast";
import { WebError } from "../base/index.js";
import { findBrowser, profileOf } from "../chrome/index.js";
import { LiveConnection, type LiveTab, liveTabs } from "./cdp.js";

/** How long a look at the tabs is good. */
const FRESH_MS = 500;

export class LiveBrowser {
	readonly process: Process;
	readonly #runtime: Runtime;
	#looked: { readonly at: number; readonly tabs: Promise<LiveTab[]> } | undefined;

	constructor(runtime: Runtime, process: Process) {
		this.process = process;
		this.#runtime = runtime;
	}

	get isLocal(): boolean {
		return this.process.spec.place === "local";
	}

	/** Returns its tabs, the one in front first. */
	async tabs(): Promise<LiveTab[]> {
		const now = performance.now();
		if (this.#looked && now - this.#looked.at < FRESH_MS) return this.#looked.tabs;
		const tabs = (async () => liveTabs(this.#port()))();
		this.#looked = { at: now, tabs };
		tabs.catch(() => {
			this.#looked = undefined;
		});
		return tabs;
	}

	connect(tab: LiveTab): LiveConnection {
		return new LiveConnection(`ws://127.0.0.1:${this.#port()}/devtools/page/${tab.id}`);
	}

	/** Throws `WebError` for another place: its network is reached through processes there, which only the program that has its settings can start. */
	#port(): number {
		const { place, task } = this.process.spec;
		if (!this.isLocal) throw new WebError(`this browser runs in ${place}; browsers on this machine itself can be shown here, others cannot`);
		try {
			return Number(fs.readFileSync(`${profileOf(this.#runtime, task)}/DevToolsActivePort`, "utf8").split("\n", 1)[0]);
		} catch {
			throw new WebError("the browser is just being started or ended; look again in a moment");
		}
	}
}

export class LiveBrowsers {
	readonly #runtime: Runtime;
	readonly #known = new Map<string, LiveBrowser>();

	constructor(runtime: Runtime) {
		this.#runtime = runtime;
	}

	/** Returns the browser of a task that runs, if there is one. */
	of(task: string): LiveBrowser | undefined {
		const process = findBrowser(this.#runtime, task);
		const known = this.#known.get(task);
		if (known && process?.id === known.process.id) return known;
		this.#known.delete(task);
		if (!process) return undefined;
		const browser = new LiveBrowser(this.#runtime, process);
		this.#known.set(task, browser);
		return browser;
	}

	all(): LiveBrowser[] {
		const tasks = new Set(this.#runtime.list({ task: null, ended: false }).flatMap(({ spec }) => (spec.name === "browser" ? [spec.task] : [])));
		return [...tasks].flatMap((task) => this.of(task) ?? []);
	}
}
