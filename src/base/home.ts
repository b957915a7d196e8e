import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Deadlines } from "./due.js";
import { errno, fromSystem, HoldfastError } from "./errors.js";
import { ensureDir } from "./files.js";
import { Redactor } from "./secrets/index.js";
import { DirectoryWatch } from "./watch.js";

/** The directories of one home (docs/keeper.md says what is in each), and what a program that has it open knows of it. */
export interface Home {
	readonly root: string;
	readonly procs: string; // procs/A/proc_Axxxxxxxxxxx: the process directories, on sixteen shelves
	readonly live: string; // live/ID: an empty file for every process not yet known to have ended
	readonly ended: string; // ended/HOUR/MS.ID.TASK.BYTES: one for every ended one
	readonly blank: string; // blank/ID: one for every prepared directory that is not in use yet
	readonly notices: string; // notices/TASK: the pending notices of a task, and the processes that it wants to hear of
	readonly approvals: string; // what waits for a person's answer, and what was answered
	readonly calls: string; // calls/TASK/HASH.N: calls that their callers have given an id
	readonly audit: string; // audit/TASK.jsonl: what was asked, decided, run, and how it ended
	/** The values that are masked in every text about this home. */
	readonly secrets: Redactor;
	/** The deadlines of calls of this home. */
	readonly deadlines: Deadlines;
	readonly watch: DirectoryWatch;
}

export function defaultHome(env: NodeJS.ProcessEnv = process.env): string {
	if (env.HOLDFAST_HOME) return path.resolve(env.HOLDFAST_HOME);
	const state = env.XDG_STATE_HOME && path.isAbsolute(env.XDG_STATE_HOME) ? env.XDG_STATE_HOME : path.join(env.HOME || os.homedir(), ".local", "state");
	return path.join(state, "holdfast");
}

/** The home of this program. A relative one would be another in every directory. */
export function ownHome(): string {
	const { HOLDFAST_HOME } = process.env;
	if (HOLDFAST_HOME && !path.isAbsolute(HOLDFAST_HOME))
		throw new HoldfastError("INVALID", `HOLDFAST_HOME is "${HOLDFAST_HOME}"; it must be an absolute path, or each directory would have a home of its own`);
	return defaultHome();
}

/** Open a home, making it if need be. Everything in it is for its owner alone. */
export function openHome(root: string = ownHome()): Home {
	const home: Home = {
		root,
		procs: path.join(root, "procs"),
		live: path.join(root, "live"),
		ended: path.join(root, "ended"),
		blank: path.join(root, "blank"),
		notices: path.join(root, "notices"),
		approvals: path.join(root, "approvals"),
		calls: path.join(root, "calls"),
		audit: path.join(root, "audit"),
		secrets: new Redactor(),
		deadlines: new Deadlines(),
		watch: new DirectoryWatch(),
	};
	makeHome(home);
	return home;
}

/** Makes the missing directories of a home. */
export function makeHome(home: Home): void {
	const { root } = home;
	try {
		ensureDir(root);
		for (const dir of [home.live, home.ended, home.blank, home.notices, home.approvals, home.calls, home.audit]) ensureDir(dir);
		for (const shelf of "0123456789abcdef") ensureDir(path.join(home.procs, shelf));
		const { mode, uid } = fs.statSync(root);
		if (uid !== process.getuid?.()) throw new HoldfastError("HOME", `${root} belongs to another user; choose another home with HOLDFAST_HOME`);
		if (mode & 0o077) fs.chmodSync(root, 0o700);
	} catch (error) {
		if (["EEXIST", "ENOTDIR"].includes(errno(error) ?? ""))
			throw new HoldfastError("HOME", `cannot use ${root} as home: a file is in its way; choose another with HOLDFAST_HOME`, { cause: error });
		throw fromSystem(error, `cannot use ${root} as home`);
	}
}
