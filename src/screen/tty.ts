/** A terminal device as the kernel knows it: the one that a process has, and its modes. */
import type { Kernel } from "../base/index.js";

/** Device numbers: they identify a terminal regardless of its path or container. */
export interface Tty {
	readonly path: string; // through /proc
	readonly dev: number;
	readonly rdev: number;
}

/** How the terminal processes input. */
export interface TtyModes {
	/** Line mode, with the kernel's own editing; without it the program gets every key. */
	readonly canonical: boolean;
	readonly echo: boolean;
}

const DEV_TTY = 0x500; // device 5:0, "my terminal"

/**
 * Returns the terminal with this number, which one of these processes has as stdin, stdout or stderr. sudo's own process on it does not: it has the
 * outer terminal.
 */
export async function ttyOf(kernel: Kernel, pids: readonly number[], device: number): Promise<Tty | undefined> {
	if (device === 0) return undefined;
	const paths = pids.flatMap((pid) => [0, 1, 2].map((fd) => `/proc/${pid}/fd/${fd}`));
	const inodes = await kernel.inodes(paths);
	for (const [at, path] of paths.entries()) {
		const inode = inodes[at];
		if (inode?.rdev === device) return { path, dev: inode.dev, rdev: inode.rdev };
	}
	return undefined;
}

/** Returns true if any of these descriptors is the terminal. The process belongs to the terminal's session. */
export async function anyIsTty(kernel: Kernel, pid: number, fds: readonly (number | string)[], tty: Tty): Promise<boolean> {
	const inodes = await kernel.inodes(fds.map((fd) => `/proc/${pid}/fd/${fd}`));
	return inodes.some((inode) => inode !== undefined && ((inode.rdev === tty.rdev && inode.dev === tty.dev) || inode.rdev === DEV_TTY));
}

/** Returns the modes; undefined if they cannot be read. */
export async function modesOf(kernel: Kernel, tty: Tty): Promise<TtyModes | undefined> {
	const text = await kernel.terminal(tty.path);
	const flag = (name: string) => new RegExp(`(?:^|[\\s;])(-?)${name}(?=[\\s;]|$)`).exec(text);
	const canonical = flag("icanon");
	const echo = flag("echo");
	return canonical && echo ? { canonical: canonical[1] === "", echo: echo[1] === "" } : undefined;
}
