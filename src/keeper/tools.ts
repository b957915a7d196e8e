/** Which tools this box has. Looked up once a runtime, by name in the standard places: the command's PATH is its own. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { HoldfastError } from "../base/errors.js";

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
	readonly pty: PtyTool | undefined;
	/** What to put before a command to make it the one that orphans below it go to; needs perl. */
	readonly subreaper: readonly string[] | undefined;
	/** Where the files of this room are, when that is not here but on another machine. */
	readonly scripts?: string;
}

/** What makes a PTY here: script(1), or one of our stand-ins for it run by python3 or perl. */
export interface PtyTool {
	readonly name: "script" | "python3" | "perl";
	readonly program: string;
	readonly relay: string; // `script`, or the path of our stand-in
}

export const keeperFile = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const PATH = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

export function findTools(searchPath: readonly string[] = PATH): Tools {
	const find = (name: string) => searchPath.map((dir) => path.join(dir, name)).find(isExecutable);
	const need = (name: string) => {
		const found = find(name);
		if (!found)
			throw new HoldfastError("UNSUPPORTED", `this box has no ${name} in ${searchPath.join(":")}; install it (package coreutils or util-linux, or busybox)`);
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
		fallocate: fallocate && keepsSize(fallocate) ? fallocate : undefined,
		df: find("df"),
		pty: findPty(find),
		subreaper: findSubreaper(find("perl")),
	};
}

function findPty(find: (name: string) => string | undefined): PtyTool | undefined {
	if (!find("stty")) return undefined;
	const script = find("script");
	if (script && knows(script, "--log-timing")) return { name: "script", program: script, relay: "script" };
	const python = find("python3");
	if (python) return { name: "python3", program: python, relay: keeperFile("pty.py") };
	const perl = find("perl");
	if (perl) return { name: "perl", program: perl, relay: keeperFile("pty.pl") };
	return undefined;
}

const PRCTL: Partial<Record<NodeJS.Architecture, number>> = { x64: 157, arm64: 167, riscv64: 167, ppc64: 171, s390x: 172, ia32: 172, arm: 172 };

/** No standard tool sets PR_SET_CHILD_SUBREAPER (36); it survives exec and is not inherited by children. */
function findSubreaper(perl: string | undefined): readonly string[] | undefined {
	const number = PRCTL[process.arch];
	return perl && number ? [perl, "-e", "syscall(shift() + 0, 36, 1, 0, 0, 0); exec @ARGV", String(number)] : undefined;
}

/** busybox' fallocate has no -n: it would make the file longer instead of reserving room behind its end. */
const keepsSize = (program: string): boolean => knows(program, "--keep-size");

const knows = (program: string, option: string): boolean => {
	const { stdout, stderr } = spawnSync(program, ["--help"], { encoding: "utf8", timeout: 5_000, stdio: ["ignore", "pipe", "pipe"] });
	return `${stdout}${stderr}`.includes(option);
};

function isExecutable(file: string): boolean {
	try {
		fs.accessSync(file, fs.constants.X_OK);
		return fs.statSync(file).isFile();
	} catch {
		return false; // not there, or not for us
	}
}
