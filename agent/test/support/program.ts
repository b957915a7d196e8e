/** A program of a test, on the built package: says lines on stdout, and hears lines on stdin. */
import { type ChildProcess, spawn } from "node:child_process";
import readline from "node:readline";
import { atEnd } from "./dirs.js";

export interface Program {
	readonly pid: number;
	/** The next line that it says; rejects if it ends before. */
	line(): Promise<string>;
	say(text: string): void;
	/** SIGKILL, and waits until it is gone. */
	kill(): Promise<void>;
	/** Waits until it ends by itself. */
	readonly ended: Promise<number | null>;
}

export function startProgram(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
	const child: ChildProcess = spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, ...env } });
	const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
	const kill = async () => {
		child.kill("SIGKILL");
		await ended;
	};
	atEnd(kill);
	const lines = readline.createInterface({ input: child.stdout ?? process.stdin })[Symbol.asyncIterator]();
	return {
		pid: child.pid ?? 0,
		ended,
		kill,
		say: (text) => void child.stdin?.write(`${text}\n`),
		async line() {
			const { done, value } = await lines.next();
			if (done) throw new Error(`${file} ended before it said anything more`);
			return value;
		},
	};
}
