/** Where commands are to run, as a person writes it, and as it is kept: a wish is plain data, so that any program can reach the same place later. */
import { createHash } from "node:crypto";
import type { Places } from "../base/config.js";
import { HoldfastError } from "../base/errors.js";
import { taskKey } from "../base/ids.js";
import { DEFAULT_IMAGE, dockerAddress, parseDockerAddress } from "./docker/address.js";
import { type DockerOptions, dockerSettings } from "./docker/options.js";
import { exposesHost } from "./docker/volumes.js";
import { formatSshAddress, parseSshAddress } from "./ssh/address.js";
import { type SshOptions, sshSettings } from "./ssh/options.js";

/** `name`: as it was asked for, by its name in config.json or by its address. */
export type PlaceWish =
	| { readonly kind: "local"; readonly directory?: string }
	| { readonly kind: "sandbox" }
	| { readonly kind: "ssh"; readonly name: string; readonly options: SshOptions }
	| { readonly kind: "docker"; readonly name: string; readonly options: DockerOptions };
export type RemoteWish = Extract<PlaceWish, { kind: "ssh" | "docker" }>;

const SHOWN = 200;

/**
 * What cannot be understood is an error that lists what there is; never another place instead. The configuration is read only
 * for a name: a file that is wrong keeps nobody from this machine.
 */
export function placeFrom(text: string, config: () => { readonly places: Places }): PlaceWish {
	if (text === "local" || text === "local:") return { kind: "local" };
	if (text === "local+sandbox") return { kind: "sandbox" };
	if (text.startsWith("local:")) return { kind: "local", directory: localDirectory(text.slice("local:".length)) };
	if (/^ssh:\/\//i.test(text)) return { kind: "ssh", name: text, options: parseSshAddress(text) };
	if (/^docker:\/\//i.test(text)) return dockerWish(text);
	const { places } = config();
	if (Object.hasOwn(places, text)) return namedWish(text, places[text] as Places[string]);
	throw new HoldfastError("INVALID", `there is no place ${JSON.stringify(text.slice(0, SHOWN))}; there are ${known(places)}${perhaps(text)}`);
}

function localDirectory(dir: string): string {
	if (dir.startsWith("/") && !dir.includes("\0")) return dir;
	throw new HoldfastError("INVALID", `the directory of a local place is absolute: local:/dir, not ${JSON.stringify(`local:${dir}`.slice(0, SHOWN))}`);
}

function dockerWish(text: string): PlaceWish {
	const { workdir, image } = parseDockerAddress(text);
	return { kind: "docker", name: text, options: { image, ...(workdir === undefined ? {} : { workdir }) } };
}

/** An entry of config.json, checked by its kind; defaults are filled in where it is used. */
function namedWish(name: string, { type, ...entry }: Places[string]): RemoteWish {
	try {
		if (type === "ssh") sshSettings(entry);
		else dockerSettings(entry as DockerOptions);
	} catch (error) {
		throw new HoldfastError("CONFIG", `places.${name} in config.json cannot be used: ${(error as Error).message.replace(/^(?:ssh|docker): /, "")}`, {
			cause: error,
		});
	}
	return { kind: type, name, options: entry } as unknown as RemoteWish;
}

function known(places: Places): string {
	const names = Object.keys(places);
	const forms = "local, local:/dir, local+sandbox, ssh://user@host:port/dir and docker://image";
	return names.length === 0 ? `${forms}, and names from \`places\` in config.json, which has none` : `${forms}, and of config.json ${names.join(", ")}`;
}

/** A machine as people write it for ssh itself. */
function perhaps(text: string): string {
	const [, machine] = /^(?:ssh:\/?)?((?:[\w.-]+@)?[a-z\d][\w.-]*(?::\d+)?)$/i.exec(text) ?? [];
	return machine === undefined || machine.length > SHOWN ? "" : `; for a machine of that name: ssh://${machine}`;
}

/** How it is shown everywhere: who and where, nothing secret. */
export function placeName(wish: PlaceWish): string {
	if (wish.kind === "local") return "local";
	if (wish.kind === "sandbox") return "local+sandbox";
	if (wish.kind === "docker") return dockerAddress(wish.options.image ?? DEFAULT_IMAGE);
	const { user, host, port } = wish.options;
	return formatSshAddress({ user, host, port });
}

/** Paths there mean nothing here. */
export const isRemote = (wish: PlaceWish): wish is RemoteWish => wish.kind === "ssh" || wish.kind === "docker";

/** Nothing of this machine can be read from in there, but for what the person has shared with a sandbox. */
export const isBoundary = (wish: PlaceWish): boolean =>
	wish.kind === "sandbox" || (wish.kind === "docker" && dockerSettings(wish.options).volumes.length === 0);

/** Whether commands there can do no harm to this machine, so that the default rules need not ask. A container is only as tight as what it mounts. */
export function isContained(wish: PlaceWish): boolean {
	if (wish.kind !== "docker") return wish.kind === "sandbox";
	let contained = judged.get(wish);
	if (contained === undefined) {
		contained = !dockerSettings(wish.options).volumes.some((volume) => exposesHost(volume));
		judged.set(wish, contained);
	}
	return contained;
}
const judged = new WeakMap<PlaceWish, boolean>(); // it is asked before every command

/** Part of file names. A machine is the same for all tasks, whatever directory they start in; a container is one task's. */
export function placeKey(wish: PlaceWish, task: string): string {
	if (wish.kind === "local" || wish.kind === "sandbox") return placeName(wish);
	const { dir: _, workdir: _workdir, ...settings } = { dir: undefined, workdir: undefined, ...wish.options };
	const whose = wish.kind === "docker" ? taskKey(task) : "";
	return `${wish.kind}-${createHash("sha256")
		.update(`${whose}\n${sorted(settings)}`)
		.digest("hex")
		.slice(0, 12)}`;
}

export const isPlaceKey = (text: string): boolean => /^(ssh|docker)-[0-9a-f]{12}$/.test(text);

/** The same text for the same settings, in whatever order they were written. */
const sorted = (value: unknown): string =>
	JSON.stringify(value, (_key, inner: unknown) =>
		inner !== null && typeof inner === "object" && !Array.isArray(inner)
			? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
			: inner,
	);
