/** One command in one shell, from sending it to its end, its deadline, or its interruption. */
import { hostIdentity, type Identity, isAlive, sendSignal } from "../base/proc.js";
import { Wakeup } from "../base/watch.js";
import { COMMAND_SHOWN, type Spec } from "../process/spec.js";
import type { Bash } from "./bash.js";
import { trueDirectory } from "./directory.js";
import { interrupt } from "./interrupt.js";
import { isPlain, looksPlain } from "./plain.js";
import type { RunOptions } from "./shells.js";
import type { Slot } from "./slot.js";

const STUCK_MS = 200; // for rescue.bash to record an end, before the shell is replaced
const DRAIN_MS = 3_000; // after the end: how long what was printed may take to reach the log

export interface CommandOptions extends RunOptions {
	readonly starter: Identity;
	/** When the time is up, by performance.now(). */
	readonly deadline: number;
}

export interface Outcome {
	/** `died`: the shell ended with it, or had to be replaced. `unsent`: the shell had ended before it took the command. */
	readonly end: "ended" | "running" | "died" | "unsent";
	/** What was done to it. */
	readonly forced?: "timeout" | "interrupted";
	readonly code: number | null;
	readonly spec: Spec;
	/** It has started something that the shell has not waited for. */
	readonly left: boolean;
	/** It has printed nothing and started nothing. */
	readonly traceless: boolean;
	readonly startedAt: number;
	/** Where the shell's own log was at the start. */
	readonly shellOffset: number;
}

export async function runCommand(bash: Bash, slot: Slot, options: CommandOptions): Promise<Outcome> {
	const wakeup = new Wakeup();
	const shellOffset = bash.offset();
	const older = bash.children();
	const spec = specOf(bash, slot, older, options);
	const name = slot.nextName();
	const state = looksPlain(options.command) ? bash.settled() : undefined;
	const plain = state !== undefined && isPlain(options.command, state) ? options.command : undefined;
	slot.begin(spec, options.command, options.workdir, wakeup.poke);
	const startedAt = performance.now();
	const { deadline } = options;
	let forced: Outcome["forced"];
	const outcome = (end: Outcome["end"], code: number | null): Outcome => {
		const left = end !== "unsent" && bash.children().some((pid) => !older.includes(pid));
		const traceless = bash.reapedNothing() && end === "ended" && !forced && !left && !slot.printed();
		return { end, code, spec, left, shellOffset, traceless, startedAt, ...(forced ? { forced } : {}) };
	};
	try {
		bash.send(name, { workdir: options.workdir !== undefined, plain }, wakeup.poke);
	} catch {
		return outcome("unsent", null); // nobody reads there any more
	}
	for (;;) {
		const end = slot.end();
		if (end) {
			await drain(slot);
			bash.cwd = trueDirectory(end.cwd, bash.bash.pid);
			return outcome("ended", end.code);
		}
		if (bash.takeChange()) {
			if (bash.isStuck()) await unstick(bash, slot);
			if (!isAlive(bash.bash) && !slot.end()) {
				await untilRecorded(bash);
				if (bash.begun().name !== name) return outcome("unsent", null);
				await drain(slot);
				return outcome("died", null);
			}
			if (slot.end()) continue;
		}
		if (!forced && bash.abandoned) return outcome("running", null);
		if (!forced && options.signal?.aborted) forced = "interrupted";
		if (!forced && performance.now() >= deadline) {
			if (options.onTimeout === "background") return outcome("running", null);
			forced = "timeout";
		}
		if (forced) await interrupt(bash, slot, spec);
		else await wakeup.next(deadline - performance.now(), options.signal);
	}
}

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
		place: spec.place,
		kill: spec.cgroup ? "cgroup" : "walk",
		startedAt: Date.now(),
		host: hostIdentity(),
		starter: options.starter,
	};
}

/** What was printed before the end is in the pipe or in the log; this waits until it is in the log. */
async function drain(slot: Slot): Promise<void> {
	const giveUp = performance.now() + DRAIN_MS;
	for (let looks = 0; !slot.drained() && performance.now() < giveUp; looks++) {
		await new Promise((resolve) => (looks < 200 ? setImmediate(resolve) : setTimeout(resolve, 1)));
	}
}

/** bash is gone; its keeper says how in a moment. */
async function untilRecorded(bash: Bash): Promise<void> {
	await bash.process.wait({ timeout: 5_000 });
}

/** The end of a command could not be recorded: either the rescue does it, or the shell has to go. */
async function unstick(bash: Bash, slot: Slot): Promise<void> {
	const giveUp = performance.now() + STUCK_MS;
	while (!slot.end() && isAlive(bash.bash) && performance.now() < giveUp) await new Promise((resolve) => setTimeout(resolve, 2));
	bash.clearStuck();
	if (slot.end() || !isAlive(bash.bash)) return;
	sendSignal(bash.bash.pid, "SIGKILL");
	await untilRecorded(bash);
}
