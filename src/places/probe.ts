/** Checks whether sandboxes can be made on this machine, and with which tools. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { readIfThere } from "../base/index.js";

export interface SandboxTools {
	readonly bwrap: string;
	readonly nsenter: string;
	readonly unshare: string;
	readonly setpriv: string;
	readonly rm: string;
	/** A prefix that runs a command with its own session keyring; empty if no tool can do that. */
	readonly keyless: readonly string[];
}

const PATH = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];
const NEEDED: Readonly<Record<string, string>> = {
	bwrap: "bubblewrap",
	nsenter: "util-linux",
	unshare: "util-linux",
	setpriv: "util-linux",
	mount: "mount or util-linux",
	rm: "coreutils",
};

/** Returns the tools, or what is missing and what to do about it. */
export function findSandboxTools(searchPath: readonly string[] = PATH): SandboxTools | { readonly missing: string } {
	const found: Record<string, string> = {};
	for (const [name, source] of Object.entries(NEEDED)) {
		const file = searchPath.map((dir) => path.join(dir, name)).find((candidate) => fs.existsSync(candidate));
		if (file === undefined) return { missing: `there is no ${name} here; install it (package ${source})` };
		found[name] = file;
	}
	return { ...(found as unknown as SandboxTools), keyless: keyless(searchPath) };
}

const KEYCTL: Readonly<Record<string, number>> = { x64: 250, arm64: 219 };

/** Kernel keys of a login (tickets, disk keys) are available to all its processes, in any namespace. */
function keyless(searchPath: readonly string[]): string[] {
	const perl = searchPath.map((dir) => path.join(dir, "perl")).find((candidate) => fs.existsSync(candidate));
	const number = KEYCTL[process.arch];
	if (perl === undefined || number === undefined) return [];
	// ENOSYS or EPERM (in a container): then no process inside can ask for a key either.
	return [perl, "-e", `syscall(${number}, 1, 0) < 0 && $! != 38 && $! != 1 && die "a keyring cannot be made: $!\\n"; exec {$ARGV[0]} @ARGV; exit 126`];
}

/** For the process that keeps a sandbox, over the sandbox alone, until it drops them: see holder.sh. */
export const CAPABILITIES = ["SYS_ADMIN", "SYS_RESOURCE", "SETUID", "SETGID", "SETFCAP"].flatMap((name) => ["--cap-add", `CAP_${name}`]);

/**
 * bubblewrap goes through the mounts of the machine one by one, and fails when one of them disappears meanwhile, as with every container that
 * ends. By the retry that mount is gone.
 */
export const mountWentAway = (words: string): boolean => /Unable to apply mount flags: remount .*: Invalid argument/.test(words);
export const MOUNT_TRIES = 5;

/** Tries what a sandbox needs of the kernel and of bubblewrap; returns undefined if it works. Takes a few milliseconds. */
export function sandboxObstacle({ bwrap }: SandboxTools): string | undefined {
	const spaces = ["--unshare-user", "--uid", "0", "--gid", "0", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"];
	const mounts = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--perms", "0755", "--size", "65536", "--tmpfs", "/tmp"];
	const ids = [`--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`];
	const back = `echo 1 >/proc/sys/user/max_user_namespaces && mount --bind /proc/sys /proc/sys && exec unshare --user ${ids.join(" ")} -- setpriv --no-new-privs true`;
	const argv = [...spaces, ...mounts, "--cap-drop", "ALL", ...CAPABILITIES, "sh", "-c", back];
	for (let tries = 1; ; tries++) {
		const { status, stderr, error } = spawnSync(bwrap, argv, { encoding: "utf8", timeout: 10_000, stdio: ["ignore", "ignore", "pipe"] });
		if (status === 0) return undefined;
		const words = error?.message ?? (stderr.trim().split("\n")[0] || `bubblewrap ended with ${status}`);
		if (!mountWentAway(words) || tries === MOUNT_TRIES) return explain(words);
	}
}

/** Returns the version that bubblewrap reports. */
export const versionOf = ({ bwrap }: SandboxTools): string => spawnSync(bwrap, ["--version"], { encoding: "utf8", timeout: 5_000 }).stdout?.trim() || bwrap;

/** Returns the message of bubblewrap, and what to do. */
export function explain(words: string): string {
	if (/Unknown option/.test(words)) return `this bubblewrap is too old (${words}); install version 0.6 or later`;
	const off = ["/proc/sys/user/max_user_namespaces", "/proc/sys/kernel/unprivileged_userns_clone"].find((file) => readIfThere(file)?.trim() === "0");
	if (off)
		return `user namespaces are turned off on this machine; an administrator can allow them (sysctl ${off.slice("/proc/sys/".length).replaceAll("/", ".")})`;
	if (readIfThere("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")?.trim() === "1" && /ermission|uid map|Operation not permitted/.test(words))
		return `AppArmor keeps programs from making user namespaces (${words}); an administrator can allow it for bwrap with a profile, or with sysctl kernel.apparmor_restrict_unprivileged_userns=0`;
	if (/proc/i.test(words) && /not permitted|ermission/.test(words))
		return `the kernel does not let a sandbox have a /proc of its own here (${words}), as inside most containers; run Holdfast outside, or let the container have an unmasked /proc`;
	return `bubblewrap cannot make one here (${words})`;
}
