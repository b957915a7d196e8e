import { spawn } from "node:child_process";

const PATIENCE_MS = 2_000;

/** Returns true if bash cannot parse the text, even with extglob patterns. Bash only reads it, from stdin: no part of it is an argument. */
export function isBroken(text: string): Promise<boolean> {
	return new Promise((resolve) => {
		const bash = spawn("bash", ["--norc", "-O", "extglob", "-n"], {
			stdio: ["pipe", "ignore", "ignore"],
			timeout: PATIENCE_MS,
			env: { PATH: process.env.PATH ?? "" },
		});
		bash.on("error", () => resolve(false));
		bash.on("close", (code) => resolve(code === 2 || code === 1));
		bash.stdin.on("error", () => {}); // bash stopped reading early
		bash.stdin.end(`${text}\n`);
	});
}
