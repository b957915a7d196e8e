/** Another machine that is this one: its kernel is asked through sh, by different means. */
import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Kernel } from "../../src/base/kernel.js";
import { farKernel } from "../../src/places/far/kernel.js";
import type { Runs } from "../../src/places/far/questions.js";
import { Process } from "../../src/process/process.js";
import { tempDir } from "./home.js";

const BUSYBOX = ["/usr/bin/busybox", "/bin/busybox"].find((file) => fs.existsSync(file));
const TOOLS = ["cat", "readlink", "stat", "ls", "dd", "grep", "tr", "stty", "uname"];
const has = (name: string): string | undefined => ["/usr/bin", "/bin"].map((dir) => path.join(dir, name)).find((file) => fs.existsSync(file));

/** What is there to answer with. */
export const BOXES: Readonly<Record<string, { readonly possible: boolean; run(): Runs }>> = {
	"a box with perl": { possible: has("perl") !== undefined, run: () => runner("/bin/sh") },
	"a box without perl": { possible: true, run: () => runner("/bin/sh", toolsOnly()) },
	"bash without perl": { possible: has("bash") !== undefined, run: () => runner(has("bash") ?? "", toolsOnly()) },
	"a box of busybox": { possible: BUSYBOX !== undefined, run: () => busybox(BUSYBOX ?? "") },
};

function toolsOnly(): string {
	const bin = path.join(tempDir("tools"), "bin");
	fs.mkdirSync(bin);
	for (const name of TOOLS) fs.symlinkSync(has(name) ?? name, path.join(bin, name));
	return bin;
}

function busybox(file: string): Runs {
	const bin = path.join(tempDir("busybox"), "bin");
	fs.mkdirSync(bin);
	execFileSync(file, ["--install", "-s", bin]);
	return runner(path.join(bin, "sh"), bin);
}

/** With a count of how often something was run. */
export function runner(sh: string, bin?: string, who: { uid?: number } = {}): Runs & { count: number } {
	const run = (script: string) => {
		run.count++;
		return new Promise<{ status: number; output: Buffer }>((resolve, reject) => {
			const options = { encoding: "buffer" as const, maxBuffer: 1 << 28, env: { PATH: bin ?? process.env.PATH ?? "" }, ...who };
			execFile(sh, ["-c", script], options, (error, output) => {
				if (error && typeof error.code !== "number") reject(error);
				else resolve({ status: Number(error?.code ?? 0), output });
			});
		});
	};
	run.count = 0;
	return run;
}

/** The same process in the eyes of one to whom it runs on another machine. */
export const seenFrom = (process: Process, kernel: Kernel): Process => Object.assign(new Process(process.dir, process.spec, () => {}), { kernel });

export const kernelOf = (box: keyof typeof BOXES): Kernel => farKernel({ run: (BOXES[box] as { run(): Runs }).run() });
