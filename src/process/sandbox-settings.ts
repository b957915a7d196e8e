/** The settings that a sandbox was made with, compared with those that are asked for. */
import { createHash } from "node:crypto";
import { HoldfastError, type SandboxSettings } from "../base/index.js";
import type { Process } from "./process.js";

/** Throws CONFLICT if the sandbox was created with settings other than those requested. */
export function mustBeAsAsked({ id, spec }: Process, settings: SandboxSettings): void {
	const made = spec.view?.settings;
	if (!made) return; // created by a version that did not record its settings
	const asked = digestsOf(settings);
	const other = Object.keys(asked).filter((key) => asked[key] !== made[key]);
	if (other.length > 0)
		throw new HoldfastError(
			"CONFLICT",
			`nothing ran: the task has a sandbox already (${id}), made with other settings (${other.join(", ")}); remove it first, with what is in it (holdfast sandboxes stop ${id}), use those settings, or another task`,
		);
}

/** Returns a digest of each setting, regardless of the order of lists. */
export const digestsOf = ({ network, directory = "", write, read, hide, tmpBytes }: SandboxSettings): Record<string, string> =>
	Object.fromEntries(
		Object.entries({ network, directory, write: [...write].sort(), read: [...read].sort(), hide: [...hide].sort(), tmpBytes }).map(([key, value]) => [
			key,
			createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 12),
		]),
	);
