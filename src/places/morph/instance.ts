/** The one instance of a task: found by its metadata. Names are not unique at Morph, so of two concurrent instances the oldest stays. */
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureDir, HoldfastError, Lease } from "../../base/index.js";
import type { HostOwner } from "../kind.js";
import { differing, digest, machineName, settingsDigests } from "../owner.js";
import type { Morph, MorphInstance } from "./api.js";
import type { MorphSettings } from "./options.js";

export const META = {
	owner: "dev.holdfast.owner",
	key: "dev.holdfast.key",
	home: "dev.holdfast.home",
	task: "dev.holdfast.task",
	host: "dev.holdfast.host",
	keep: "dev.holdfast.keep",
	settings: "dev.holdfast.settings",
} as const;
export const OURS = "holdfast";

const LEASE_MS = 60_000;

/** Returns all instances of a task, oldest first. There is more than one only for a moment, after a race of two programs. */
export const instancesOf = async (morph: Morph, owner: HostOwner, signal?: AbortSignal): Promise<readonly MorphInstance[]> =>
	[...(await morph.list({ [META.key]: machineName(owner) }, signal))].sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));

/** Returns the instance that counts. The service has given up those with an error: they never run again. */
export const firstOf = (found: readonly MorphInstance[]): MorphInstance | undefined => found.find(({ status }) => status !== "error");

/** Returns a digest per setting that defines an instance. */
function madeWith({
	workdir: _workdir,
	environment: _environment,
	keep: _keep,
	lifetime: _lifetime,
	onIdle: _onIdle,
	...rest
}: MorphSettings): Record<string, string> {
	return settingsDigests(rest);
}

/** Returns the instance, creating it if there is none. Ignores the caller's signal: an instance that is created anyway is found by its metadata. */
export async function findOrMake(
	morph: Morph,
	settings: MorphSettings,
	owner: HostOwner,
	signal: AbortSignal | undefined,
): Promise<{ readonly instance: MorphInstance; readonly made: boolean }> {
	const found = firstOf(await instancesOf(morph, owner, signal));
	if (found) return { instance: mustFit(found, settings), made: false };
	const lease = await leaseOf(owner, signal);
	try {
		const all = await instancesOf(morph, owner, signal);
		const other = firstOf(all);
		if (other) return { instance: mustFit(other, settings), made: false };
		for (const failed of all) await morph.stop(failed.id);
		const made = await morph.boot(settings.snapshot, bodyOf(settings, owner));
		const first = firstOf(await instancesOf(morph, owner)) ?? made;
		if (first.id === made.id) return { instance: made, made: true };
		await morph.stop(made.id); // another program was faster, without our lease
		return { instance: mustFit(first, settings), made: false };
	} finally {
		lease.release();
	}
}

function bodyOf(settings: MorphSettings, owner: HostOwner): object {
	const { cpus, memory, disk, lifetime, onIdle, keep } = settings;
	const mib = (bytes: number) => Math.ceil(bytes / 1024 ** 2);
	return {
		metadata: {
			...{ [META.owner]: OURS, [META.key]: machineName(owner), [META.home]: owner.home, [META.task]: owner.task, [META.host]: os.hostname() },
			...{ [META.keep]: String(keep), [META.settings]: JSON.stringify(madeWith(settings)) },
		},
		ttl_seconds: lifetime,
		ttl_action: onIdle,
		...(cpus === undefined ? {} : { vcpus: cpus }),
		...(memory === undefined ? {} : { memory: mib(memory) }),
		...(disk === undefined ? {} : { disk_size: mib(disk) }),
	};
}

function mustFit(instance: MorphInstance, settings: MorphSettings): MorphInstance {
	let made: Record<string, string> = {};
	try {
		made = JSON.parse(instance.metadata[META.settings] ?? "");
	} catch {
		return instance; // its metadata was changed by hand
	}
	const other = differing(made, madeWith(settings));
	if (other.length === 0) return instance;
	throw new HoldfastError(
		"CONFLICT",
		`the task has a Morph instance already (${instance.id}), made with other settings (${other.join(", ")}); stop it first, with what is in it (holdfast sandboxes stop ${instance.id}), use those settings, or another task`,
	);
}

async function leaseOf({ home, task }: HostOwner, signal: AbortSignal | undefined): Promise<Lease> {
	const file = path.join(home, "places", `boot-${digest(task, 12)}`, "lease");
	ensureDir(path.dirname(file));
	for (const until = performance.now() + LEASE_MS; ; await sleep(50)) {
		const lease = Lease.take(file);
		if (lease) return lease;
		if (signal?.aborted) throw new HoldfastError("ABORTED", "making a Morph instance was given up");
		if (performance.now() > until)
			throw new HoldfastError("START_FAILED", `${file} cannot be written to, or another program has been making the instance for a minute; try again`);
	}
}
