/** The owner of a task's machine, as recorded on it: names, labels, files. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

/** Returns the same short text for the same value. */
export const digest = (value: unknown, length: number): string =>
	createHash("sha256")
		.update(JSON.stringify(value) ?? "")
		.digest("hex")
		.slice(0, length);

/** Returns the name of the one machine of a task, for every kind: programs with the same home find it by this name. */
export const machineName = ({ home, task }: { readonly home: string; readonly task: string }): string => `holdfast-${digest([os.hostname(), home, task], 16)}`;

/** Matches what `machineName` returns. */
export const MACHINE_NAME = /^holdfast-[0-9a-f]{16}$/;

/** Returns a digest per setting: a machine that was made with other settings is never used silently. */
export const settingsDigests = (settings: object): Record<string, string> =>
	Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, digest(value, 12)]));

/** Returns the names of the settings that differ. */
export const differing = (made: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): string[] =>
	[...new Set([...Object.keys(made), ...Object.keys(wanted)])].filter((name) => made[name] !== wanted[name]);

/** Returns whether the home of a machine is gone, so that no program will use it again; null: the home is on another host, or is no path. */
export const homeIsGone = ({ home, host }: { readonly home: string; readonly host: string }): boolean | null =>
	host === os.hostname() && path.isAbsolute(home) ? !fs.existsSync(home) : null;
