/** The sandboxed local place: how a command enters an existing sandbox, and what it shares with its keeper outside. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { ensureDir, HoldfastError, type Identity, isAlive, isId, namesIn, onlyThese, readProc, removeDir, statIfThere } from "../base/index.js";
import { commandEnd, type Files, remoteFiles } from "./files/index.js";
import { existingParent } from "./local/directory.js";
import { checkDirectory } from "./local/place.js";
import type { Machine } from "./machine.js";
import type { Place, Sandbox } from "./place.js";
import type { SandboxTools } from "./probe.js";
import { INSIDE } from "./view.js";

const SANDBOX_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
const SHARED_MOST = 256; // shared directories of ended processes, until they are removed

/** Addresses of programs outside, and directories that do not exist inside. */
const WITHOUT = [
	...["SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DOCKER_HOST", "TMUX", "STY"],
	...["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TMPDIR", "TEMP", "TMP"],
];

export interface Kept {
	/** The process that keeps it alive. */
	readonly id: string;
	/** The first process inside, and the one whose user namespace commands get. */
	readonly init: Identity;
	readonly guard: Identity;
	/** The sandbox's directory in the home. */
	readonly dir: string;
	readonly cwd: string;
	readonly network: boolean;
	readonly tools: SandboxTools;
	readonly machine: Machine;
	/** Returns the local directory that its task starts in. */
	own(): string;
}

export function sandboxPlace(kept: Kept): Place {
	const root = `/proc/${kept.init.pid}/root`;
	const at = (file: string) => root + path.resolve("/", file);
	const isMissing = (dir: string) =>
		`the working directory ${dir} is not in the task's sandbox, which was made for ${kept.cwd}; use that, another task, or sandbox.read and sandbox.write in config.json; nothing was run`;
	const inside = sandbox(kept);
	return {
		name: "local+sandbox",
		cwd: kept.cwd,
		machine: kept.machine,
		sandbox: inside,
		sees: "part",
		files: filesIn(kept),
		at,
		directory: (asked = kept.own()) => checkDirectory(asked, { at, isMissing }),
		birthplace: (wanted = kept.own()) => (existingParent(wanted, at) === path.resolve(wanted) ? wanted : kept.cwd), // this program may have been started in another directory than the one that made it
	};
}

/** Returns the files of a sandbox. A shell inside reads and writes them: a path from inside could lead a program outside astray. */
function filesIn({ guard, init, network, tools }: Kept): Files {
	const words = entryWords(tools, { init: init.pid, guard: insidePid(guard.pid), network, apart: false });
	const shell = () => {
		if (!isAlive(guard)) throw new HoldfastError("START_FAILED", "nothing was done: the sandbox has ended; try again, and a new one is made");
		return [...words, "sh"];
	};
	return remoteFiles(commandEnd(shell, { PATH: SANDBOX_PATH, HOME: "/", LC_ALL: "C" }));
}

function sandbox({ id, init, guard, dir, network, tools }: Kept): Sandbox {
	const shared = `${INSIDE}/shared`;
	const sharedHere = path.join(dir, "shared");
	const words = entryWords(tools, { init: init.pid, guard: insidePid(guard.pid), network, apart: true });
	return {
		id,
		scripts: INSIDE,
		shared,
		sharedHere,
		without: WITHOUT,
		ownNetwork: !network,
		pid: init.pid,
		entry: (process) => ({ guard, words, scripts: `${INSIDE}/keeper`, dir: `${shared}/${process}` }),
		share(process, from, names) {
			// Made outside and moved in whole: nothing is ever written through a name that a process inside could have changed.
			const made = path.join(dir, process);
			removeDir(made); // of a failed attempt
			fs.mkdirSync(made, { mode: 0o700 });
			fs.chmodSync(sharedHere, 0o700); // a process inside may have locked it
			for (const name of names) {
				ensureDir(path.dirname(path.join(made, name)));
				fs.linkSync(path.join(from, name), path.join(made, name));
			}
			const name = path.join(sharedHere, process);
			if (fs.lstatSync(name, { throwIfNoEntry: false })) fs.renameSync(name, `${name}.${randomBytes(4).toString("hex")}`); // not ours: a process inside has made it
			fs.renameSync(made, name);
			if (namesIn(sharedHere).length > SHARED_MOST) tidy(words, tools, { sharedHere, shared, home: path.resolve(dir, "..", "..") });
		},
	};
}

/**
 * Returns the words that enter a sandbox: first its namespaces, where we are root, then the one where we are the user again and cannot gain rights.
 * In between comes a UTS namespace for this process alone: it changes nothing, but all descendants keep
 * it for ever, and so can be found by it (`apart`). Our helpers do without: the kernel reuses the number of a namespace that is gone,
 * and a kill of its former process would find them.
 */
function entryWords(
	{ nsenter, unshare, setpriv, keyless }: SandboxTools,
	{ init, guard, network, apart }: { init: number; guard: number; network: boolean; apart: boolean },
): string[] {
	const kinds = ["--user", "--mount", "--pid", "--ipc", "--uts", ...(network ? [] : ["--net"])];
	return [
		...keyless,
		...[nsenter, "--no-fork", "--preserve-credentials", "--target", String(init), ...kinds, "--"],
		...(apart ? [unshare, "--uts", "--"] : []),
		...[nsenter, "--preserve-credentials", "--target", String(guard), "--user", "--"],
		...[setpriv, "--no-new-privs", ...noCapabilities(), "--"],
	];
}

/** Returns the options that drop capabilities: root keeps them through an exec, another user does not. */
export const noCapabilities = (): string[] => (process.getuid?.() === 0 ? ["--bounding-set=-all", "--inh-caps=-all"] : []);

function insidePid(pid: number): number {
	const inside = /^NSpid:.*\s(\d+)$/m.exec(readProc(`/proc/${pid}/status`) ?? "")?.[1];
	if (inside === undefined) throw new HoldfastError("START_FAILED", "nothing ran: the sandbox ended while it was being entered; try again");
	return Number(inside);
}

/** Removes files of ended processes. Runs inside the sandbox: outside, a process of the sandbox could replace a directory by a link meanwhile. */
function tidy(words: readonly string[], { rm }: SandboxTools, at: { sharedHere: string; shared: string; home: string }): void {
	const gone = namesIn(at.sharedHere).filter((id) => isId(id) && !statIfThere(path.join(at.home, "procs", id.charAt(5), id)));
	if (gone.length === 0) return;
	const [program, ...rest] = [...words, rm, "-rf", "--", ...gone.map((id) => `${at.shared}/${id}`)];
	const child = spawn(program as string, rest, { env: {}, cwd: "/", stdio: onlyThese("ignore", "ignore", "ignore") });
	child.once("error", () => {}); // the next call retries
}
