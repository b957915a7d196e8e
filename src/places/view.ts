/** The view of this machine in a sandbox: the arguments of bubblewrap. docs/sandbox.md lists it for people. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { asset, configDir, HoldfastError, type SandboxSettings } from "../base/index.js";

/** The directory of Holdfast's own files in a sandbox. */
export const INSIDE = "/run/holdfast";

const SMALL_BYTES = 64 * 1024 * 1024;

/** The directories of the root that belong to the system. Everything else there belongs to users: homes, projects, disks. */
const SYSTEM = ["bin", "dev", "etc", "gnu", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc", "sbin", "sys", "usr", "var"];
/** Hidden parts of these: sockets of powerful programs, and temporary files of all users. */
const HIDDEN = ["/var/tmp", "/var/lib/lxd", "/var/snap/lxd", "/var/lib/incus", "/var/spool/cron", "/var/lib/docker"];
/** Readable for root. A user who is root outside has root's files inside too. */
const ROOTS = [
	...["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private", "/etc/krb5.keytab"],
	...["/etc/ssh", "/etc/wireguard", "/etc/NetworkManager/system-connections", "/var/log", "/var/backups"],
];
/** The parts of /run that programs need: names of hosts, and on NixOS all programs. */
const NEEDED = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf", "/run/current-system"];
/** Too much to be written to. */
const NOT_WRITABLE = ["/", "/tmp", "/var/tmp", "/etc", "/usr", "/var", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/boot", "/dev", "/proc", "/sys", "/run"];

export interface View {
	readonly directory: string;
	readonly arguments: string[];
}

/** Paths are followed to where they really are; one that is not there is an error. */
export function viewOf(settings: SandboxSettings, from: { cwd: string; home: string; shared: string }): View {
	const own = [os.homedir(), loginHome()].filter((dir) => path.isAbsolute(dir) && dir !== "/").map(realOr);
	const expand = (file: string) => (/^~(?=\/|$)/.test(file) ? (own[0] ?? "/") + file.slice(1) : file);
	const there = (file: string, what: string): string => {
		const full = expand(file);
		try {
			return fs.realpathSync(full);
		} catch (cause) {
			throw new HoldfastError("CONFIG", `the sandbox cannot be made: ${full} (sandbox.${what} in config.json) does not exist`, { cause });
		}
	};
	const directory = settings.directory === undefined ? fs.realpathSync(from.cwd) : there(settings.directory, "directory");
	const write = [directory, ...settings.write.map((file) => there(file, "write"))];
	for (const dir of write) checkWritable(dir, own, from.home);
	const read = settings.read.map((file) => there(file, "read"));
	const hidden = [...notSystem(), ...HIDDEN, ...own, ...(process.getuid?.() === 0 ? ROOTS : []), ...settings.hide.map(expand), from.home, configDir()].map(
		realOr,
	);
	const shown = [...read, ...write];
	const big = ["--size", String(settings.tmpBytes)];
	const hide = (file: string): string[] => {
		if (!fs.existsSync(file)) return [];
		if (!fs.statSync(file).isDirectory()) return ["--ro-bind", "/dev/null", file];
		const size = own.includes(file) || /^\/(var\/)?tmp$|^\/home$|^\/root$/.test(file) ? big : ["--size", String(SMALL_BYTES)];
		return ["--perms", /^\/(var\/)?tmp$/.test(file) ? "1777" : "0755", ...size, "--tmpfs", file];
	};
	const outermost = hidden.filter((file, at) => hidden.indexOf(file) === at && !hidden.some((other) => isBelow(file, other)));
	const again = hidden.filter((file, at) => hidden.indexOf(file) === at && shown.some((dir) => isBelow(file, dir)));
	const rooms = asset("");
	return {
		directory,
		arguments: [
			...["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--perms", "1777", ...big, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
			...outermost.flatMap(hide),
			...own.flatMap((dir) => (outermost.some((file) => isBelow(dir, file)) ? ["--dir", dir] : [])),
			...NEEDED.filter((file) => fs.existsSync(file)).flatMap((file) => ["--ro-bind", file, file]),
			...read.flatMap((file) => ["--ro-bind", file, file]),
			...write.flatMap((file) => ["--bind", file, file]),
			...write.map((file) => path.join(file, ".holdfast")).flatMap((file) => (isDirectory(file) ? ["--ro-bind", file, file] : [])), // the rules of the project
			...again.flatMap(hide),
			...["--dir", INSIDE, "--bind", from.shared, `${INSIDE}/shared`],
			...["keeper", "shell", "places"].flatMap((room) => ["--ro-bind", path.join(rooms, room), `${INSIDE}/${room}`]),
			...["--chdir", directory],
		],
	};
}

/** Returns the home directory of the user's login, whatever HOME says; a user without an entry has none. */
function loginHome(): string {
	try {
		return os.userInfo().homedir;
	} catch {
		return "";
	}
}

const notSystem = (): string[] =>
	fs
		.readdirSync("/", { withFileTypes: true })
		.filter((entry) => entry.isDirectory() && !SYSTEM.includes(entry.name))
		.map(({ name }) => `/${name}`);

function checkWritable(dir: string, own: readonly string[], home: string): void {
	const problem = NOT_WRITABLE.includes(dir)
		? "is part of the system"
		: own.some((person) => dir === person || isBelow(person, dir))
			? "holds your whole home, with all that runs when you log in"
			: dir === home || isBelow(dir, home)
				? "is Holdfast's own"
				: undefined;
	if (problem)
		throw new HoldfastError(
			"UNSUPPORTED",
			`${dir} ${problem}, and a sandbox that may write there would protect nothing; start in a directory of its own for the work, or name one as sandbox.directory in config.json`,
		);
}

const isDirectory = (file: string): boolean => fs.lstatSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;

const isBelow = (file: string, dir: string): boolean => file !== dir && file.startsWith(dir.endsWith("/") ? dir : `${dir}/`);

function realOr(file: string): string {
	try {
		return fs.realpathSync(file);
	} catch {
		return path.resolve(file); // not there: then there is nothing to hide
	}
}
