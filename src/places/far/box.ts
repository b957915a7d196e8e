/** A machine that is not this one, with what this home keeps there: process directories, our scripts, and the one link to all of it. */
import type { Home } from "../../base/home.js";
import type { Kernel } from "../../base/kernel.js";
import type { Identity } from "../../base/proc.js";
import { shellQuote } from "../../base/quote.js";
import type { Host } from "../host.js";
import type { Link } from "../link/index.js";
import { Commands, type Told } from "./commands.js";
import { toCollector, toStdin } from "./fifos.js";
import { Files } from "./files.js";
import { farKernel } from "./kernel.js";
import { type Followed, Mirrors } from "./mirrors.js";
import { Reach, type ReachOptions } from "./reach.js";
import { busyIn, type Ready } from "./ready.js";
import type { Seen } from "./seen.js";
import { type Line, withdraw } from "./withdraw.js";

export interface BoxOptions extends Omit<ReachOptions, "onTrouble"> {
	readonly key: string;
	/** It can be removed, with all that is in it. */
	readonly container?: boolean;
}

const RUN_BYTES = 64 * 1024 * 1024;

export class Box {
	readonly key: string;
	readonly kernel: Kernel;
	readonly #reach: Reach;
	readonly #container: boolean;
	readonly #mirrors: Mirrors;
	readonly #commands: Commands;
	readonly #files: Files;
	/** Those that we have tried to start, without knowing whether that has arrived. */
	readonly #givenUp = new Set<string>();

	constructor(host: Host, home: Home, { key, container = false, ...options }: BoxOptions) {
		this.key = key;
		this.#container = container;
		const reach = new Reach(host, { ...options, onTrouble: (reason) => this.#mirrors.allUnreachable(reason) });
		this.#reach = reach;
		this.#mirrors = new Mirrors(home, reach, { container });
		this.#files = new Files(home, reach);
		this.#commands = new Commands(reach, this.#files, { container });
		this.kernel = farKernel({
			run: (script) => reach.ask((link) => link.run(script, { limit: RUN_BYTES }), { again: true }),
			once: (script) => reach.ask((link) => link.run(script, { limit: RUN_BYTES }), { again: false }),
			look: (questions) => reach.ask((link) => link.look(questions), { again: true }),
			table: (what) => reach.ask((link) => link.table(what), { again: true }),
			signals: (lines) => reach.ask((link) => link.signals(lines), { again: false }),
		});
	}

	// Reaching it: reach.ts.

	/** As people call it. */
	get name(): string {
		return this.#reach.name;
	}

	/** Reach it, with everything there that a start needs. */
	ready(signal?: AbortSignal): Promise<Ready> {
		return this.#reach.ready(signal);
	}

	/** What was there has been removed, under the link that it was found through. */
	makeReadyAgain(): Promise<Ready> {
		return this.#reach.makeReadyAgain();
	}

	/** What was found there, once it has been reached. */
	get login(): Ready | undefined {
		return this.#reach.login;
	}

	/** What all in a container may use, once it has been reached. Of another machine it is not ours. */
	get memory(): Ready["memory"] {
		return this.#container ? this.login?.memory : undefined;
	}

	/** How often the kernel had to kill somebody there for that. */
	async memoryKills(): Promise<number | undefined> {
		const path = this.memory?.counts;
		if (path === undefined) return undefined;
		const [counts] = await this.use((link) => link.look([{ ask: "content", path }]));
		return Number(/^oom_kill (\d+)$/m.exec(`${counts}`)?.[1] ?? 0);
	}

	/** Why the last try to reach it failed. */
	get trouble(): string | undefined {
		return this.#reach.trouble;
	}

	/** One life of it: what was made in another one is gone. Known once it has been reached. */
	get life(): string {
		return this.#reach.life;
	}

	/** A link is open: asking costs a round trip, and no wait for a machine that is gone. */
	get connected(): boolean {
		return this.#reach.connected;
	}

	/** For who does not wait for a machine that may come back: tries now, and resolves when a try has failed. */
	failure(signal: AbortSignal): Promise<string> {
		return this.#reach.failure(signal);
	}

	/** All that ran in it is known to be over. */
	isOver(): Promise<boolean> {
		return this.#reach.isOver();
	}

	/** What its user should know, once. */
	takeNotes(): string[] {
		return this.#reach.takeNotes();
	}

	/** Where the directory of a process is there. Only after `ready`. */
	directoryOf(id: string): string {
		return this.#reach.directoryOf(id);
	}

	/** For whatever else is to be done with it; it must do no harm if it is done twice. */
	use<T>(work: (link: Link) => Promise<T>, signal?: AbortSignal): Promise<T> {
		return this.#reach.use(work, { signal });
	}

	/** `again`: a script that can be run twice without harm. */
	run(
		script: string,
		{ signal, starts = false, again = true }: { signal?: AbortSignal; starts?: boolean; again?: boolean } = {},
	): Promise<{ status: number; output: Buffer; error: string }> {
		return this.#reach.use((link) => link.run(script, { starts, limit: RUN_BYTES, ...(signal ? { signal } : {}) }), { signal, again });
	}

	/** It is ended on purpose: meanwhile nobody reaches it. */
	restDuring<T>(end: () => Promise<T>): Promise<T> {
		return this.#reach.restDuring(end);
	}

	close(): Promise<void> {
		return this.#reach.close();
	}

	// What is seen of its processes: mirrors.ts.

	/** Updates the replica of a process to its present state. `shell`: it is a command of this one. */
	sync(id: string, options?: { signal?: AbortSignal | undefined; shell?: Identity | undefined }): Promise<void> {
		return this.#mirrors.sync(id, options);
	}

	/** Keeps it up to date until the returned function is called. */
	follow(id: string, followed?: Followed): () => void {
		return this.#mirrors.follow(id, followed);
	}

	/** There is no newer word of it. */
	unreachable(id: string, reason: string): void {
		this.#mirrors.unreachable(id, reason);
	}

	/** It has been made there: should it not be there later, it is gone. */
	made(id: string): void {
		this.#mirrors.made(id);
	}

	/** Nobody will see how it ended. */
	lose(id: string, reason: string): void {
		this.#mirrors.lose(id, reason);
	}

	/** A shell, when anything that it runs was last looked at. */
	lastSeen(pid: number): Pick<Seen, "children" | "reaped" | "idle"> | undefined {
		return this.#mirrors.lastSeen(pid);
	}

	// What they are told: commands.ts, withdraw.ts and fifos.ts.

	/** A line for a shell, with the files that it is about, told once. Resolves with where the shell went first, if the directory that it was in has been removed. */
	command(id: string, text: string, once: Told): Promise<string | undefined> {
		return this.#commands.tell(id, text, once);
	}

	/** We do not know whether the start of it has arrived, and do not try again. */
	giveUp(id: string): void {
		this.#givenUp.add(id);
	}

	gaveUp(id: string): boolean {
		return this.#givenUp.has(id);
	}

	/** For one that nobody is left to start: if that has not arrived there, it never will, and its end says so. */
	withdraw(id: string, line?: Line): Promise<void> {
		return withdraw(this.#reach, id, line);
	}

	/** Bytes to the stdin of a process. Resolves with how many, when they are in its pipe. */
	input(id: string, bytes: Buffer, over: () => boolean, signal?: AbortSignal): Promise<number> {
		return toStdin(this.#reach, id, bytes, over, signal);
	}

	/** Tell the collector of a process something. */
	tell(id: string, message: string): Promise<void> {
		return toCollector(this.#reach, id, message);
	}

	// Their directories: files.ts.

	/** The whole content of a new file. */
	write(file: string, content: Buffer): Promise<void> {
		return this.#files.write(file, content);
	}

	/** Overwrite a file of a process. Nobody waits for it. */
	put(id: string, name: string, content: string): void {
		this.#files.put({ id, name, content });
	}

	remove(id: string, name: string): void {
		this.#files.remove(id, name);
	}

	/** Have a file of a process here as it is there. False: it is not there, and what is here is left as it is. */
	fetch(id: string, name: string): Promise<boolean> {
		return this.#files.fetch(id, name);
	}

	/** Wait until a file of a process is there, with something in it, and have it here. */
	arrival(id: string, name: string, signal: AbortSignal): Promise<void> {
		return this.#files.arrival(id, name, signal);
	}

	/** Drop segments of a log before an offset. */
	discard(id: string, before: number): Promise<void> {
		return this.#files.discard(id, before);
	}

	/** A process is no longer needed there either. Nobody waits for that; what is left because the box could not be reached goes when it is old. */
	forget(id: string, done: () => void = () => {}): void {
		this.#mirrors.forget(id);
		this.#commands.forget(id);
		this.#givenUp.delete(id);
		if (!this.login) {
			done(); // nothing was ever made there by us
			return;
		}
		const at = shellQuote(this.directoryOf(id));
		// A collector that holds its log for a shell ends when it is told to, not when its directory goes.
		this.#reach.tidy(`[ -p ${at}/ctl ] && printf '\\nrelease\\n' 1<>${at}/ctl; rm -rf ${at} ${shellQuote(busyIn(this.login, id))}`, done);
	}
}
