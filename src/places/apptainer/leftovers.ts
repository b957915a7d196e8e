/** Instances that Holdfast has made on this machine, for every home, with their owners. */
import os from "node:os";
import { HoldfastError, namesIn } from "../../base/index.js";
import { findProgram, programEnvironment } from "../child.js";
import type { Leftover, Leftovers, NamedPlace } from "../kind.js";
import { homeIsGone, MACHINE_NAME } from "../owner.js";
import { endInstance, findInstance, listInstances, readOwner } from "./instance.js";
import { apptainerProgram } from "./program.js";
import { removeDirs } from "./remove.js";
import { dirsOf, scratchOf } from "./scratch.js";

/** Returns each scratch directory once. Includes the default one if Apptainer is installed or the directory has content. */
export async function wheres(named: readonly NamedPlace[]): ReturnType<Leftovers["wheres"]> {
	const asked = named.map(({ options }) => options.scratch).filter((dir) => typeof dir === "string");
	const usual = scratchOf(undefined).root;
	const isUsed = named.length > 0 || namesIn(scratchOf(undefined).dir).some((name) => MACHINE_NAME.test(name));
	const there = findProgram(["apptainer", "singularity"], programEnvironment().PATH) !== undefined;
	const roots = [...(isUsed || there ? [undefined] : []), ...new Set(asked.filter((dir) => dir !== usual))];
	return { notes: [], wheres: roots.map((id) => ({ id, label: `Apptainer's instances${id === undefined ? "" : ` in ${id}`}`, quiet: !isUsed })) };
}

export async function list(root: string | undefined, signal: AbortSignal): Promise<Leftover[]> {
	const scratch = scratchOf(root);
	const running = new Map((await listInstances(apptainerProgram(), "holdfast-*", signal)).map((one) => [one.name, one]));
	const names = namesIn(scratch.dir).filter((name) => MACHINE_NAME.test(name));
	return names.flatMap((name): Leftover[] => {
		const owner = readOwner(dirsOf(scratch, name));
		if (!owner) return []; // being created or removed right now
		const instance = running.get(name);
		const here = owner.host === os.hostname();
		const gone = homeIsGone(owner);
		return [
			{
				id: owner.id,
				name: owner.image,
				task: owner.task,
				home: owner.home,
				// Apptainer knows only the instances of this host.
				state: instance ? "running" : here ? "stopped" : `of ${owner.host}`,
				started_at: owner.created,
				...(root === undefined ? {} : { engine: root }),
				orphan: gone === true || (gone === false && !instance && !owner.keep),
			},
		];
	});
}

export async function remove(id: string, root: string | undefined): Promise<boolean> {
	const scratch = scratchOf(root);
	const program = apptainerProgram();
	const name = namesIn(scratch.dir).find((one) => MACHINE_NAME.test(one) && readOwner(dirsOf(scratch, one))?.id === id);
	if (name === undefined) return false;
	const dirs = dirsOf(scratch, name);
	const owner = readOwner(dirs);
	if (owner && owner.host !== os.hostname()) throw new HoldfastError("NOT_HERE", `it is on ${owner.host}: run this there`);
	const instance = await findInstance(program, name);
	if (instance) await endInstance(program, instance);
	if (owner) removeDirs(dirs, { program, settings: owner, scratch });
	return true;
}
