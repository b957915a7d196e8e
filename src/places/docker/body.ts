/** What a container is made of: the body of the request that makes it, and the labels by which it is found again. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import type { ContainerCreateOptions } from "dockerode";
import { asset } from "../../base/asset.js";
import { parseArguments } from "./arguments.js";
import type { DockerSettings } from "./options.js";

/** Whose it is. */
export interface Owner {
	/** Of the Holdfast home: its path, or an id. */
	readonly home: string;
	readonly task: string;
}

export const LABEL = {
	/** On every container of ours: who made it. */
	owner: "dev.holdfast.owner",
	home: "dev.holdfast.home",
	task: "dev.holdfast.task",
	/** The machine that the home is on. */
	host: "dev.holdfast.host",
	created: "dev.holdfast.created",
	keep: "dev.holdfast.keep",
	lifetime: "dev.holdfast.lifetime",
	/** A digest of each setting: a container that was made otherwise is not used in silence. */
	settings: "dev.holdfast.settings",
} as const;
export const OURS = "holdfast";

/** For our files, on the container's own disk; where that is read-only, on a volume that goes with it. */
export const BASE_DIR = "/var/lib/holdfast";
/** Everybody's, like /tmp. */
export const SHARED_DIR = `${BASE_DIR}/users`;
/** For its user alone. */
export const PRIVATE_DIR = `${SHARED_DIR}/place`;
/** The home of a host user whom the image does not know. */
const GUEST_HOME = `${BASE_DIR}/home`;

/**
 * What root in there needs to be of use, and no more: to install packages (CHOWN, FOWNER, DAC_OVERRIDE: files of several owners;
 * SETUID, SETGID: package managers and `su` change to other users), and to end what other users run (KILL). Another user has none.
 */
const CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID"];

export const containerName = ({ home, task }: Owner): string => `holdfast-${digest([os.hostname(), home, task], 16)}`;

/** As the engine takes it; undefined: the image's. */
export const userIn = ({ user }: DockerSettings): string | undefined => (user === "host" ? `${process.getuid?.()}:${process.getgid?.()}` : user);

/** For whom a home has to be made. */
export const guestHome = ({ user }: DockerSettings): string | undefined => (user === "host" && process.getuid?.() !== 0 ? GUEST_HOME : undefined);

export function settingsDigests(settings: DockerSettings): Record<string, string> {
	const { pull: _pull, keep: _keep, engine: _engine, workdir: _workdir, ...rest } = settings; // these do not change what it is
	return Object.fromEntries(Object.entries({ ...rest, user: userIn(settings) }).map(([name, value]) => [name, digest(value, 12)]));
}

export function containerBody(settings: DockerSettings, owner: Owner, options: { init: boolean }): ContainerCreateOptions {
	const extra = parseArguments(settings.arguments);
	const home = guestHome(settings);
	const environment = { ...(home && { HOME: home }), ...settings.environment };
	return {
		name: containerName(owner),
		...extra.container,
		Image: settings.image,
		Entrypoint: ["sh", "-c", switchScript(), "holdfast", PRIVATE_DIR, String(settings.lifetime)],
		Cmd: [],
		Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
		...(settings.user && { User: userIn(settings) }),
		StopSignal: "SIGTERM",
		Healthcheck: { Test: ["NONE"] }, // the image's own would ask something that does not run
		AttachStdin: false,
		AttachStdout: false,
		AttachStderr: false,
		Tty: false,
		Labels: {
			[LABEL.owner]: OURS,
			[LABEL.home]: owner.home,
			[LABEL.task]: owner.task,
			[LABEL.host]: os.hostname(),
			[LABEL.created]: new Date().toISOString(),
			[LABEL.keep]: String(settings.keep),
			[LABEL.lifetime]: String(settings.lifetime),
			[LABEL.settings]: JSON.stringify(settingsDigests(settings)),
		},
		HostConfig: {
			...extra.host,
			CapDrop: ["ALL"],
			CapAdd: [...CAPABILITIES, ...((extra.host.CapAdd as string[] | undefined) ?? [])],
			SecurityOpt: ["no-new-privileges"],
			Privileged: false,
			ReadonlyRootfs: extra.readOnly,
			Init: options.init,
			PidsLimit: settings.pids,
			...(settings.cpus !== undefined && { NanoCpus: Math.round(settings.cpus * 1e9) }),
			// The same with swap as without: more than was asked for would be more than was asked for.
			...(settings.memory !== undefined && { Memory: settings.memory, MemorySwap: settings.memory }),
			...(settings.disk !== undefined && { StorageOpt: { size: String(settings.disk) } }),
			NetworkMode: settings.network ? "default" : "none",
			Mounts: [
				...settings.volumes.map(({ source, target, readOnly }) => ({ Type: "bind" as const, Source: source, Target: target, ReadOnly: readOnly })),
				...(extra.readOnly ? [{ Type: "volume" as const, Source: "", Target: BASE_DIR, ReadOnly: false }] : []),
			],
			Tmpfs: Object.fromEntries(Object.entries(settings.tmpfs).map(([dir, size]) => [dir, `rw,exec,nosuid,nodev,mode=1777,size=${size}`])),
			RestartPolicy: { Name: "no" },
			AutoRemove: false,
			LogConfig: { Type: "json-file", Config: { "max-size": "16k" } }, // the switch prints nothing; why it does not start is said here
		},
	};
}

let script: string | undefined;
const switchScript = (): string => {
	// Without comments: everybody in there sees it in a list of processes.
	script ??= fs.readFileSync(asset("places/docker/switch.sh"), "utf8").replace(/^\s*#.*\n/gm, "");
	return script;
};

const digest = (value: unknown, length: number): string =>
	createHash("sha256")
		.update(JSON.stringify(value) ?? "")
		.digest("hex")
		.slice(0, length);
