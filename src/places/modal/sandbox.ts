/** The one sandbox of a task: found by its name, created, inspected, ended. */
import os from "node:os";
import type { Image, ModalClient, Sandbox } from "modal";
import { HoldfastError } from "../../base/index.js";
import type { HostOwner } from "../kind.js";
import { digest, machineName, settingsDigests } from "../owner.js";
import { type OwnerFiles, ownerFiles } from "../owner-files.js";
import { MIB, switchSeconds } from "../settings.js";
import { SWITCH_EXIT, switchCommand } from "../switch.js";
import { isImageId } from "./address.js";
import type { ModalSettings } from "./options.js";
import { explained, isNotFound } from "./words.js";

/** Private to its user. */
export const PLACE_DIR = "/var/lib/holdfast/place";

/** Returns the name of a home's app, so that everything of a home can be listed, and ended, together. */
export const appName = ({ home }: Pick<HostOwner, "home">): string => `holdfast-${digest([os.hostname(), home], 12)}`;
export const APP_NAME = /^holdfast-[0-9a-f]{12}$/;
/** Returns the id that results and `holdfast sandboxes` use for what Modal gives longer ids: a sandbox, an app, an image. */
export const shortId = (id: string): string => digest(id, 12);

/** Instead of a task, in the file that records the owner of an app. */
export const OF_THE_HOME = "";

/** The owners of sandboxes: their tags hold only digests, since others of the workspace see them. */
export const sandboxOwners = (): OwnerFiles => ownerFiles("modal");

/** Returns a digest per setting that defines a sandbox. Values of variables travel over the stream. */
export const madeWith = ({
	workdir: _workdir,
	environment: _environment,
	modalEnvironment: _modalEnvironment,
	keep: _keep,
	...settings
}: ModalSettings): Record<string, string> => settingsDigests(settings);

const TAG = { task: "holdfast_task", settings: "holdfast_settings", ends: "holdfast_ends" } as const;

export interface SandboxTags {
	/** Digest of the settings it was made with. */
	readonly settings: string;
	/** Milliseconds. */
	readonly ends: number | undefined;
}

/** Returns the tags of a sandbox that Holdfast has made. */
export function readTags(tags: Readonly<Record<string, string>>): SandboxTags | undefined {
	const { [TAG.settings]: settings, [TAG.ends]: ends } = tags;
	return settings === undefined ? undefined : { settings, ends: Number(ends) > 0 ? Number(ends) : undefined };
}

export const settingsTag = (settings: ModalSettings): string => digest(madeWith(settings), 12);

/** Returns the sandbox that runs, or is queued; undefined if there is none. */
export async function findSandbox(client: ModalClient, owner: HostOwner): Promise<Sandbox | undefined> {
	try {
		return await client.sandboxes.fromName(appName(owner), machineName(owner));
	} catch (error) {
		if (isNotFound(error)) return undefined;
		throw error;
	}
}

/** Creates a sandbox. `kept`: the image of a snapshot, instead of that of the settings. */
export async function makeSandbox(
	client: ModalClient,
	settings: ModalSettings,
	owner: HostOwner,
	{ kept, progress, notes }: { readonly kept: string | undefined; readonly progress: (line: string) => void; readonly notes: string[] },
): Promise<Sandbox> {
	const { cpus, memory, gpu, network, regions, time, lifetime, image: wanted } = settings;
	const secrets = await Promise.all(settings.secrets.map((name) => secretNamed(client, name)));
	const mounts = settings.volumes.map(
		async ({ volume, target, readOnly }) => [target, (await volumeNamed(client, volume)).withMountOptions({ readOnly })] as const,
	);
	const volumes = Object.fromEntries(await Promise.all(mounts));
	const app = await client.apps.fromName(appName(owner), { createIfMissing: true }).catch((error) => {
		throw missing(
			error,
			`there is no environment ${client.environmentName() || "of that name"} in this workspace of Modal; \`modal environment list\` lists them`,
		);
	});
	const image = (kept === undefined ? undefined : await snapshot(client, kept, wanted, notes)) ?? (await imageOf(client, settings));
	progress(`Modal fetches the image ${wanted}, or builds it`);
	await image.build(app);
	progress("Modal looks for a machine with room for the sandbox");
	return client.sandboxes.create(app, image, {
		name: machineName(owner),
		command: switchCommand(PLACE_DIR, switchSeconds(lifetime)),
		timeoutMs: time * 60_000,
		tags: {
			[TAG.task]: digest(owner.task, 12),
			[TAG.settings]: settingsTag(settings),
			[TAG.ends]: String(Date.now() + time * 60_000),
		},
		blockNetwork: !network,
		secrets,
		volumes,
		...(regions.length === 0 ? {} : { regions }),
		...(cpus === undefined ? {} : { cpu: cpus, cpuLimit: cpus }),
		...(memory === undefined ? {} : { memoryMiB: Math.ceil(memory / MIB), memoryLimitMiB: Math.ceil(memory / MIB) }),
		...(gpu === undefined ? {} : { gpu }),
	});
}

async function imageOf(client: ModalClient, { image, registrySecret }: ModalSettings): Promise<Image> {
	if (!isImageId(image)) return client.images.fromRegistry(image, registrySecret === undefined ? undefined : await secretNamed(client, registrySecret));
	return client.images.fromId(image).catch((error) => {
		throw missing(error, `there is no image ${image} in this workspace of Modal, or it has expired`);
	});
}

/** Returns the image of a snapshot. A missing snapshot is no error; an unanswered request is. */
async function snapshot(client: ModalClient, id: string, image: string, notes: string[]): Promise<Image | undefined> {
	try {
		return await client.images.fromId(id);
	} catch (error) {
		if (!isNotFound(error)) throw error;
		notes.push(`The snapshot of the files that were kept is gone from Modal: the sandbox has been made from ${image} again, without them.`);
		return undefined;
	}
}

const secretNamed = (client: ModalClient, name: string) =>
	client.secrets.fromName(name).catch((error) => {
		throw missing(error, `there is no secret ${name} in this environment of Modal; make it: modal secret create ${name} KEY=…`);
	});

const volumeNamed = (client: ModalClient, name: string) =>
	client.volumes.fromName(name).catch((error) => {
		throw missing(error, `there is no volume ${name} in this environment of Modal; make it: modal volume create ${name}`);
	});

const missing = (error: unknown, words: string): HoldfastError =>
	isNotFound(error) ? new HoldfastError("START_FAILED", words, { cause: error }) : explained("Modal cannot be asked", error);

/** Returns why everything in a sandbox is over, as the end of a sentence; undefined if it runs, or may yet. */
export async function endOfSandbox(box: Sandbox, minutes: number): Promise<string | undefined> {
	let code: number | null;
	try {
		code = await box.poll();
	} catch (error) {
		if (isNotFound(error)) return "the sandbox is gone from Modal";
		throw error;
	}
	if (code === null) return undefined;
	if (code === 124) return `the sandbox had reached its time limit (${minutes} min)`;
	if (code === SWITCH_EXIT) return "the sandbox had stopped itself: it was unused, and nothing ran in it";
	if (code === 137) return "the sandbox was terminated";
	return `the sandbox has ended (exit code ${code})`;
}
