/** Directories for images and the files of instances: on a cluster the home is small, and /tmp is removed with the job. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { ensureDir, HoldfastError, ownEnvironment } from "../../base/index.js";

export interface Scratch {
	/** The path as a person would write it. */
	readonly root: string;
	/** `root/holdfast`, private to this user. */
	readonly dir: string;
	readonly images: string;
	readonly temporary: string;
}

/** The files of one instance. */
export interface InstanceDirs {
	readonly dir: string;
	/** Changes to the instance's root file system. */
	readonly overlay: string;
	/** Its /tmp, /var/tmp and home. */
	readonly work: string;
	/** Holdfast's own files, mounted inside as STATE_DIR. */
	readonly state: string;
	readonly owner: string;
}

export const STATE_DIR = "/var/lib/holdfast";

/** Returns the requested directory, else APPTAINER_TMPDIR, /scratch/USER, or the state directory. Creates nothing. */
export function scratchOf(asked: string | undefined, env: NodeJS.ProcessEnv = ownEnvironment()): Scratch {
	const user = userName();
	const own = [env.APPTAINER_TMPDIR, env.SINGULARITY_TMPDIR].find((dir) => dir !== undefined && path.isAbsolute(dir));
	const shared = user === undefined ? undefined : [`/scratch/${user}`, `/scratch/users/${user}`].find(isWritable);
	const state = env.XDG_STATE_HOME && path.isAbsolute(env.XDG_STATE_HOME) ? env.XDG_STATE_HOME : path.join(env.HOME ?? os.homedir(), ".local/state");
	const root = asked ?? own ?? shared ?? state;
	const dir = path.join(root, "holdfast");
	return { root, dir, images: path.join(dir, "images"), temporary: path.join(dir, "tmp") };
}

export const dirsOf = ({ dir: scratch }: Scratch, name: string): InstanceDirs => {
	const dir = path.join(scratch, name);
	const at = (part: string) => path.join(dir, part);
	return { dir, overlay: at("overlay"), work: at("work"), state: at("state"), owner: at("owner.json") };
};

/** Creates the directories. Throws if they cannot be used, for example because another user owns them. */
export function makeScratch({ root, dir, images, temporary }: Scratch): void {
	try {
		for (const made of [dir, images, temporary]) ensureDir(made);
	} catch (error) {
		throw new HoldfastError(
			"START_FAILED",
			`there is no room for Apptainer's images and files in ${root} (${(error as Error).message}); name another directory with \`scratch\``,
			{ cause: error },
		);
	}
	const { uid, mode } = fs.statSync(dir);
	if (uid !== process.getuid?.()) throw new HoldfastError("START_FAILED", `${dir} belongs to another user; name another directory with \`scratch\``);
	if (mode & 0o077) fs.chmodSync(dir, 0o700);
}

function isWritable(dir: string): boolean {
	try {
		fs.accessSync(dir, fs.constants.W_OK);
		return true;
	} catch {
		return false;
	}
}

function userName(): string | undefined {
	try {
		return os.userInfo().username;
	} catch {
		return undefined; // a user without a passwd entry
	}
}
