/** A terminal device as the kernel knows it: which one a process has, and its modes. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import { statOf } from "./procfs.js";

/** Numbers of the device node: the same terminal whatever its path is called, in whatever container. */
export interface Tty {
	readonly path: string; // a way to it through /proc
	readonly dev: number;
	readonly rdev: number;
}

/** How the terminal treats what is typed. */
export interface TtyModes {
	/** Line by line, with the kernel's own editing; without it the program gets every key. */
	readonly canonical: boolean;
	readonly echo: boolean;
}

const DEV_TTY = 0x500; // device 5:0, "my terminal"
const PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/** The terminal that a process has as its stdin, stdout or stderr. */
export function ttyOf(pid: number): Tty | undefined {
	for (const fd of [0, 1, 2]) {
		const path = `/proc/${pid}/fd/${fd}`;
		const stat = statOf(path);
		if (stat && isPts(stat.rdev)) return { path, dev: stat.dev, rdev: stat.rdev };
	}
	return undefined;
}

/** Is this descriptor of a process of that terminal's session the terminal? */
export function isTty(pid: number, fd: number, tty: Tty): boolean {
	const stat = statOf(`/proc/${pid}/fd/${fd}`);
	return stat !== undefined && ((stat.rdev === tty.rdev && stat.dev === tty.dev) || stat.rdev === DEV_TTY);
}

/**
 * No file says what modes a terminal is in and Node cannot ask, so stty(1) does, which takes a few milliseconds. We open
 * the terminal for it, with O_NOCTTY: a daemon without a terminal must not get this one. undefined: it would not say.
 */
export async function modesOf(tty: Tty): Promise<TtyModes | undefined> {
	let fd: number;
	try {
		fd = fs.openSync(tty.path, fs.constants.O_RDONLY | fs.constants.O_NOCTTY | fs.constants.O_NONBLOCK);
	} catch {
		return undefined; // hung up meanwhile, or not ours to open
	}
	try {
		const text = await stty(fd);
		const flag = (name: string) => new RegExp(`(?:^|[\\s;])(-?)${name}(?=[\\s;]|$)`).exec(text);
		const canonical = flag("icanon");
		const echo = flag("echo");
		return canonical && echo ? { canonical: canonical[1] === "", echo: echo[1] === "" } : undefined;
	} finally {
		fs.closeSync(fd);
	}
}

/** What stty says of the terminal that it has as its stdin; nothing when there is no stty or it fails. */
function stty(fd: number): Promise<string> {
	return new Promise((resolve) => {
		const child = spawn("stty", ["-a"], { stdio: [fd, "pipe", "ignore"], env: { PATH, LC_ALL: "C" }, timeout: 5_000 });
		let text = "";
		child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
			text += piece;
		});
		child.on("error", () => resolve(""));
		child.on("close", () => resolve(text));
	});
}

function isPts(rdev: number): boolean {
	const major = (rdev >> 8) & 0xfff;
	return major >= 136 && major <= 143; // UNIX98 PTYs
}
