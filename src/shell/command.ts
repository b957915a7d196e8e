/** One command in one shell, from sending it to its end, its deadline, or its interruption. */
import { constants } from "node:os";
import { HoldfastError } from "../base/errors.js";
import type { Limits } from "../base/limits.js";
import { hostIdentity, type Identity } from "../base/proc.js";
import { Wakeup } from "../base/watch.js";
import { type LimitMet, limitBySignal, met } from "../process/limits.js";
import { COMMAND_SHOWN, type Spec, type SpecLimits } from "../process/spec.js";
import type { Bash } from "./bash.js";
import { trueDirectory } from "./directory.js";
import { interrupt } from "./interrupt.js";
import { isPlain, knowsPlain, looksPlain } from "./plain.js";
import type { RunOptions } from "./shells.js";
import type { Slot } from "./slot.js";

const STUCK_MS = 200; // for rescue.bash to record an end, before the shell is replaced
const KEEPER_LATER = 3; // seconds: the keeper ends what goes on for too long only when no runtime has done so
const NO_FORK = 254; // what bash makes of a program that it could not start a process for
const KILLED = 128 + constants.signals.SIGKILL;
const DRAIN_MS = 3_000; // after the end: how long what was printed may take to reach the log

/** How the end of a command is recorded that was ended by us. */
export const FORCED_CODES = { timeout: 124, interrupted: 130, killed: 137 } as const;

export interface CommandOptions extends RunOptions {
	readonly starter: Identity;
	/** Of one command. */
	readonly limits: Pick<Limits, "time" | "output" | "output_rate">;
}

export interface Outcome {
	/**
	 * `died`: the shell ended with it. `unsent`: the shell had ended before it took the command. `unrecorded`: it is over, and the shell
	 * could not say how, and is over too. `unable`: the shell could not run it, nor anything else.
	 */
	readonly end: "ended" | "running" | "died" | "unsent" | "unrecorded" | "unable";
	/** What was done to it. */
	readonly forced?: "timeout" | "interrupted" | "killed";
	/** Why its end was not waited for: its machine cannot be reached. */
	readonly unreached?: string;
	/** A limit that it met; `killed` for one that is not the kernel's to keep. */
	readonly limit?: LimitMet;
	readonly code: number | null;
	readonly spec: Spec;
	/** It has started something that the shell has not waited for. */
	readonly left: boolean;
	/** It has printed nothing and started nothing. */
	readonly traceless: boolean;
	readonly startedAt: number;
	/** Where the shell's own log was at the start. */
	readonly shellOffset: number;
	/** What the shell has to say of it is there, and not in its output. */
	readonly told: boolean;
}

export async function runCommand(bash: Bash, slot: Slot, options: CommandOptions): Promise<Outcome> {
	const wakeup = new Wakeup();
	const shellOffset = bash.offset();
	const older = bash.line.children();
	const spec = specOf(bash, slot, older, options);
	const name = slot.nextName();
	const state = !bash.far && looksPlain(options.command) ? bash.settled() : undefined;
	const plain = state !== undefined && isPlain(options.command, state);
	const text = plain && options.workdir === undefined && knowsPlain(state) ? options.command : undefined;
	slot.begin(spec, text === undefined ? options.command : undefined, options.workdir, wakeup.poke);
	const startedAt = performance.now();
	const { limits } = options;
	const endAt = limits.time === undefined ? Number.POSITIVE_INFINITY : startedAt + limits.time * 1000;
	const due = startedAt + options.timeoutMs;
	const deadline = Math.min(due, options.answerBy ?? due, endAt);
	if (limits.time !== undefined) slot.endAfter(limits.time + KEEPER_LATER, bash.bash, older);
	if (older.length > 0) bash.counts.take(); // what became of other jobs meanwhile is not this one's
	let forced: Outcome["forced"];
	let limit: LimitMet | undefined;
	let alone = false; // it was bash itself
	let drained = false;
	const force = (name: "time" | "output") => {
		forced = "killed";
		limit = met(spec.limits as SpecLimits, name, "process");
	};
	const outcome = (end: Outcome["end"], code: number | null): Outcome => {
		if (end === "running" && limits.time !== undefined) slot.endAfter(Math.max(1, Math.ceil((endAt - performance.now()) / 1000)), bash.bash, older);
		if (!alone || code !== 0) limit ??= bash.counts.take() ?? (code === null ? undefined : limitBySignal(spec.limits ?? NONE, code - 128));
		const left = end !== "unsent" && end !== "unable" && bash.line.children().some((pid) => !older.includes(pid));
		const told = text !== undefined && code === NO_FORK && bash.offset() > shellOffset;
		const traceless = alone && !forced && !limit && !left && drained && !told && !slot.printed(); // what is printed late is not for another command
		return { end, code, spec, left, shellOffset, told, traceless, startedAt, ...(forced ? { forced } : {}), ...(limit ? { limit } : {}) };
	};
	const killsBefore = killsThere(bash); // asked before it is sent, and answered before it runs
	const how = { workdir: options.workdir !== undefined, plain, text, placed: slot.placed, life: slot.life };
	if (!bash.send(name, how, wakeup.poke)) return outcome("unsent", null); // nobody reads there any more
	const wake = () => wakeup.poke();
	options.yield?.addEventListener("abort", wake);
	try {
		return await untilOver();
	} catch (error) {
		if (error === bash.line.failed && error instanceof HoldfastError && error.code === "START_FAILED") slot.reset(); // it is certain that nothing ran
		// It has been sent, or may have been: it is there to be asked about, and its log is not for another command.
		if (!bash.far || !(error instanceof HoldfastError) || error.code !== "UNREACHABLE" || (error === bash.line.failed && error.cause === undefined))
			throw error;
		forced = undefined;
		limit = undefined;
		return { ...outcome("running", null), unreached: error.message };
	} finally {
		options.yield?.removeEventListener("abort", wake);
	}

	/** All that is in a container has one limit. Who is out of reach now cannot be asked. */
	async function blameMemory(): Promise<void> {
		const [before, now] = [await killsBefore, await killsThere(bash)];
		if (spec.limits && before !== undefined && now !== undefined && now > before) limit = met(spec.limits, "memory", "task");
	}

	async function untilOver(): Promise<Outcome> {
		for (;;) {
			const end = slot.end();
			if (end) {
				drained = await drain(slot);
				alone = bash.reapedNothing();
				if (!plain || !alone) bash.cwd = trueDirectory(end.cwd, bash.bash.pid, bash.far || bash.process.spec.sandbox !== undefined);
				if (end.code === 1 && !slot.printed() && NO_DESCRIPTORS.test(await bash.words(shellOffset))) return outcome("unable", null);
				if (end.code === KILLED && !forced) await blameMemory();
				return outcome("ended", end.code);
			}
			if (bash.takeChange()) {
				if ((bash.post.isStuck() || saysSomething(bash, shellOffset)) && (await unstick(bash, slot, name))) {
					if (!bash.far && bash.begun().name !== name) return outcome("unsent", null); // the one before has made it unable to take any
					await drain(slot, bash);
					return outcome("unrecorded", null);
				}
				if (isEnded(bash.line.failed)) return outcome("unsent", null);
				if (bash.line.failed) throw bash.line.failed;
				if (!bash.line.lives() && !slot.end()) {
					await untilRecorded(bash);
					await bash.refresh(slot.id); // the slot of a remote command may have been looked at before the shell was
					if (slot.end()) continue;
					if (bash.vanished()) {
						await bash.line.delivery(); // what it took last cannot be looked up any more; whether it was told can still be known
						if (isEnded(bash.line.failed)) return outcome("unsent", null);
						if (bash.line.failed) throw bash.line.failed;
					} else if (bash.begun().name !== name) return outcome("unsent", null);
					await drain(slot, bash);
					if (!forced && !bash.vanished()) await blameMemory();
					return outcome("died", null);
				}
				if (slot.end()) continue;
			}
			if (!forced && bash.abandoned) return outcome("running", null);
			if (!forced && options.signal?.aborted) forced = "interrupted";
			if (!forced && limits.output !== undefined && slot.isFull()) force("output");
			if (!forced && performance.now() >= endAt) force("time");
			const yielded = options.yield?.aborted === true;
			if (!forced && (yielded || performance.now() >= deadline)) {
				await bash.line.delivery(); // is it known whether it has begun?
				if (bash.line.failed) continue;
				if (yielded || options.onTimeout === "background" || performance.now() < due) return outcome("running", null);
				forced = "timeout";
			}
			if (forced) await interrupt(bash, slot, spec, { code: FORCED_CODES[forced], gently: forced === "interrupted", kept: limit?.name === "output" });
			else await wakeup.next(deadline - performance.now(), options.signal);
		}
	}
}

const killsThere = async (bash: Bash): Promise<number | undefined> => bash.process.box?.memoryKills().catch(() => undefined);

/** It was to be told to a shell that is gone for certain. */
const isEnded = (error: Error | undefined): boolean => error instanceof HoldfastError && error.code === "ENDED";

function specOf(bash: Bash, slot: Slot, older: readonly number[], options: CommandOptions): Spec {
	const { spec } = bash.process;
	return {
		v: 1,
		id: slot.id,
		task: options.task,
		command: options.command.slice(0, COMMAND_SHOWN),
		shell: "bash",
		cwd: options.workdir ?? bash.cwd,
		stdin: false,
		within: {
			name: slot.nextName(),
			shell: bash.process.id,
			bash: bash.bash,
			keeper: bash.keeper,
			...(spec.cgroup ? { group: spec.cgroup } : {}),
			older,
		},
		log: { limit: 64 * 1024 * 1024, full: "ring" },
		...limitsOf(spec.limits, options.limits),
		place: spec.place,
		...(spec.box ? { box: spec.box } : {}),
		...(spec.sandbox ? { sandbox: spec.sandbox } : {}),
		...(spec.ownNetwork ? { ownNetwork: true } : {}),
		kill: spec.cgroup ? "cgroup" : "walk",
		startedAt: Date.now(),
		host: hostIdentity(),
		starter: options.starter,
	};
}

const NONE: SpecLimits = { process: {}, task: {}, by: {} };

/** Those of its shell, with its own. The groups are the shell's. */
function limitsOf(shell: SpecLimits | undefined, own: Limits): { limits?: SpecLimits } {
	if (!shell && Object.keys(own).length === 0) return {};
	const { process, task, by } = shell ?? NONE;
	return { limits: { process: { ...process, ...own }, task, by: { ...by, ...Object.fromEntries(Object.keys(own).map((name) => [name, "keeper"])) } } };
}

/** What was printed before the end is in the pipe or in the log; this waits until it is in the log. */
async function drain(slot: Slot, died?: Bash): Promise<boolean> {
	const giveUp = performance.now() + DRAIN_MS;
	for (let looks = 0; !slot.drained(); looks++) {
		if (performance.now() >= giveUp) return false;
		await died?.refresh(slot.id); // on another machine: without a record of the end nothing tells of it
		await new Promise((resolve) => (looks < 200 ? setImmediate(resolve) : setTimeout(resolve, 1)));
	}
	return true;
}

/** bash is gone; its keeper says how in a moment. */
async function untilRecorded(bash: Bash): Promise<void> {
	await bash.process.wait({ timeout: 5_000 });
}

/** The end of a command could not be recorded: either the rescue does it, or the shell has to go. True when it had to. */
async function unstick(bash: Bash, slot: Slot, name: string): Promise<boolean> {
	await bash.refresh(slot.id); // what was last seen of a shell elsewhere may be from before the command
	if (bash.far && bash.begun().name !== name) return false;
	const giveUp = performance.now() + STUCK_MS;
	while (!slot.end() && bash.line.lives() && performance.now() < giveUp) await new Promise((resolve) => setTimeout(resolve, 2));
	await bash.refresh(slot.id);
	const stuck = bash.post.isStuck() || bash.line.isIdle();
	bash.post.clearStuck();
	if (!stuck || slot.end() || !bash.line.lives()) return false;
	await bash.process.kernel.signal([{ pid: bash.bash.pid, signal: "SIGKILL", of: bash.bash }]);
	await untilRecorded(bash);
	return true;
}

/** While it runs a command the shell has words of its own only when something is wrong: a restricted shell may not even leave the file `stuck`. */
const saysSomething = (bash: Bash, offset: number): boolean => bash.offset() > offset && bash.line.isIdle();

/** What bash says when it cannot send a command's output where it belongs; then it does not run it. */
const NO_DESCRIPTORS = /Too many open files|cannot duplicate fd|Bad file descriptor/;
