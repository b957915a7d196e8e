/**
 * The tools of a machine: this one (looked up once per runtime, by name in the standard directories, since PATH belongs to the command), or one that
 * reports its own.
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { machine } from "node:os";
import path from "node:path";
import { asset, HoldfastError } from "../base/index.js";

export interface Tools {
	readonly sh: string;
	readonly dd: string;
	readonly rm: string;
	readonly sleep: string;
	readonly setsid: string;
	readonly mkfifo: string;
	readonly stty: string;
	readonly bash: string | undefined;
	readonly fallocate: string | undefined;
	readonly df: string | undefined;
	readonly perl: string | undefined;
	readonly pty: PtyTool | undefined;
	/** The prefix that makes a command the subreaper of orphans below it; needs perl. */
	readonly subreaper: readonly string[] | undefined;
	/** The directory of the keeper's scripts, if on another machine. */
	readonly scripts?: string;
}

/**
 * The program that creates a PTY: our relay in perl, which writes the log itself; else ours in python3, or script(1), whose commands must share T's
 * process group.
 */
export interface PtyTool {
	readonly name: "perl" | "script" | "python3";
	readonly program: string;
	readonly relay: string; // `script`, or the path of our relay
	/** The number of clock_gettime(2), for perl. */
	readonly clock?: number;
}

export const keeperFile = (name: string): string => asset(`keeper/${name}`);

const PATH = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

/** The facts about a machine that its tools are derived from. */
export interface Tooled {
	find(tool: string): string | undefined;
	/** Returns whether fallocate(1) can reserve room after the end of a file, or script(1) can log times. */
	can(what: "fallocate" | "script", program: string): boolean;
	/** As uname(1) prints it: `x86_64`. */
	readonly machine: string;
	/** Returns the error text for a missing required tool. */
	lacks(tool: string): string;
	/** Returns the path of one of the keeper's scripts on that machine. */
	script(name: string): string;
}

export const findTools = (searchPath: readonly string[] = PATH): Tools =>
	toolsOf({
		find: (name) => searchPath.map((dir) => path.join(dir, name)).find(isExecutable),
		can: (what, program) => knows(program, what === "fallocate" ? "--keep-size" : "--log-timing"),
		machine: machine(),
		lacks: (name) => `this box has no ${name} in ${searchPath.join(":")}; install it (package coreutils or util-linux, or busybox)`,
		script: keeperFile,
	});

export function toolsOf(box: Tooled): Tools {
	const { find } = box;
	const need = (name: string) => {
		const found = find(name);
		if (!found) throw new HoldfastError("UNSUPPORTED", box.lacks(name));
		return found;
	};
	const fallocate = find("fallocate");
	return {
		sh: need("sh"),
		dd: need("dd"),
		rm: need("rm"),
		sleep: need("sleep"),
		setsid: need("setsid"),
		mkfifo: need("mkfifo"),
		stty: find("stty") ?? "",
		bash: find("bash"),
		fallocate: fallocate && box.can("fallocate", fallocate) ? fallocate : undefined, // busybox's would extend the file instead
		df: find("df"),
		perl: find("perl"),
		pty: ptyOf(box),
		subreaper: subreaperOf(find("perl"), box.machine),
	};
}

function ptyOf({ find, can, machine, script: own }: Tooled): PtyTool | undefined {
	if (!find("stty")) return undefined;
	const perl = find("perl");
	const clock = CLOCK[machine];
	if (perl && clock) return { name: "perl", program: perl, relay: own("pty.pl"), clock };
	const python = find("python3");
	if (python) return { name: "python3", program: python, relay: own("pty.py") };
	const script = find("script");
	if (script && can("script", script)) return { name: "script", program: script, relay: "script" };
	return undefined;
}

/** The number of clock_gettime(2), by machine. Others also have other ioctl(2) numbers, or other sizes. */
export const CLOCK: Readonly<Record<string, number>> = { x86_64: 228, aarch64: 113, riscv64: 113 };

/** The number of prctl(2), by machine. */
const PRCTL: Readonly<Record<string, number>> = {
	x86_64: 157,
	aarch64: 167,
	riscv64: 167,
	ppc64le: 171,
	ppc64: 171,
	s390x: 172,
	i686: 172,
	armv7l: 172,
	armv6l: 172,
};

/** Returns the subreaper prefix. No standard tool sets PR_SET_CHILD_SUBREAPER (36); it survives exec and is not inherited by children. */
function subreaperOf(perl: string | undefined, box: string): readonly string[] | undefined {
	const number = PRCTL[box];
	return perl && number ? [perl, "-e", "syscall(shift() + 0, 36, 1, 0, 0, 0); exec @ARGV", String(number)] : undefined;
}

const knows = (program: string, option: string): boolean => {
	// A standalone program contains its option names: searching the file takes a tenth of the time. For busybox that proves nothing.
	if (path.basename(fs.realpathSync(program)) === path.basename(program) && fs.readFileSync(program).includes(option.slice(2))) return true;
	const { stdout, stderr } = spawnSync(program, ["--help"], { encoding: "utf8", timeout: 5_000, stdio: ["ignore", "pipe", "pipe"] });
	return `${stdout}${stderr}`.includes(option);
};

function isExecutable(file: string): boolean {
	try {
		fs.accessSync(file, fs.constants.X_OK);
		return fs.statSync(file).isFile();
	} catch {
		return false; // missing, or not permitted
	}
}
