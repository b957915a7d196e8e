/** The sandboxed local place: how a command gets into a sandbox that is there, and what it shares with its keeper outside. */
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

/** Ways to programs outside, and directories that are not there. */
const WITHOUT = [
	...["SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DOCKER_HOST", "TMUX", "STY"],
	...["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TMPDIR", "TEMP", "TMP"],
];

export interface Kept {
	/** Of the process that keeps it. */
	readonly id: string;
	/** The first process in there, and the one whose user namespace commands get. */
	readonly init: Identity;
	readonly guard: Identity;
	/** The sandbox's directory in the home. */
	readonly dir: string;
	readonly cwd: string;
	readonly network: boolean;
	readonly tools: SandboxTools;
	readonly machine: Machine;
	/** Returns where its task starts on this machine. */
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
		birthplace: (wanted = kept.own()) => (existingParent(wanted, at) === path.resolve(wanted) ? wanted : kept.cwd), // this program may have been started elsewhere than the one that made it
	};
}

/** Files of a sandbox are read and written by a shell inside it: a path from inside could lead a program outside astray. */
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
			// Made elsewhere and moved there whole: nothing is ever written through a name that somebody in there could have changed.
			const made = path.join(dir, process);
			removeDir(made); // of a try that failed
			fs.mkdirSync(made, { mode: 0o700 });
			fs.chmodSync(sharedHere, 0o700); // somebody in there may have locked it
			for (const name of names) {
				ensureDir(path.dirname(path.join(made, name)));
				fs.linkSync(path.join(from, name), path.join(made, name));
			}
			const name = path.join(sharedHere, process);
			if (fs.lstatSync(name, { throwIfNoEntry: false })) fs.renameSync(name, `${name}.${randomBytes(4).toString("hex")}`); // not ours: somebody in there has put it there
			fs.renameSync(made, name);
			if (namesIn(sharedHere).length > SHARED_MOST) tidy(words, tools, { sharedHere, shared, home: path.resolve(dir, "..", "..") });
		},
	};
}

/**
 * Into its namespaces first, where we are root, then into the one where we are ourselves again and can become nothing else.
 * In between a namespace for this process alone, of the host's name: it changes nothing, but all that comes from the process has
 * it for ever, and so can be found by it (`apart`). Helpers of ours do without: the kernel gives the number of a namespace that is gone to the next
 * one, and a kill of the process that had it before would find them.
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

/** Removes what is left of processes that are gone. Inside the sandbox: outside, a process of the sandbox could replace a directory by a link meanwhile. */
function tidy(words: readonly string[], { rm }: SandboxTools, at: { sharedHere: string; shared: string; home: string }): void {
	const gone = namesIn(at.sharedHere).filter((id) => isId(id) && !statIfThere(path.join(at.home, "procs", id.charAt(5), id)));
	if (gone.length === 0) return;
	const [program, ...rest] = [...words, rm, "-rf", "--", ...gone.map((id) => `${at.shared}/${id}`)];
	const child = spawn(program as string, rest, { env: {}, cwd: "/", stdio: onlyThese("ignore", "ignore", "ignore") });
	child.once("error", () => {}); // the next one tries again
}
