/** Removes the files of an instance. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { HoldfastError } from "../../base/index.js";
import type { Program } from "../child.js";
import { sifFile } from "./image.js";
import type { ApptainerSettings } from "./options.js";
import type { InstanceDirs, Scratch } from "./scratch.js";

export interface Helper {
	readonly program: Program;
	readonly settings: Pick<ApptainerSettings, "image">;
	readonly scratch: Scratch;
}

/**
 * Renames the directories first, so that a new instance finds nothing of this one. With a helper, also removes files that root inside made for other
 * users.
 */
export function removeDirs(dirs: InstanceDirs, helper?: Helper): void {
	const aside = `${dirs.dir}.gone-${process.pid}-${Date.now()}`;
	try {
		fs.renameSync(dirs.dir, aside);
	} catch {
		return; // another program was faster
	}
	try {
		unlock(aside);
		fs.rmSync(aside, { recursive: true, force: true });
	} catch (error) {
		const { program, settings, scratch } = helper ?? {};
		const parent = path.dirname(aside);
		if (program && settings && scratch) {
			const args = [
				"-s",
				"exec",
				"-e",
				"--containall",
				"--fakeroot",
				"--bind",
				`${parent}:/mnt`,
				sifFile(settings, scratch),
				"rm",
				"-rf",
				`/mnt/${path.basename(aside)}`,
			];
			spawnSync(program.name, args, { env: program.env, stdio: "ignore", timeout: 60_000 });
		}
		if (fs.existsSync(aside))
			throw new HoldfastError("DENIED", `${aside} cannot be removed (${(error as Error).message}): files of other users are in it. Remove it by hand`, {
				cause: error,
			});
	}
}

/** The kernel creates a directory in `overlay/work` that even its owner may not enter. */
function unlock(dir: string): void {
	for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
		if (!entry.isDirectory()) continue;
		const file = path.join(dir, entry.name);
		const { mode } = fs.lstatSync(file);
		if ((mode & 0o700) !== 0o700) fs.chmodSync(file, 0o700);
		unlock(file);
	}
}
