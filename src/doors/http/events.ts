/**
 * Changes of processes, for the page: each is a whole list item, numbered. The source is that of the library's events (src/events).
 * Resources have no event: they are polled every two seconds, and every ten where nothing has changed for a minute.
 */
import { randomBytes } from "node:crypto";
import { eventSource, type HoldfastEvent } from "../../events/index.js";
import { tasksWithNotices } from "../../notices/index.js";
import type { Process } from "../../process/index.js";
import type { AgentRuntime } from "../../tools/index.js";
import type { ProcessItem } from "./schemas.js";
import { TaskLogReader } from "./task-logs.js";
import type { Views } from "./views.js";

const ASKED_MS = 50;
const LOOK_MS = 2_000;
const CALM_MS = 60_000;
const CALM_LOOKS = 5; // of so many looks one is also at what is calm
const KEPT = 1_000; // events for a page that reconnects

export interface Event {
	readonly id: string;
	readonly type: "snapshot" | "process" | "gone" | "notice" | "approvals" | "log";
	readonly data: unknown;
}

interface Shown {
	readonly process: Process;
	readonly item: ProcessItem;
	readonly gist: string;
	readonly changed: number;
	/** Which look it is of: a slow one must not undo what a later one has found. */
	readonly turn: number;
}

export class Events {
	readonly #runtime: AgentRuntime;
	readonly #views: Views;
	readonly #epoch = randomBytes(4).toString("hex");
	readonly #listeners = new Set<(event: Event) => void>();
	readonly #recent: Event[] = [];
	readonly #shown = new Map<string, Shown>();
	readonly #logs: TaskLogReader;
	#asked: NodeJS.Timeout | undefined;
	#count = 0;
	#turns = 0;
	#starting = false; // what is found now goes into the first snapshot
	#stop: (() => void) | undefined;
	#ready: Promise<void> = Promise.resolve();

	constructor(runtime: AgentRuntime, views: Views) {
		this.#runtime = runtime;
		this.#views = views;
		this.#logs = new TaskLogReader(runtime.home, (task) => this.#publish("log", { task }));
	}

	/** First what was missed since `after`, or all there is; then what comes. Returns what ends that. */
	async listen(after: string | undefined, tell: (event: Event) => void): Promise<() => void> {
		this.#stop ??= this.#start();
		this.#listeners.add(tell);
		await this.#ready;
		const missed = this.#recent.findIndex(({ id }) => id === after);
		if (missed >= 0) for (const event of this.#recent.slice(missed + 1)) tell(event);
		else if (after !== this.#id()) {
			tell({ id: this.#id(), type: "snapshot", data: { processes: this.#items() } });
			for (const notice of this.#waitingNotices()) tell({ id: this.#id(), type: "notice", data: notice });
		}
		return () => {
			this.#listeners.delete(tell);
			if (this.#listeners.size === 0) this.close();
		};
	}

	/** Something about it has changed of which the home has no event. */
	async look(process: Process): Promise<void> {
		if (this.#shown.has(process.id)) await this.#refresh(process);
	}

	close(): void {
		this.#stop?.();
		this.#stop = undefined;
		// A client that comes back after a time without a watch gets a snapshot.
		this.#recent.length = 0;
		this.#count++;
	}

	#publish(type: Event["type"], data: unknown): void {
		const event = { id: `${this.#epoch}-${++this.#count}`, type, data };
		this.#recent.push(event);
		if (this.#recent.length > KEPT) this.#recent.shift();
		for (const tell of this.#listeners) tell(event);
	}

	#id(): string {
		return `${this.#epoch}-${this.#count}`;
	}

	#items(): ProcessItem[] {
		return [...this.#shown.values()].map(({ item }) => item).sort((a, b) => (a.started_at < b.started_at ? 1 : -1));
	}

	#waitingNotices(): unknown[] {
		return tasksWithNotices(this.#runtime.home).flatMap((task) => this.#runtime.notices.waiting(task));
	}

	#start(): () => void {
		const source = eventSource(this.#runtime);
		// A person who looks at this page can answer.
		const leave = this.#runtime.approvals.attend();
		const unobserve = source.observe({
			changed: (process) => void this.#refresh(process),
			gone: (id) => this.#gone(id),
			happened: (event) => this.#happened(event),
			approvals: () => this.#askedLater(),
		});
		const leaveLogs = this.#logs.start();
		let looks = 0;
		const look = setInterval(() => {
			const calm = performance.now() - CALM_MS;
			const all = ++looks % CALM_LOOKS === 0;
			for (const { process, item, changed } of this.#shown.values()) if (isRunning(item) && (all || changed > calm)) void this.#refresh(process);
		}, LOOK_MS);
		this.#starting = true;
		this.#ready = source.ready
			.then(() => Promise.all(source.processes.filter(({ spec }) => spec.kind === undefined).map((process) => this.#refresh(process))))
			.then(() => {
				this.#starting = false;
			});
		return () => {
			unobserve();
			leaveLogs();
			leave();
			clearTimeout(this.#asked);
			this.#asked = undefined;
			clearInterval(look);
			this.#shown.clear();
		};
	}

	#happened(event: HoldfastEvent): void {
		if (event.type === "notice") this.#publish("notice", event.notice);
		else if (event.type === "approval.asked" || event.type === "approval.answered") this.#askedLater();
		else if (event.type === "process.started" || event.type === "process.ended") this.#logs.heard(event.task);
	}

	#askedLater(): void {
		this.#asked ??= setTimeout(() => {
			this.#asked = undefined;
			this.#publish("approvals", {});
		}, ASKED_MS);
	}

	async #refresh(process: Process): Promise<void> {
		const turn = ++this.#turns;
		let item: ProcessItem;
		try {
			item = await this.#views.item(process);
		} catch {
			this.#gone(process.id); // pruned
			return;
		}
		const before = this.#shown.get(process.id);
		if (!this.#stop || !eventSource(this.#runtime).watches(process.id) || (before && before.turn > turn)) return;
		const gist = gistOf(item);
		const isNews = gist !== before?.gist;
		this.#shown.set(process.id, { process, item, gist, changed: isNews ? performance.now() : before.changed, turn });
		if (isNews && !this.#starting) this.#publish("process", item);
	}

	#gone(id: string): void {
		if (this.#shown.delete(id)) this.#publish("gone", { session_id: id });
	}
}

const isRunning = ({ status }: ProcessItem): boolean => status === "running" || status === "awaiting_input";

/** Returns the parts of an item whose change is an event: not the seconds, nor every byte of memory. */
function gistOf({ uptime_seconds: _, waiting_evidence: __, resources, ...item }: ProcessItem): string {
	const used = resources && [Math.round((resources.cpu_percent ?? 0) / 2), Math.round(resources.memory_bytes / 1_000_000), resources.processes];
	return JSON.stringify([item, used]);
}
