import { spawn } from "node:child_process";

const PATIENCE_MS = 2_000;

/** Whether bash itself cannot read the text, with whatever patterns it may have been told to know. It is only read, and nothing of it is in an argument. */
export function isBroken(text: string): Promise<boolean> {
	return new Promise((resolve) => {
		const bash = spawn("bash", ["--norc", "-O", "extglob", "-n"], {
			stdio: ["pipe", "ignore", "ignore"],
			timeout: PATIENCE_MS,
			env: { PATH: process.env.PATH ?? "" },
		});
		bash.on("error", () => resolve(false));
		bash.on("close", (code) => resolve(code === 2 || code === 1));
		bash.stdin.on("error", () => {}); // it has seen enough
		bash.stdin.end(`${text}\n`);
	});
}
