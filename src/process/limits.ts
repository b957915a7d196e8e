/** Determines which limit a process has hit, and describes it. docs/limits.md. */
import os from "node:os";
import path from "node:path";
import { LIMIT_KINDS, type LimitName, limitText, ProcFile, readProc } from "../base/index.js";
import { type ExitRecord, readLimit, type Spec, type SpecLimits } from "../keeper/index.js";

/** A limit that a process has hit. */
export interface LimitMet {
	readonly name: LimitName;
	/** Scope of the limit. The memory of the machine is not a setting, but has the same effect. */
	readonly of: "process" | "task" | "machine";
	readonly value: number | null;
	/** The mechanism that enforced it: `cgroup v2 memory.max`, `ulimit -f`, `keeper`, `kernel`. */
	readonly by: string;
	/** Processes that were still alive when the keeper gave up killing. */
	readonly left?: readonly number[];
}

/** Returns the limit that an ended process has hit. */
export function limitOf(dir: string, spec: Spec, exit: Extract<ExitRecord, { kind: "exit" }>): LimitMet | undefined {
	const { limits } = spec;
	if (!limits) return undefined;
	const record = exit.limit || spec.within ? readLimit(dir) : undefined;
	if (record && isName(record.name)) return met(limits, record.name, record.scope, record.left);
	return limitBySignal(limits, exit.signal ?? exit.code - 128);
}

/** The mechanism that limits the memory of a whole container. */
export const CONTAINER = "container";

/** Returns the limit that sends this signal. A shell passes the exit code on. */
export function limitBySignal(limits: SpecLimits, signal: number): LimitMet | undefined {
	if (limits.process.cpu_time !== undefined && signal === os.constants.signals.SIGXCPU) return met(limits, "cpu_time", "process");
	if (limits.process.file_size !== undefined && signal === SIGXFSZ) return met(limits, "file_size", "process");
	return undefined;
}

const SIGXFSZ = os.constants.signals.SIGXFSZ;
const isName = (name: string): name is LimitName => Object.hasOwn(LIMIT_KINDS, name);

export function met(limits: SpecLimits, name: LimitName, scope: string | undefined, left: readonly number[] = []): LimitMet {
	const { process, task, by } = limits;
	const of =
		scope === "machine" || scope === "task" || scope === "process"
			? scope
			: process[name] !== undefined && process[name] <= (task[name] ?? Infinity)
				? "process"
				: "task";
	const value = of === "machine" ? null : ((of === "process" ? process : task)[name] ?? null);
	return { name, of, value, by: of === "machine" ? "kernel" : (by[name] ?? "cgroup"), ...(left.length > 0 ? { left } : {}) };
}

/** Detects limits that a shell's cgroup has hit since the last call. */
export class LimitCounts {
	readonly #limits: SpecLimits | undefined;
	readonly #memory: ProcFile | undefined;
	readonly #pids: ProcFile | undefined;
	#seen = { memory: 0, pids: 0 };

	constructor(limits: SpecLimits | undefined) {
		const { memory, pids } = limits?.counts ?? {};
		this.#limits = limits;
		this.#memory = memory === undefined ? undefined : new ProcFile(memory);
		this.#pids = pids === undefined ? undefined : new ProcFile(pids);
		this.take();
	}

	take(): LimitMet | undefined {
		if (!this.#limits?.counts) return undefined;
		const now = { memory: counter(OOM_KILL, this.#memory), pids: counter(MAX, this.#pids) };
		const before = this.#seen;
		this.#seen = now;
		if (now.memory > before.memory) return met(this.#limits, "memory", memoryOf(path.dirname(this.#limits.counts.memory as string)));
		return now.pids > before.pids ? met(this.#limits, "pids", undefined) : undefined;
	}

	close(): void {
		this.#memory?.close();
		this.#pids?.close();
	}
}

const OOM_KILL = /^oom_kill (\d+)$/m;
const MAX = /^max (\d+)$/m;
const counter = (word: RegExp, file: ProcFile | undefined): number => Number(word.exec(file?.read() ?? "")?.[1] ?? 0);

/**
 * Returns the scope of the limit that made the kernel kill. cgroup v1 has a counter for that too, but newer kernels leave it at 0. Same as hf_oom of
 * the keeper: test/keeper/agrees.test.ts.
 */
function memoryOf(group: string): LimitMet["of"] {
	const read = (dir: string, name: string) => readProc(path.join(dir, name));
	const wasFull = (dir: string) => {
		const events = read(dir, "memory.events.local");
		if (events !== undefined) return Number(/^oom (\d+)$/m.exec(events)?.[1] ?? 0) > 0;
		return Number(read(dir, "memory.max_usage_in_bytes")) >= (Number(read(dir, "memory.limit_in_bytes")) / 16) * 15;
	};
	return wasFull(group) ? "process" : wasFull(path.dirname(group)) ? "task" : "machine";
}

/** Returns true if the kernel or the keeper ended the process, rather than letting an operation in it fail. */
export const endedBy = ({ name }: LimitMet, code: number): boolean => name !== "pids" && (name !== "memory" || code === 128 + os.constants.signals.SIGKILL);

/** Tells a model what happened and what to do next. */
export function limitNote({ name, of, value, by, left }: LimitMet): string {
	const whose = of === "task" ? "the limit for everything this task runs" : "the limit for one process";
	const met = of === "machine" ? "The machine ran out of memory" : `It met ${whose}, ${value === null ? name : WORDS[name](limitText(name, value))} (${by})`;
	const rest = left ? ` These are still alive: ${left.join(", ")}.` : "";
	return `${met}. ${ADVICE[name]}${rest}`;
}

const WORDS: Readonly<Record<LimitName, (figure: string) => string>> = {
	memory: (figure) => `${figure} of memory`,
	cpu: (figure) => figure,
	cpu_time: (figure) => `${figure} of CPU time for one program`,
	pids: (figure) => `${figure} ${figure === "1" ? "process or thread" : "processes and threads"} at once`,
	time: (figure) => figure,
	output: (figure) => `${figure} of output`,
	output_rate: (figure) => `${figure} of output`,
	file_size: (figure) => `${figure} in one file`,
};

const OWNER = "Only the person who runs this can change the limit.";
const ADVICE: Readonly<Record<LimitName, string>> = {
	memory: `The kernel killed what used most. Do it in smaller pieces or with fewer workers. ${OWNER}`,
	cpu: OWNER,
	cpu_time: `The program was ended by SIGXCPU. ${OWNER}`,
	pids: `Starting more failed, and what kept trying was killed. Start fewer at once; see to it that nothing starts itself again and again. ${OWNER}`,
	time: `It was killed with everything it had started. ${OWNER}`,
	output: `It was killed with everything it had started. Send what is not needed to /dev/null, or less of it to the output. ${OWNER}`,
	output_rate: OWNER,
	file_size: `The program was ended by SIGXFSZ when it wrote more. ${OWNER}`,
};
