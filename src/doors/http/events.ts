/**
 * What happens to processes, for everybody who listens: told by inotify, gathered for half a second, numbered. Nothing is watched
 * while nobody listens. Only what no event tells (resources, a program that begins to wait) is looked at every two seconds, and
 * where nothing has changed for a minute every ten.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { isId } from "../../base/ids.js";
import { watchDirectory } from "../../base/watch.js";
import type { Process } from "../../process/process.js";
import { SHOWN_AFTER_EXIT_MS } from "../../process/registry.js";
import { isOver } from "../../process/status.js";
import type { AgentRuntime } from "../../tools/index.js";
import type { ProcessItem } from "./schemas.js";
import type { Views } from "./views.js";

const GATHER_MS = 400;
const ASKED_MS = 50;
const LOOK_MS = 2_000;
const CALM_MS = 60_000;
const CALM_LOOKS = 5; // of so many looks one is also at what is calm
const SWEEP_MS = 30_000;
const KEPT = 1_000; // events for who comes back
const MOST_TASKS = 50; // whose notices are listened to

export interface Event {
	readonly id: string;
	readonly type: "snapshot" | "process" | "gone" | "notice" | "approvals";
	readonly data: unknown;
}

interface Watched {
	readonly process: Process;
	item: ProcessItem | undefined;
	gist: string;
	changed: number;
	unwatch: (() => void) | undefined;
	timer: NodeJS.Timeout | undefined;
}

export class Events {
	readonly #runtime: AgentRuntime;
	readonly #views: Views;
	readonly #epoch = randomBytes(4).toString("hex");
	readonly #listeners = new Set<(event: Event) => void>();
	readonly #recent: Event[] = [];
	readonly #watched = new Map<string, Watched>();
	readonly #tasks = new Map<string, AbortController>();
	#asked: NodeJS.Timeout | undefined;
	#count = 0;
	#starting = false; // what is found now goes into the first snapshot
	#stop: (() => void) | undefined;
	#ready: Promise<void> = Promise.resolve();

	constructor(runtime: AgentRuntime, views: Views) {
		this.#runtime = runtime;
		this.#views = views;
	}

	/** First what was missed since `after`, or all there is; then what comes. Returns what ends that. */
	async listen(after: string | undefined, tell: (event: Event) => void): Promise<() => void> {
		this.#stop ??= this.#start();
		this.#listeners.add(tell);
		await this.#ready;
		const missed = this.#recent.findIndex(({ id }) => id === after);
		if (missed >= 0) for (const event of this.#recent.slice(missed + 1)) tell(event);
		else if (after !== this.#id()) tell({ id: this.#id(), type: "snapshot", data: { processes: this.#items() } });
		return () => {
			this.#listeners.delete(tell);
			if (this.#listeners.size === 0) this.close();
		};
	}

	/** Something that others know of has changed. */
	publish(type: Event["type"], data: unknown): void {
		const event = { id: `${this.#epoch}-${++this.#count}`, type, data };
		this.#recent.push(event);
		if (this.#recent.length > KEPT) this.#recent.shift();
		for (const tell of this.#listeners) tell(event);
	}

	close(): void {
		this.#stop?.();
		this.#stop = undefined;
		// Who comes back after a time in which nobody watched gets a snapshot.
		this.#recent.length = 0;
		this.#count++;
	}

	#id(): string {
		return `${this.#epoch}-${this.#count}`;
	}

	#items(): ProcessItem[] {
		const items = [...this.#watched.values()].map(({ item }) => item).filter((item) => item !== undefined);
		return items.sort((a, b) => (a.started_at < b.started_at ? 1 : -1));
	}

	#start(): () => void {
		const unwatch = watchDirectory(this.#runtime.home.live, (name) => {
			if (name === null) this.#find();
			else if (isId(name)) this.#appeared(name);
		});
		// Whoever looks at this page is somebody who can answer.
		const leave = this.#runtime.approvals.attend();
		const unwatchApprovals = watchDirectory(this.#runtime.home.approvals, (name) => {
			if (!name?.startsWith("h.")) this.#askedLater();
		});
		let looks = 0;
		const look = setInterval(() => {
			const calm = performance.now() - CALM_MS;
			const all = ++looks % CALM_LOOKS === 0;
			for (const watched of this.#watched.values()) if (watched.unwatch && (all || watched.changed > calm)) this.#later(watched);
		}, LOOK_MS);
		const sweep = setInterval(() => this.#sweep(), SWEEP_MS);
		this.#find();
		this.#starting = true;
		this.#ready = Promise.all([...this.#watched.values()].map((watched) => this.#refresh(watched))).then(() => {
			this.#starting = false;
		});
		return () => {
			unwatch();
			unwatchApprovals();
			leave();
			clearTimeout(this.#asked);
			this.#asked = undefined;
			clearInterval(look);
			clearInterval(sweep);
			for (const watched of this.#watched.values()) forget(watched);
			this.#watched.clear();
			for (const stop of this.#tasks.values()) stop.abort();
			this.#tasks.clear();
		};
	}

	#askedLater(): void {
		this.#asked ??= setTimeout(() => {
			this.#asked = undefined;
			this.publish("approvals", {});
		}, ASKED_MS);
	}

	#find(): void {
		for (const process of this.#runtime.list({ task: null, shells: false })) this.#watch(process);
	}

	/** Its ticket comes before its spec can be read, or goes. */
	#appeared(id: string): void {
		const watched = this.#watched.get(id);
		if (watched) {
			this.#later(watched);
			return;
		}
		try {
			const process = this.#runtime.get(id);
			if (process.spec.kind === undefined) this.#later(this.#watch(process));
		} catch {
			// not there (any more): a foreground command that was over in a moment
		}
	}

	#watch(process: Process): Watched {
		const known = this.#watched.get(process.id);
		if (known) return known;
		const watched: Watched = { process, item: undefined, gist: "", changed: performance.now(), unwatch: undefined, timer: undefined };
		watched.unwatch = process.watch(() => this.#later(watched));
		this.#watched.set(process.id, watched);
		this.#listenTo(process.spec.task);
		return watched;
	}

	#later(watched: Watched): void {
		watched.timer ??= setTimeout(() => {
			watched.timer = undefined;
			void this.#refresh(watched);
		}, GATHER_MS);
	}

	async #refresh(watched: Watched): Promise<void> {
		const { process } = watched;
		let item: ProcessItem;
		try {
			if (process.spec.within && this.#servesAnother(process)) throw new Error("over");
			item = await this.#views.item(process);
		} catch {
			this.#gone(watched); // pruned, or a foreground command that is over
			return;
		}
		if (this.#watched.get(process.id) !== watched) return;
		const gist = gistOf(item);
		watched.item = item;
		if (gist !== watched.gist) {
			watched.changed = performance.now();
			if (!this.#starting) this.publish("process", item);
		}
		watched.gist = gist;
		if (item.ended_at !== null || item.status === "lost") {
			watched.unwatch?.();
			watched.unwatch = undefined;
		}
	}

	/** The log of a foreground command is used again for the next one. */
	#servesAnother(process: Process): boolean {
		const now = this.#runtime.get(process.id);
		return now.spec.startedAt !== process.spec.startedAt || (!isOver(now.status()) && !fs.existsSync(path.join(this.#runtime.home.live, process.id)));
	}

	#sweep(now = Date.now()): void {
		for (const watched of this.#watched.values()) {
			const { item } = watched;
			const ended = item && item.status !== "running" && item.status !== "awaiting_input";
			if (ended && now - Date.parse(item.ended_at ?? item.started_at) > SHOWN_AFTER_EXIT_MS) this.#gone(watched);
		}
	}

	#gone(watched: Watched): void {
		forget(watched);
		if (this.#watched.delete(watched.process.id) && watched.gist !== "") this.publish("gone", { session_id: watched.process.id });
	}

	#leaveOneWithNothing(): void {
		const busy = new Set([...this.#watched.values()].map(({ process }) => process.spec.task));
		const idle = [...this.#tasks].find(([task]) => !busy.has(task));
		idle?.[1].abort();
		if (idle) this.#tasks.delete(idle[0]);
	}

	/** Notices are shown to people and left for the agent. */
	#listenTo(task: string): void {
		if (this.#tasks.has(task)) return;
		if (this.#tasks.size >= MOST_TASKS) this.#leaveOneWithNothing();
		if (this.#tasks.size >= MOST_TASKS) return;
		const stop = new AbortController();
		this.#tasks.set(task, stop);
		void (async () => {
			try {
				for await (const notice of this.#runtime.notices.stream(task, { leave: true, signal: stop.signal })) this.publish("notice", notice);
			} catch {
				// the home cannot be used: the list says so too
			}
		})();
	}
}

function forget(watched: Watched): void {
	watched.unwatch?.();
	watched.unwatch = undefined;
	clearTimeout(watched.timer);
	watched.timer = undefined;
}

/** What makes a difference: not the seconds, nor every byte of memory. */
function gistOf({ uptime_seconds: _, waiting_evidence: __, resources, ...item }: ProcessItem): string {
	const used = resources && [Math.round((resources.cpu_percent ?? 0) / 2), Math.round(resources.memory_bytes / 1_000_000), resources.processes];
	return JSON.stringify([item, used]);
}
