/** What a container is made of: the body of the request that makes it, and the labels by which it is found again. */
import os from "node:os";
import { digest, machineName } from "../owner.js";
import { switchSeconds } from "../settings.js";
import { switchCommand } from "../switch.js";
import { parseArguments } from "./arguments.js";
import type { DockerSettings } from "./options.js";

/** Whose it is. */
export interface ContainerOwner {
	/** Of the Holdfast home: its path, or an id. */
	readonly home: string;
	readonly task: string;
	/** As whom commands run, if not as the container's own user. */
	readonly user?: string;
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

/** Each user has one of their own; the switch finds it beside that of the container's user. */
export const privateDir = ({ user }: ExecUser): string => (user === undefined ? PRIVATE_DIR : `${PRIVATE_DIR}-${user.replace(":", "-")}`);
/** The home of a host user whom the image does not know. */
const GUEST_HOME = `${BASE_DIR}/home`;

/**
 * What root in there needs to be of use, and no more: to install packages (CHOWN, FOWNER, DAC_OVERRIDE: files of several owners;
 * SETUID, SETGID: package managers and `su` change to other users), and to end what other users run (KILL). Another user has none.
 */
const CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID"];

export const containerName = machineName;

/** As the engine takes it; undefined: the image's. */
const userIn = ({ user }: { readonly user?: string | undefined }): string | undefined =>
	user === "host" ? `${process.getuid?.()}:${process.getgid?.()}` : user;

export interface ExecUser {
	readonly user?: string;
}

/** A container of ours has its user; in another one, or for calls as another user, commands are run as the user that was asked for. */
export const execUser = (settings: DockerSettings, owner: Pick<ContainerOwner, "user">): ExecUser => {
	const user = userIn({ user: owner.user ?? (settings.container === undefined ? undefined : settings.user) });
	return user === undefined ? {} : { user };
};

/**
 * Returns shell text that sets HOME, where the container would have the wrong one: it was made for the host's user, whose home is in its
 * environment; or the host's user is not its own, and may have no home in it.
 */
export function homeLine(settings: DockerSettings, { user }: Pick<ContainerOwner, "user">): string {
	if (user === undefined || (user !== "host" && guestHome(settings) === undefined)) return "";
	return `HOME=$(me=$(id -u); while IFS=: read -r u p i g n h s; do [ "$i" != "$me" ] || { echo "$h"; break; }; done </etc/passwd); HOME=\${HOME:-/}; export HOME; `;
}

/** For whom a home has to be made. */
export const guestHome = ({ user, container }: DockerSettings): string | undefined =>
	user === "host" && container === undefined && process.getuid?.() !== 0 ? GUEST_HOME : undefined;

export function settingsDigests(settings: DockerSettings): Record<string, string> {
	const { pull: _pull, keep: _keep, engine: _engine, workdir: _workdir, container: _container, profile, ...rest } = settings; // these do not change what it is
	const digested = { ...rest, user: userIn(settings), ...(profile === "plain" && { profile }) }; // containers of before there were profiles are hardened
	return Object.fromEntries(Object.entries(digested).map(([name, value]) => [name, digest(value, 12)]));
}

export function containerBody(settings: DockerSettings, owner: ContainerOwner, options: { init: boolean }): object {
	const extra = parseArguments(settings.arguments);
	const home = guestHome(settings);
	const environment = { ...(home && { HOME: home }), ...settings.environment };
	const plain = settings.profile === "plain";
	const main = switchCommand(PRIVATE_DIR, switchSeconds(settings.lifetime));
	return {
		...extra.container,
		Image: settings.image,
		...(plain ? { Cmd: main } : { Entrypoint: main, Cmd: [] }),
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
			...(plain ? {} : { CapDrop: ["ALL"], CapAdd: [...CAPABILITIES, ...(extra.host.CapAdd ?? [])], SecurityOpt: ["no-new-privileges"] }),
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
