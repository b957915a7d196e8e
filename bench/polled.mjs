/**
 * The design that our shell is measured against: a long-lived bash takes commands on its stdin and writes output, exit
 * code and directory to files, and whoever waits looks into the status file every 150 ms.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { sleep } from "./lib.mjs";

const LOOK_MS = 150;

/** A function that runs a command in such a shell and returns its exit code and output. */
export function polledShell(bench) {
	const dir = bench.dir("polled");
	const file = (name) => path.join(dir, name);
	const read = (name) => fs.readFileSync(file(name), "utf8");
	for (const name of ["out", "err", "status", "cwd"]) fs.writeFileSync(file(name), "");
	const shell = spawn("bash", ["--noprofile", "--norc"], { stdio: ["pipe", "ignore", "ignore"] });
	const ended = once(shell, "exit");
	bench.atEnd(() => {
		shell.stdin.end();
		return ended;
	});
	let count = 0;
	return async (command) => {
		const id = ++count;
		shell.stdin.write(`eval '${command}' </dev/null >${file("out")} 2>${file("err")}\necho ${id}:$? >${file("status")}; pwd >${file("cwd")}\n`);
		while (!read("status").startsWith(`${id}:`)) await sleep(LOOK_MS);
		return { exitCode: Number(read("status").split(":")[1]), output: read("out") + read("err") };
	};
}
