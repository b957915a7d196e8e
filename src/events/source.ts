/**
 * The events of a home for all listeners in this program: told by inotify, numbered, and the last of them kept. Nothing is watched while
 * there is no listener. Only what no event tells, a program that begins to wait, is looked at every two seconds, and where nothing has changed for a
 * minute every ten. The library's events and the page's are both made of this.
 */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isId, linkOf, namesIn, taskKey } from "../base/index.js";
import { isOver, type Process, SHOWN_AFTER_EXIT_MS, type Status } from "../process/index.js";
import { type AgentRuntime, loadScreen } from "../tools/index.js";
import type { Happening, HoldfastEvent } from "./event.js";
import { about, ended, started } from "./happenings.js";
import { PlaceEvents } from "./places.js";
import { QuestionEvents } from "./questions.js";
import { EventRing } from "./ring.js";

const GATHER_MS = 400; // output is told at most so often
const MOMENT_MS = 100; // a foreground command that is over by then is no event
const LOOK_MS = 2_000;
const CALM_MS = 60_000;
const CALM_LOOKS = 5; // of so many looks one is also at what is calm
const SWEEP_MS = 30_000;
const SOON_MS = 1_500; // for another machine to say whether a program waits
const DRAIN_MS = 2_000; // for what was printed just before the end to reach the log

/** A listener that is told of all changes, besides events. */
export interface Observer {
	/** The process is new, or something about it may have changed. */
	changed(process: Process): void;
	/** The process is no longer in lists. */
	gone(id: string): void;
	happened(event: HoldfastEvent): void;
	/** Something about questions has changed: also whether a call waits for an answer. */
	approvals(): void;
}

interface Watched {
	readonly process: Process;
	/** `started` has been told, or happened before the first listener. */
	told: boolean;
	over: boolean;
	/** The process has ended, and its last output is on its way to the log: until that is there, nothing is told of the end. */
	draining: boolean;
	endedAt: number;
	offset: number;
	/** The offset at which it was last seen to wait. */
	waits: { readonly offset: number; readonly for: Extract<HoldfastEvent, { type: "process.waits" }>["waiting_for"] } | undefined;
	changed: number;
	unwatch: (() => void) | undefined;
	timer: NodeJS.Timeout | undefined;
	due: number;
}

export class EventSource {
	readonly runtime: AgentRuntime;
	readonly ring: EventRing;
	readonly #observers = new Set<Observer>();
	readonly #watched = new Map<string, Watched>();
	readonly #places: PlaceEvents;
	readonly #questions: QuestionEvents;
	readonly #looking = new Set<Promise<void>>();
	#stop: (() => void) | undefined;
	ready: Promise<void> = Promise.resolve();

	constructor(runtime: AgentRuntime) {
		this.runtime = runtime;
		this.ring = new EventRing(runtime.home);
		const tell = (happening: Happening) => this.#tell(happening);
		this.#places = new PlaceEvents({ home: runtime.home, processes: () => this.processes, tell });
		this.#questions = new QuestionEvents(runtime.approvals, tell);
	}

	/** Tells it of all that happens from now on. Returns what ends that. */
	observe(observer: Observer): () => void {
		this.#observers.add(observer);
		this.#stop ??= this.#start();
		return () => {
			if (!this.#observers.delete(observer) || this.#observers.size > 0) return;
			this.#stop?.();
			this.#stop = undefined;
			this.ring.clear();
		};
	}

	/** Processes that are watched, with what is known of them. */
	get processes(): readonly Process[] {
		return [...this.#watched.values()].map(({ process }) => process);
	}

	watches(id: string): boolean {
		return this.#watched.has(id);
	}

	/** Returns current states for which no file has a time: programs that wait, unreachable machines. */
	standing(): Happening[] {
		const waits = [...this.#watched.values()].flatMap(({ process, waits: state, over }): Happening[] =>
			state && !over ? [{ type: "process.waits", ...about(process), waiting_for: state.for }] : [],
		);
		return [...waits, ...this.#places.standing()];
	}

	/** Looks at all that may have changed. Resolves when it has been told. */
	async settle(): Promise<void> {
		if (!this.#stop) return;
		for (const watched of this.#watched.values()) if (watched.timer || watched.unwatch) this.#lookNow(watched);
		this.#questions.look();
		await Promise.all(this.#looking);
	}

	#tell(happening: Happening): void {
		const event = this.ring.add(happening);
		for (const observer of this.#observers) observer.happened(event);
	}

	#start(): () => void {
		const { home, notices } = this.runtime;
		const stopNotices = new AbortController();
		const watches = [
			home.watch.directory(home.live, (name) => {
				if (name === null) this.#find(true);
				else if (isId(name)) this.#appeared(name);
			}),
			home.watch.directory(home.approvals, (name) => {
				if (name === null || /^[qa]\./.test(name)) this.#questions.lookLater();
				if (!name?.startsWith("h.")) for (const observer of this.#observers) observer.approvals();
			}),
			this.#places.start(),
		];
		let looks = 0;
		const look = setInterval(() => {
			const calm = performance.now() - CALM_MS;
			const all = ++looks % CALM_LOOKS === 0;
			for (const watched of this.#watched.values())
				if (watched.unwatch && watched.process.spec.terminal && (all || watched.changed > calm)) this.#lookNow(watched);
		}, LOOK_MS);
		const sweep = setInterval(() => this.#sweep(), SWEEP_MS);
		this.#find(false);
		this.#questions.start();
		this.ready = Promise.all([...this.#watched.values()].map((watched) => this.#lookNow(watched))).then(() => {});
		void this.#listen(notices.stream({ leave: true, signal: stopNotices.signal }), Date.now());
		return () => {
			for (const unwatch of watches) unwatch();
			stopNotices.abort();
			clearInterval(look);
			clearInterval(sweep);
			this.#questions.stop();
			for (const watched of this.#watched.values()) forget(watched);
			this.#watched.clear();
		};
	}

	/** Tells new notices. Earlier ones are on disk for consumers that want them. */
	async #listen(notices: AsyncIterable<Extract<HoldfastEvent, { type: "notice" }>["notice"]>, since: number): Promise<void> {
		try {
			for await (const notice of notices)
				if (Date.parse(notice.at) >= since) this.#tell({ type: "notice", time: Date.parse(notice.at), task: notice.task, notice });
		} catch {
			// the home cannot be used: a list says so too
		}
	}

	#find(isNew: boolean): void {
		for (const process of this.runtime.list({ task: null, shells: true })) {
			if (process.spec.kind === "shell" || this.#watched.has(process.id)) continue;
			if (process.spec.kind === "sandbox" && isOver(process.status())) continue;
			const watched = this.#watch(process);
			if (isNew) {
				this.#lookLater(watched, process.spec.within ? MOMENT_MS : 0);
				continue;
			}
			watched.told = true;
			const status = process.status();
			if (!isOver(status)) continue;
			watched.over = true;
			watched.endedAt = "endedAt" in status ? status.endedAt : Date.now();
			watched.unwatch?.();
			watched.unwatch = undefined;
		}
	}

	/** The ticket is there once the spec can be read; or it is removed. */
	#appeared(id: string): void {
		const known = this.#watched.get(id);
		if (known) {
			this.#lookLater(known, 0);
			return;
		}
		try {
			const process = this.runtime.get(id);
			if (process.spec.kind !== "shell") this.#lookLater(this.#watch(process), process.spec.within ? MOMENT_MS : 0);
		} catch {
			// not there (any more): a foreground command that was over in a moment
		}
	}

	#watch(process: Process): Watched {
		const watched: Watched = {
			process,
			told: false,
			over: false,
			draining: false,
			endedAt: 0,
			offset: process.log.bounds().end,
			waits: undefined,
			changed: performance.now(),
			unwatch: undefined,
			timer: undefined,
			due: 0,
		};
		watched.unwatch = process.watch((name) => this.#lookLater(watched, name === "exit" ? 0 : GATHER_MS));
		this.#watched.set(process.id, watched);
		return watched;
	}

	/** The sooner of two counts. */
	#lookLater(watched: Watched, ms: number): void {
		const due = performance.now() + ms;
		if (watched.timer && watched.due <= due) return;
		clearTimeout(watched.timer);
		watched.due = due;
		watched.timer = setTimeout(() => this.#lookNow(watched), ms);
	}

	#lookNow(watched: Watched): Promise<void> {
		clearTimeout(watched.timer);
		watched.timer = undefined;
		const looking = this.#look(watched).catch(() => this.#gone(watched)); // pruned
		this.#looking.add(looking);
		return looking.finally(() => this.#looking.delete(looking));
	}

	async #look(watched: Watched): Promise<void> {
		const { process } = watched;
		if (this.#watched.get(process.id) !== watched || watched.draining) return;
		const later = process.spec.within && this.#servesAnother(process);
		if (later) {
			this.#gone(watched, later);
			return;
		}
		const status = process.status();
		const over = isOver(status);
		if (process.spec.kind === "sandbox") {
			this.#lookAtSandbox(watched, over);
			return;
		}
		if (!watched.told) {
			if (process.spec.within && over) return this.#gone(watched);
			watched.told = true;
			this.#tell(started(process));
		}
		const { end } = process.log.bounds();
		if (end !== watched.offset) {
			watched.offset = end;
			watched.changed = performance.now();
			if (end > 0) this.#tell({ type: "process.printed", ...about(process) });
			if (process.spec.terminal && !over) this.#lookLater(watched, GATHER_MS); // a prompt may be the last that it printed
		}
		this.#places.look(process);
		if (!over) await this.#lookAtWaiting(watched, status);
		else if (!watched.over) await this.#lookAtEnd(watched, status);
		if (this.#watched.get(process.id) !== watched) return;
		for (const observer of this.#observers) observer.changed(process);
	}

	/** Tells the end of a process, after its last output. */
	async #lookAtEnd(watched: Watched, status: Status): Promise<void> {
		const { process } = watched;
		watched.over = true;
		watched.endedAt = "endedAt" in status ? status.endedAt : Date.now();
		watched.draining = true;
		await process.wait({ timeout: DRAIN_MS }).catch(() => {}); // it was removed
		watched.draining = false;
		watched.unwatch?.();
		watched.unwatch = undefined;
		if (this.#watched.get(process.id) !== watched) return;
		const { end } = process.log.bounds();
		if (end !== watched.offset) this.#tell({ type: "process.printed", ...about(process) });
		watched.offset = end;
		this.#tell(ended(process, status));
	}

	#lookAtSandbox(watched: Watched, over: boolean): void {
		const { process } = watched;
		const { task, place } = { task: process.spec.task, place: "local+sandbox" };
		if (over) {
			if (watched.told) this.#tell({ type: "place.down", task, place, box: process.id, reason: "the sandbox has ended" });
			forget(watched);
			this.#watched.delete(process.id);
		} else if (!watched.told) {
			watched.told = true;
			const dir = path.join(this.runtime.home.root, "sandboxes");
			const others = namesIn(dir).filter((name) => name.startsWith(`${taskKey(task)}.`) && linkOf(path.join(dir, name)) !== process.id);
			this.#tell({ type: others.length > 0 ? "place.replaced" : "place.up", task, place, box: process.id });
		}
	}

	async #lookAtWaiting(watched: Watched, status: Status): Promise<void> {
		const { process } = watched;
		if (status.status !== "running" || !process.spec.terminal || process.unreachable !== undefined) return;
		const { waitingFor } = await loadScreen();
		const asked = waitingFor(process, { reuse: true }).catch(() => undefined); // it has just ended
		const found = await Promise.race([asked, sleep(SOON_MS, undefined, { ref: false })]);
		if (!found || this.#watched.get(process.id) !== watched) return;
		const offset = process.log.bounds().end;
		if (!found.waiting) {
			watched.waits = undefined;
			return;
		}
		if (watched.waits?.offset === offset && watched.waits.for === found.waiting_for) return;
		watched.waits = { offset, for: found.waiting_for };
		watched.changed = performance.now();
		this.#tell({ type: "process.waits", ...about(process), waiting_for: found.waiting_for });
	}

	/** The log of a foreground command is used again for the next one. Returns what is left of it then: a part of the transcript. */
	#servesAnother(process: Process): Process | undefined {
		const now = this.runtime.get(process.id);
		const isOther = now.spec.past || now.spec.startedAt !== process.spec.startedAt;
		return isOther || (!isOver(now.status()) && !fs.existsSync(path.join(this.runtime.home.live, process.id))) ? now : undefined;
	}

	#sweep(now = Date.now()): void {
		for (const watched of this.#watched.values()) if (watched.over && now - watched.endedAt > SHOWN_AFTER_EXIT_MS) this.#gone(watched);
		this.#questions.sweep();
	}

	#gone(watched: Watched, now?: Process): void {
		forget(watched);
		if (!this.#watched.delete(watched.process.id) || !watched.told) return;
		if (!watched.over) this.#tell(ended(watched.process, now?.spec.past ? now.status() : undefined));
		for (const observer of this.#observers) observer.gone(watched.process.id);
	}
}

function forget(watched: Watched): void {
	watched.unwatch?.();
	watched.unwatch = undefined;
	clearTimeout(watched.timer);
	watched.timer = undefined;
}
