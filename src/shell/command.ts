/** Runs a command in a shell, from sending it to its end, its deadline, or its interruption. */
import { constants } from "node:os";
import { DRAIN_MS, HoldfastError, hostIdentity, type Identity, type LimitsInForce, Wakeup } from "../base/index.js";
import { COMMAND_SHOWN, type Spec, type SpecLimits } from "../keeper/index.js";
import { type LimitMet, limitBySignal, met } from "../process/index.js";
import type { Bash } from "./bash.js";
import { interrupt } from "./interrupt.js";
import { type Ended, FORCED_CODES, type Forced, type NotRun, type Outcome, type Running, type ShellGone } from "./outcome.js";
import { isPlain, knowsPlain, looksPlain } from "./plain.js";
import type { CommandRequest } from "./shells.js";
import type { Slot } from "./slot.js";

const STUCK_MS = 200; // for rescue.bash to record an end, before the shell is replaced
const KEEPER_LATER = 3; // seconds: the keeper ends what goes on for too long only when no runtime has done so
const SPINS = 200; // looks for the last output, one a turn of the event loop; then one a millisecond
const NO_FORK = 254; // what bash makes of a program that it could not start a process for
const KILLED = 128 + constants.signals.SIGKILL;

export interface CommandOptions extends CommandRequest {
	readonly starter: Identity;
	/** Limits of one command. */
	readonly limits: Pick<LimitsInForce, "time" | "output" | "output_rate">;
}

export async function runCommand(bash: Bash, slot: Slot, options: CommandOptions): Promise<Outcome> {
	const wakeup = new Wakeup();
	const shellOffset = bash.offset();
	const older = bash.line.children();
	slot.life.prepare();
	const spec = specOf(bash, slot, older, options);
	const name = slot.nextName();
	const state = bash.line.takesText && looksPlain(options.command) ? bash.settled() : undefined;
	const plain = state !== undefined && isPlain(options.command, state);
	const text = plain && options.workdir === undefined && knowsPlain(state) ? options.command : undefined;
	slot.begin(spec, text === undefined ? options.command : undefined, options.workdir, wakeup.poke);
	const startedAt = performance.now();
	const { limits } = options;
	slot.boundOutput(limits);
	const endAt = limits.time === undefined ? Number.POSITIVE_INFINITY : startedAt + limits.time * 1000;
	const due = startedAt + options.timeoutMs;
	const deadline = Math.min(due, options.answerBy ?? due, endAt);
	let glanceAt = options.glance ? startedAt + options.glance.afterMs : Number.POSITIVE_INFINITY;
	let left = false; // a glance has said so
	if (limits.time !== undefined) slot.endAfter(limits.time + KEEPER_LATER, bash.bash, older);
	if (older.length > 0) bash.counts.take(); // what became of other jobs meanwhile is not this one's
	let forced: Forced | undefined;
	let limit: LimitMet | undefined;
	let alone = false; // it was bash itself
	let drained = false;
	const force = (name: "time" | "output") => {
		forced = "killed";
		limit = met(spec.limits as SpecLimits, name, "process");
	};
	const sent = { spec, startedAt, shellOffset };
	const notRun = (end: NotRun["end"]): NotRun => ({ end, ...sent });
	/** Returns the fields that every command that has begun has. */
	const begun = (code: number | null): Omit<Running, "end"> => {
		if (!alone || code !== 0) limit ??= bash.counts.take() ?? (code === null ? undefined : limitBySignal(spec.limits ?? NONE, code - 128));
		return { ...sent, left: bash.line.children().some((pid) => !older.includes(pid)), ...(limit ? { limit } : {}) };
	};
	const gone = (end: ShellGone["end"]): ShellGone => ({ end, ...begun(null), ...(forced ? { forced } : {}) });
	const running = (): Running => {
		if (limits.time !== undefined) slot.endAfter(Math.max(1, Math.ceil((endAt - performance.now()) / 1000)), bash.bash, older);
		return { end: "running", ...begun(null) };
	};
	const ended = (code: number): Ended => {
		const common = begun(code);
		const told = text !== undefined && code === NO_FORK && bash.offset() > shellOffset;
		const clean = drained && !forced && !limit && !common.left && !told;
		const traceless = clean && alone && !slot.printed(); // what is printed late is not for another command
		const trace = traceless ? "none" : !clean ? "more" : slot.life.printedAlone === 0 ? "silence" : "output";
		return { end: "ended", code, ...common, told, trace, ...(forced ? { forced } : {}) };
	};
	const killsBefore = memoryKills(bash); // asked before it is sent, and answered before it runs
	const how = { id: spec.id, workdir: options.workdir !== undefined, plain, text, placed: slot.placed, life: slot.madeIn };
	if (!bash.send(name, how, wakeup.poke)) return notRun("unsent"); // the shell no longer reads its FIFO
	const wake = () => wakeup.poke();
	options.yield?.addEventListener("abort", wake);
	try {
		return await untilOver();
	} catch (error) {
		if (error === bash.line.failed && error instanceof HoldfastError && error.code === "START_FAILED") slot.reset(); // it is certain that nothing ran
		// The command has been sent, or may have been: it stays on record, and its log serves no other command.
		if (!(error instanceof HoldfastError) || error.code !== "UNREACHABLE" || (error === bash.line.failed && error.cause === undefined)) throw error;
		forced = undefined;
		limit = undefined;
		return { ...running(), unreached: error.message };
	} finally {
		options.yield?.removeEventListener("abort", wake);
	}

	/** Blames the memory limit of a container, which all of its processes share. A container that cannot be reached now is not asked. */
	async function blameMemory(): Promise<void> {
		const [before, now] = [await killsBefore, await memoryKills(bash)];
		if (spec.limits && before !== undefined && now !== undefined && now > before) limit = met(spec.limits, "memory", "task");
	}

	async function untilOver(): Promise<Outcome> {
		for (;;) {
			const end = slot.end();
			if (end) {
				drained = await drain(slot);
				alone = bash.reapedNothing();
				if (!plain || !alone) bash.cwd = bash.line.directory(end.cwd);
				if (end.code === 1 && !slot.printed() && NO_DESCRIPTORS.test(await bash.words(shellOffset))) return notRun("unable");
				if (end.code === KILLED && !forced) await blameMemory();
				return ended(end.code);
			}
			if (bash.takeChange()) {
				if ((bash.post.isStuck() || saysSomething(bash, shellOffset)) && (await unstick(bash, slot, name))) {
					if (bash.begun().name !== name) return notRun("unsent"); // the one before has made it unable to take any
					await drain(slot, bash);
					return gone("unrecorded");
				}
				if (isEnded(bash.line.failed)) return notRun("unsent");
				if (bash.line.failed) throw bash.line.failed;
				if (!bash.line.lives() && !slot.end()) {
					await untilRecorded(bash);
					await bash.refresh(slot.id); // the slot of a remote command may have been looked at before the shell was
					if (slot.end()) continue;
					if (bash.line.isLost()) {
						await bash.line.delivery(); // what it took last cannot be looked up any more; whether it was told can still be known
						if (isEnded(bash.line.failed)) return notRun("unsent");
						if (bash.line.failed) throw bash.line.failed;
					} else if (bash.begun().name !== name) return notRun("unsent");
					await drain(slot, bash);
					if (!forced && !bash.line.isLost()) await blameMemory();
					return gone("died");
				}
				if (slot.end()) continue;
			}
			if (!forced && bash.abandoned) return running();
			if (!forced && options.signal?.aborted) forced = "interrupted";
			if (!forced && limits.output !== undefined && slot.isFull()) force("output");
			if (!forced && performance.now() >= endAt) force("time");
			if (!forced && performance.now() >= glanceAt) {
				glanceAt = Number.POSITIVE_INFINITY;
				left = options.glance?.leaves() === true;
			}
			const yielded = left || options.yield?.aborted === true;
			if (!forced && (yielded || performance.now() >= deadline)) {
				await bash.line.delivery(); // is it known whether it has begun?
				if (bash.line.failed) continue;
				if (yielded || options.onTimeout === "background" || performance.now() < due) return running();
				forced = "timeout";
			}
			if (forced) await interrupt(bash, slot, spec, { code: FORCED_CODES[forced], gently: forced === "interrupted", kept: limit?.name === "output" });
			else await wakeup.next(Math.min(deadline, glanceAt) - performance.now(), options.signal);
		}
	}
}

/** A machine that is out of reach now cannot be asked. */
const memoryKills = (bash: Bash): Promise<number | undefined> => bash.process.machine.memoryKills().catch(() => undefined);

/** The shell that was to read the command is gone for certain. */
const isEnded = (error: Error | undefined): boolean => error instanceof HoldfastError && error.code === "ENDED";

function specOf(bash: Bash, slot: Slot, older: readonly number[], options: CommandOptions): Spec {
	const { spec } = bash.process;
	return {
		v: 1,
		id: slot.life.commandId,
		task: options.task,
		...(options.call === undefined ? {} : { call: options.call }),
		command: options.command.slice(0, COMMAND_SHOWN),
		shell: "bash",
		cwd: options.workdir ?? bash.cwd,
		stdin: false,
		within: {
			name: slot.nextName(),
			...slot.life.place,
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

/** Returns the limits of its shell combined with its own. The cgroups are the shell's. */
function limitsOf(shell: SpecLimits | undefined, own: LimitsInForce): { limits?: SpecLimits } {
	if (!shell && Object.keys(own).length === 0) return {};
	const { process, task, by } = shell ?? NONE;
	return { limits: { process: { ...process, ...own }, task, by: { ...by, ...Object.fromEntries(Object.keys(own).map((name) => [name, "keeper"])) } } };
}

/** Which looks are at the copier itself: the 8th, 16th, 32nd and so on, and then every 16th. Its record usually says enough before. */
const isCloser = (looks: number): boolean => (looks < SPINS ? looks >= 8 && (looks & (looks - 1)) === 0 : looks % 16 === 0);

/** Waits until the output from before the end, which may still be in the pipe, is in the log. */
async function drain(slot: Slot, died?: Bash): Promise<boolean> {
	const giveUp = performance.now() + DRAIN_MS;
	for (let looks = 1; !slot.drained({ briefly: !isCloser(looks) }); looks++) {
		if (performance.now() >= giveUp) return false;
		await died?.refresh(slot.id); // without a record of the end nothing else brings the rest of a remote log
		await new Promise((resolve) => (looks < SPINS ? setImmediate(resolve) : setTimeout(resolve, 1)));
	}
	return true;
}

/** bash is gone; its keeper says how in a moment. */
async function untilRecorded(bash: Bash): Promise<void> {
	await bash.process.wait({ timeout: 5_000 });
}

/** The end of a command could not be recorded: either the rescue does it, or the shell has to go. True when it had to. */
async function unstick(bash: Bash, slot: Slot, name: string): Promise<boolean> {
	await bash.refresh(slot.id); // the replica of the shell may be older than the command
	if (bash.line.isUnderWay(name)) return false;
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

/** Words of bash when it cannot redirect a command's output; it does not run the command then. */
const NO_DESCRIPTORS = /Too many open files|cannot duplicate fd|Bad file descriptor/;
