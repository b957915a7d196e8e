/** The body of the request that creates a container, and the labels by which Holdfast finds it again. */
import os from "node:os";
import { digest, machineName } from "../owner.js";
import { switchSeconds } from "../settings.js";
import { switchCommand } from "../switch.js";
import { parseArguments } from "./arguments.js";
import type { DockerSettings } from "./options.js";

/** The owner of a container. */
export interface ContainerOwner {
	/** The path of the Holdfast home, or its id. */
	readonly home: string;
	readonly task: string;
	/** The user that runs commands, if not the container's own user. */
	readonly user?: string;
}

export const LABEL = {
	/** On every container of ours: its maker. */
	owner: "dev.holdfast.owner",
	home: "dev.holdfast.home",
	task: "dev.holdfast.task",
	/** The machine of the home. */
	host: "dev.holdfast.host",
	created: "dev.holdfast.created",
	keep: "dev.holdfast.keep",
	lifetime: "dev.holdfast.lifetime",
	/** A digest per setting: a container made with other settings is never used silently. */
	settings: "dev.holdfast.settings",
} as const;
export const OURS = "holdfast";

/** Directory for our files on the container's own disk; on a read-only root, on a volume that is removed with the container. */
export const BASE_DIR = "/var/lib/holdfast";
/** World-writable, like /tmp. */
export const SHARED_DIR = `${BASE_DIR}/users`;
/** Private to its user. */
export const PRIVATE_DIR = `${SHARED_DIR}/place`;

/** Returns the private directory of a user; the switch finds it beside that of the container's user. */
export const privateDir = ({ user }: ExecUser): string => (user === undefined ? PRIVATE_DIR : `${PRIVATE_DIR}-${user.replace(":", "-")}`);
/** The home of a host user that the image does not know. */
const GUEST_HOME = `${BASE_DIR}/home`;

/**
 * The capabilities that root inside needs, and no more: to install packages (CHOWN, FOWNER, DAC_OVERRIDE: files of several owners;
 * SETUID, SETGID: package managers and `su` change users), and to kill processes of other users (KILL). Other users have none.
 */
const CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID"];

export const containerName = machineName;

/** Returns the user as the engine takes it; undefined: the image's. */
const userIn = ({ user }: { readonly user?: string | undefined }): string | undefined =>
	user === "host" ? `${process.getuid?.()}:${process.getgid?.()}` : user;

export interface ExecUser {
	readonly user?: string;
}

/** Returns the user of an exec. Our own container already runs as its user; in a foreign one, or for calls as another user, each exec names the user. */
export const execUser = (settings: DockerSettings, owner: Pick<ContainerOwner, "user">): ExecUser => {
	const user = userIn({ user: owner.user ?? (settings.container === undefined ? undefined : settings.user) });
	return user === undefined ? {} : { user };
};

/**
 * Returns shell text that sets HOME where the container would have the wrong one: it was made for the host's user, whose home is in its
 * environment; or the host's user is not its own user, and may have no home inside.
 */
export function homeLine(settings: DockerSettings, { user }: Pick<ContainerOwner, "user">): string {
	if (user === undefined || (user !== "host" && guestHome(settings) === undefined)) return "";
	return `HOME=$(me=$(id -u); while IFS=: read -r u p i g n h s; do [ "$i" != "$me" ] || { echo "$h"; break; }; done </etc/passwd); HOME=\${HOME:-/}; export HOME; `;
}

/** Returns the home to create for a guest user; undefined if none is needed. */
export const guestHome = ({ user, container }: DockerSettings): string | undefined =>
	user === "host" && container === undefined && process.getuid?.() !== 0 ? GUEST_HOME : undefined;

export function settingsDigests(settings: DockerSettings): Record<string, string> {
	const { pull: _pull, keep: _keep, engine: _engine, workdir: _workdir, container: _container, profile, ...rest } = settings; // these do not define the container
	const digested = { ...rest, user: userIn(settings), ...(profile === "plain" && { profile }) }; // containers older than profiles are hardened
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
		Healthcheck: { Test: ["NONE"] }, // the image's own check would query a program that does not run
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
			// The same limit with swap as without: otherwise swap would come on top of the requested memory.
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
			LogConfig: { Type: "json-file", Config: { "max-size": "16k" } }, // the switch prints nothing; a container that fails to start prints why
		},
	};
}
