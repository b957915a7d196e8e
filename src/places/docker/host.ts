/** A task's own container as a place. docs/places.md. */
import path from "node:path";
import { HoldfastError } from "../../base/index.js";
import type { Host, Started, Stream } from "../host.js";
import { IDLE } from "../lives.js";
import { checkVolumes } from "../volumes.js";
import { dockerAddress } from "./address.js";
import { type ContainerInfo, containers } from "./api.js";
import { attach } from "./attach.js";
import { type ContainerOwner, containerName, execUser, homeLine, privateDir } from "./body.js";
import { bringUp, type ContainerRequest, endedByItself, type FoundContainer, inspect, isOurs, remove } from "./container.js";
import { type Engine, openEngine } from "./engine.js";
import { NOT_STARTED, openExec } from "./exec.js";
import { statusOf } from "./explain.js";
import { fate } from "./fate.js";
import { Demultiplexer } from "./frames.js";
import type { PullProgress } from "./image.js";
import { type DockerOptions, type DockerSettings, dockerSettings } from "./options.js";
import { ensureWorkdir, prepare } from "./prepare.js";
import { endedAtOnce, endOf, instanceOf, lowerFirst } from "./words.js";

export interface DockerHooks {
	/** Called for each line while an image is fetched. */
	readonly progress?: PullProgress | undefined;
	/** Returns the life of the container that any program last used; or `idle SECONDS` if it ended because it was unused for so long. */
	readonly last?: () => string | undefined;
}

export function dockerHost(options: DockerOptions, owner: ContainerOwner, hooks: DockerHooks = {}): Host {
	const settings = dockerSettings(options);
	const as = execUser(settings, owner);
	let opened: Engine | undefined;
	let now: ContainerInfo | undefined;
	let prepared: string | undefined; // the life whose private directory is known to exist

	const engineOf = (): Engine => {
		opened ??= openEngine(settings.engine, path.isAbsolute(owner.home) ? { home: owner.home } : {});
		return opened;
	};

	return {
		address: dockerAddress(settings),

		async start(signal): Promise<Started> {
			const engine = engineOf();
			if (engine.local) checkVolumes(settings.volumes, owner.home);
			const last = hooks.last?.();
			const before = now && !last?.startsWith(IDLE) ? instanceOf(now) : last;
			const first = now === undefined;
			const wanted: ContainerRequest = { engine, settings, owner, progress: hooks.progress };
			const { info, notes } = await (settings.container === undefined ? ready : attach)(wanted, before, prepared, signal);
			const instance = instanceOf(info);
			now = info;
			prepared = instance;
			const cwd = settings.workdir ?? info.Config.WorkingDir;
			return {
				instance,
				notes: [...notes, ...(first && settings.container === undefined ? warnings(info, settings) : [])],
				dir: privateDir(as),
				...(settings.container === undefined && settings.lifetime !== "task" && { lifetime: settings.lifetime }),
				box: { id: info.Id.slice(0, SHORT_ID), since: info.State.StartedAt },
				...(hasOwnDirectory(cwd) && { cwd }),
			};
		},

		async open(command, signal): Promise<Stream> {
			if (now === undefined) throw new HoldfastError("INTERNAL", "a stream was opened before the container was started");
			const engine = engineOf();
			const info = now;
			const container = info.Id; // not its name, which another container may soon have
			// Without a WorkingDir in the image, the engine starts a command in /; a login starts at home.
			const start = hasOwnDirectory(info.Config.WorkingDir) ? "" : `cd "\${HOME:-/}" 2>/dev/null || cd /; `;
			const text = `${homeLine(settings, owner)}${start}${command}`;
			const since = Date.now();
			try {
				return await openExec(engine, container, { argv: ["sh", "-c", text], ...as, signal }, async (code, said) => {
					return (await fate(engine, container, { info, since, code })) ?? (said.startsWith(NOT_STARTED) && isNoRoom(said) ? noRoom(settings) : undefined);
				});
			} catch (error) {
				if (statusOf(error) === undefined) throw error;
				const why = await fate(engine, container, { info, since, code: null });
				if (why === undefined && !isNoRoom((error as Error).message)) throw error;
				throw new HoldfastError("START_FAILED", why ?? noRoom(settings), { cause: error });
			}
		},

		async over(signal) {
			const engine = engineOf();
			const info = await inspect(engine, settings.container ?? containerName(owner), signal);
			if (info === undefined || info.State.Status === "removing" || info.State.Dead) return { why: "the container that it ran in was removed", kept: false };
			if (info.State.Running || info.State.Status === "created") return undefined; // or is being started
			return { why: lowerFirst(endOf(info)), kept: true };
		},

		async whySilent() {
			const engine = engineOf();
			const info = now && (await inspect(engine, now.Id, undefined, LOOK_MS));
			return info?.State.Paused ? "the container is paused" : undefined; // every other fate ends its streams
		},

		async stop(): Promise<readonly string[]> {
			if (settings.container !== undefined) return []; // not ours
			const engine = engineOf();
			const name = containerName(owner);
			now = undefined;
			prepared = undefined;
			const info = await inspect(engine, name);
			if (info === undefined || !isOurs(info)) return [];
			const what = `The container ${name} of ${info.Config.Image}`;
			if (!settings.keep) return (await remove(engine, info.Id)) ? [`${what} was removed, with everything in it.`] : [];
			if (!info.State.Running) return [];
			try {
				await engine.call("stopping the container", containers.stop(info.Id, 5));
			} catch (error) {
				if (![304, 404].includes(statusOf(error) ?? 0)) throw error;
				return [];
			}
			return [`${what} was stopped; its files are kept.`];
		},
	};
}

const ATTEMPTS = 5;
const LOOK_MS = 5_000;
const SHORT_ID = 12; // as `docker ps` shows it and every docker command accepts it

/** Returns the running container, with the private directory in it. */
async function ready(
	wanted: ContainerRequest,
	before: string | undefined,
	prepared: string | undefined,
	signal: AbortSignal | undefined,
): Promise<FoundContainer> {
	const { engine, settings, owner } = wanted;
	for (let attempt = 1; ; attempt++) {
		const found = await bringUp(wanted, before, signal);
		const container = found.info.Id;
		if (prepared === instanceOf(found.info)) return found;
		try {
			await prepare(engine, container, settings, {}, signal); // the switch needs it, whichever user runs commands
			if (settings.workdir !== undefined) await ensureWorkdir(engine, container, settings.workdir, found.info.Config.User, signal);
			if (owner.user !== undefined) await prepare(engine, container, settings, execUser(settings, owner), signal);
			return found;
		} catch (error) {
			if (signal?.aborted) throw error;
			const after = await inspect(engine, container);
			if (after?.State.Running) {
				if (found.made) await remove(engine, container).catch(() => {}); // the first error counts
				throw error;
			}
			if (found.made && after !== undefined && endedByItself(after.State)) {
				const said = await lastLine(engine, container);
				await remove(engine, container).catch(() => {}); // the first error counts
				throw endedAtOnce(settings, after.State.ExitCode, error, said);
			}
			if (attempt === ATTEMPTS) throw error; // another program keeps stopping or removing it
		}
	}
}

/** Returns the last line that a container printed; "" if there is none, or the engine does not tell. */
async function lastLine(engine: Engine, container: string): Promise<string> {
	let text = "";
	const add = (bytes: Buffer) => {
		text += bytes;
	};
	try {
		const said = await engine.call("reading what the container said", containers.logs(container, 5), { ms: LOOK_MS });
		new Demultiplexer({ stdout: add, stderr: add }).take(said);
	} catch {
		// the caller reports what is known without it
	}
	return text.trim().split("\n").at(-1)?.trim().slice(0, 300) ?? "";
}

const hasOwnDirectory = (dir: string | undefined): boolean => dir !== undefined && dir !== "" && dir !== "/";

/** Messages of runc and the kernel when the process limit is reached; `read init-p` if runc's first process could start no thread. */
const isNoRoom = (text: string): boolean => /resource temporarily unavailable|cannot fork|can't fork|procReady|read init-p|EAGAIN/i.test(text);

const noRoom = ({ pids }: DockerSettings): string =>
	`nothing more can be started in the container: it may have had its ${pids} processes; end some of them, or raise "pids"`;

/** Returns a warning per requested limit that the engine did not set. */
function warnings(info: ContainerInfo, settings: DockerSettings): string[] {
	const { HostConfig: host } = info;
	const missing = [
		settings.memory !== undefined && host.Memory !== settings.memory && "memory",
		settings.cpus !== undefined && !host.NanoCpus && !host.CpuQuota && "cpus",
		!host.PidsLimit && "pids",
	].filter((name) => name !== false);
	return missing.length === 0 ? [] : [`This Docker engine cannot limit ${missing.join(", ")}: the container runs without.`];
}
