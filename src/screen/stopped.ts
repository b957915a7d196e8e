/**
 * Finds a program that the kernel has stopped because it used its terminal from the background. Nothing will continue it: there is no shell that
 * could.
 */
import type { Kernel, Stat } from "../base/index.js";
import type { WaitVerdict } from "./verdict.js";

const BECAUSE: Readonly<Record<number, string>> = {
	0: "as a program is that uses the terminal from there", // older kernels do not report the signal, and no kernel does for other users
	21: "because it reads the terminal from there", // SIGTTIN
	22: "because it changes the terminal's modes from there", // SIGTTOU
};

/** Returns the verdict on a stopped process. `below`: the processes that the foreground of the terminal `device` waits for. */
export async function stoppedBelow(kernel: Kernel, below: readonly Stat[], device: number): Promise<WaitVerdict | undefined> {
	const stopped = below.filter(({ state, terminal }) => state === "T" && terminal === device);
	const texts = await kernel.read(stopped.map(({ pid }) => `/proc/${pid}/stat`));
	for (const [at, { comm, pid, ppid }] of stopped.entries()) {
		const why = BECAUSE[signalIn(texts[at] ?? "")];
		if (why === undefined) continue; // stopped by a person or program that may continue it
		const timed = below.find((other) => other.pid === ppid)?.comm === "timeout";
		const instead = timed ? "timeout put it there; timeout --foreground does not" : "it, or what runs it, made a process group of its own";
		return { kind: "stopped", why: `${comm} (pid ${pid}) is stopped in a background process group of its terminal, ${why} (${instead})` };
	}
	return undefined;
}

/** Returns the signal that stopped a process: field 52. */
const signalIn = (stat: string): number => Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[49] ?? 0);
