import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
	childrenOf,
	errno,
	HoldfastError,
	type Identity,
	isAlive,
	isId,
	linkOf,
	namesIn,
	readIfThere,
	readStat,
	type SandboxSettings,
	sendSignalTo,
	taskKey,
	unlinkIfThere,
	writeWhole,
} from "../base/index.js";
import { procDir, readParts, readSpec, type Spec, starterIsGone } from "../keeper/index.js";
import { explain, findSandboxTools, MOUNT_TRIES, mountWentAway, type Place, type SandboxTools, sandboxPlace } from "../places/index.js";
import type { Process } from "./process.js";
import type { Runtime } from "./runtime.js";
import { mustBeAsAsked } from "./sandbox-settings.js";
import { firstLine, removeShared, startSandbox, unavailable } from "./sandbox-start.js";
import { isOver } from "./status.js";

const READY_MS = 15_000;
const CLOSING_LOOK_MS = 50; // closing takes two seconds, once in the life of a sandbox
const CLOSING_LOOKS = 80;
const RECREATED = "the sandbox of this task had ended, so a new one was made: what was in its /tmp and home, and all that ran in it, is gone";

export interface KeptSandbox {
	readonly id: string;
	readonly task: string;
	readonly directory: string;
	readonly startedAt: number;
	/** Running processes of the task in it, without shells. */
	readonly processes: number;
	readonly orphan: boolean;
}

interface Open {
	readonly process: Process;
	readonly first: Identity;
	readonly guard: Identity;
	readonly closed: string;
	readonly place: Place;
}

export class Sandboxes {
	readonly #runtime: Runtime;
	readonly #settings: () => SandboxSettings;
	readonly #root: string;
	readonly #open = new Map<string, Promise<Open>>();
	readonly #notes = new Map<string, string>();

	/** Without `settings`, no sandbox can be created. */
	constructor(runtime: Runtime, settings?: () => SandboxSettings) {
		this.#runtime = runtime;
		this.#settings = settings ?? noSettings;
		this.#root = path.join(runtime.home.root, "sandboxes");
	}

	/** Returns the task's sandbox, creating it if needed. Concurrent calls get the same one. */
	async of(task: string): Promise<Place> {
		for (;;) {
			const known = this.#open.get(task);
			const opening = known ?? this.#find(task);
			if (!known) this.#open.set(task, opening);
			const open = await opening.catch((error: unknown) => {
				this.#open.delete(task);
				throw error;
			});
			if (isUsable(open)) return open.place;
			if (this.#open.get(task) === opening) this.#open.delete(task);
		}
	}

	/** Returns a note about the sandbox, once. */
	takeNote(task: string): string | undefined {
		const note = this.#notes.get(task);
		this.#notes.delete(task);
		return note;
	}

	/** Drops the cached state of a task. */
	forget(task: string): void {
		this.#open.delete(task);
		this.#notes.delete(task);
	}

	/**
	 * Ends the sandbox unless processes of the task still run in it; then it ends by itself after the last of them. Returns the ids of the ended
	 * sandboxes.
	 */
	async end(task: string): Promise<string[]> {
		this.#open.delete(task);
		const ended: string[] = [];
		for (const { id, file } of this.#links(task)) {
			const process = this.#process(id);
			if (process && this.#runtime.registry.running(task).some(({ spec }) => spec.sandbox === id && spec.kind !== "sandbox")) continue;
			unlinkIfThere(file);
			if (process && !isOver(process.status())) ended.push(id);
			if (process) await this.#stop(process);
		}
		return ended;
	}

	/** Returns the running sandboxes of every task. */
	list(): KeptSandbox[] {
		const running = this.#runtime.registry.running();
		return running
			.filter(({ spec }) => spec.kind === "sandbox")
			.map(({ id, spec }) => ({
				id,
				task: spec.task,
				directory: spec.view?.directory ?? "",
				startedAt: spec.startedAt,
				processes: running.filter((process) => process.spec.sandbox === id && process.spec.kind === undefined).length,
				orphan: this.#isOrphan(id, spec),
			}));
	}

	/** Stops a sandbox with everything in it. Returns false if it had already ended. */
	async stop(id: string): Promise<boolean> {
		const process = this.#process(id);
		if (!process || isOver(process.status())) return false;
		for (const link of this.#links(process.spec.task)) if (link.id === id) unlinkIfThere(link.file);
		await this.#stop(process);
		return true;
	}

	/** Returns true for a sandbox without a link: its creator was killed before creating one. */
	#isOrphan(id: string, spec: Spec): boolean {
		return starterIsGone(spec) && !this.#links(spec.task).some((link) => link.id === id);
	}

	/** Removes the files of ended sandboxes. */
	sweep(): void {
		for (const name of namesIn(this.#root)) {
			const file = path.join(this.#root, name);
			const id = isId(name) ? name : (linkOf(file) ?? "");
			const process = this.#process(id);
			if (process && !isOver(process.status())) {
				if (isId(name) && this.#isOrphan(id, process.spec)) void this.#stop(process).catch(() => {});
			} else if (!isId(name)) unlinkIfThere(file);
			else if (!process || starterIsGone(process.spec)) removeShared(file);
		}
	}

	async #stop(process: Process): Promise<void> {
		await this.#endAll(process.id);
		await process.kill({ graceMs: 0 }); // the first process in it reacts only to KILL
		removeShared(path.join(this.#root, process.id));
	}

	async #find(task: string): Promise<Open> {
		const links = this.#links(task);
		const newest = links.at(-1);
		const there = newest && (await this.#settled(newest.id));
		if (there) {
			mustBeAsAsked(there.process, this.#settings());
			return there;
		}
		if (newest) {
			await this.#endAll(newest.id);
			this.#notes.set(task, RECREATED);
		}
		return this.#make(task, (newest?.number ?? 0) + 1);
	}

	/** Waits a bounded time until a closing sandbox is usable or gone, then gives up on it. */
	async #settled(id: string): Promise<Open | undefined> {
		for (let looks = 0; looks < CLOSING_LOOKS; looks++) {
			const open = this.#attach(id);
			if (!open || isUsable(open)) return open;
			if (!isAlive(open.guard)) return undefined;
			await sleep(CLOSING_LOOK_MS);
		}
		return undefined;
	}

	/** Kills the first process in the sandbox; the kernel then kills all others. Without its keeper, the sandbox may have kept running. */
	async #endAll(id: string): Promise<void> {
		const [pid, start] = (readIfThere(path.join(this.#root, id, "first")) ?? "").split(" ");
		const first = { pid: Number(pid), start: start ?? "" };
		for (let looks = 0; pid && looks < 1_000 && sendSignalTo(first, "SIGKILL"); looks++) await sleep(2);
	}

	/** Returns the links of a task, sorted by number. */
	#links(task: string): { number: number; id: string; file: string }[] {
		const key = taskKey(task);
		return namesIn(this.#root)
			.filter((name) => name.startsWith(`${key}.`))
			.map((name) => ({ number: Number(name.slice(key.length + 1)), file: path.join(this.#root, name), id: linkOf(path.join(this.#root, name)) ?? "" }))
			.sort((a, b) => a.number - b.number);
	}

	#process(id: string): Process | undefined {
		const spec = isId(id) ? readSpec(procDir(this.#runtime.home, id)) : undefined;
		return spec && this.#runtime.registry.process(spec);
	}

	/** Returns a sandbox that is ready, whichever program created it. */
	#attach(id: string): Open | undefined {
		const process = this.#process(id);
		const view = process?.spec.view;
		if (!process || !view || isOver(process.status())) return undefined;
		const { child } = readParts(process.dir);
		const init = child && identity(childrenOf(child.pid)[0]);
		const guard = init && identity(childrenOf(init.pid)[0]);
		if (!init || !guard) return undefined;
		const dir = path.join(this.#root, id);
		const open: Open = {
			process,
			first: init,
			guard,
			closed: path.join(dir, "shared", "closed"),
			place: sandboxPlace({
				id,
				init,
				guard,
				dir,
				cwd: view.directory,
				network: view.network,
				tools: this.#tools(),
				machine: this.#runtime.local,
				own: () => this.#runtime.directoryOf(process.spec.task),
			}),
		};
		return open;
	}

	#tools(): SandboxTools {
		const tools = findSandboxTools();
		if ("missing" in tools) throw unavailable(tools.missing);
		return tools;
	}

	async #make(task: string, number: number, tries = 1): Promise<Open> {
		const tools = this.#tools();
		const settings = this.#settings();
		const { made, dir } = await startSandbox(this.#runtime, { root: this.#root, task, settings, tools });
		let again = false;
		try {
			const { matched } = await made.wait({ until: { pattern: "^ready$" }, timeout: READY_MS });
			again = matched === "exit" && tries < MOUNT_TRIES && mountWentAway(firstLine(made));
			if (matched !== "pattern") throw unavailable(matched === null ? `it was not ready within ${READY_MS / 1000} s` : explain(firstLine(made)));
			const open = this.#attach(made.id);
			if (!open) throw unavailable("it ended at once");
			writeWhole(path.join(dir, "first"), `${open.first.pid} ${open.first.start}`);
			fs.symlinkSync(made.id, path.join(this.#root, `${taskKey(task)}.${number}`));
			for (const link of this.#links(task).filter((old) => old.number < number)) {
				unlinkIfThere(link.file);
				if (isId(link.id)) removeShared(path.join(this.#root, link.id));
			}
			return open;
		} catch (error) {
			await this.#stop(made);
			if (again) return this.#make(task, number, tries + 1);
			if (errno(error) !== "EEXIST") throw error;
			this.#notes.delete(task);
			return this.#find(task); // another runtime was faster
		}
	}
}

const noSettings = (): never => {
	throw new HoldfastError("INTERNAL", "a sandbox was to be made for a runtime of another place");
};

const isUsable = ({ guard, closed }: Open): boolean => isAlive(guard) && !fs.existsSync(closed);

function identity(pid: number | undefined): Identity | undefined {
	const stat = pid === undefined ? undefined : readStat(pid);
	return stat && { pid: stat.pid, start: stat.start };
}
