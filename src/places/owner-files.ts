/**
 * Owners of machines, in files of this user, for kinds that can write only digests on the machine itself: others may read its labels, or there is no
 * room for
 * more. The files outlive the home, so that leftovers of a home can be told from machines in use.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import * as z from "zod";
import { ensureDir, errno, ownEnvironment, readIfThere, unlinkIfThere, writeWhole } from "../base/index.js";
import type { HostOwner } from "./kind.js";
import { MACHINE_NAME, machineName } from "./owner.js";

const OWNER = z.object({
	home: z.string(),
	task: z.string(),
	host: z.string(),
	/** Other facts that the kind records. */
	more: z.record(z.string(), z.string()).default({}),
});
export type MachineOwner = z.output<typeof OWNER>;

export interface OwnerFiles {
	readonly dir: string;
	remember(owner: HostOwner, more?: Readonly<Record<string, string>>): void;
	forget(name: string): void;
	/** Returns the owner of the machine with this name, if a program of this user has made it. */
	of(name: string): MachineOwner | undefined;
	/** Returns the names of all machines. */
	names(): string[];
}

/** `folder`: the kind's own, below `~/.local/state/holdfast`. */
export function ownerFiles(folder: string, env: NodeJS.ProcessEnv = ownEnvironment()): OwnerFiles {
	const state = env.XDG_STATE_HOME && path.isAbsolute(env.XDG_STATE_HOME) ? env.XDG_STATE_HOME : path.join(env.HOME ?? os.homedir(), ".local/state");
	const dir = path.join(state, "holdfast", folder);
	const fileOf = (name: string) => path.join(dir, `${name}.json`);
	return {
		dir,
		remember: ({ home, task }, more = {}) => {
			ensureDir(dir);
			writeWhole(fileOf(machineName({ home, task })), `${JSON.stringify({ home, task, host: os.hostname(), more })}\n`);
		},
		forget: (name) => unlinkIfThere(fileOf(name)),
		of: (name) => {
			try {
				return OWNER.parse(JSON.parse(readIfThere(fileOf(name)) ?? ""));
			} catch {
				return undefined;
			}
		},
		names: () => {
			try {
				return fs
					.readdirSync(dir)
					.map((file) => path.basename(file, ".json"))
					.filter((name) => MACHINE_NAME.test(name));
			} catch (error) {
				if (errno(error) === "ENOENT") return [];
				throw error;
			}
		},
	};
}
