/** A task's own container as a place. docs/places.md. */
import type { Container, ContainerInspectInfo } from "dockerode";
import { HoldfastError } from "../../base/errors.js";
import type { Host, Started, Stream } from "../host.js";
import { IDLE } from "../lives.js";
import { dockerAddress } from "./address.js";
import { containerName, type Owner, PRIVATE_DIR } from "./body.js";
import { bringUp, type Found, inspect, isOurs, remove, type Wanted } from "./container.js";
import { type Engine, openEngine, statusOf } from "./engine.js";
import { NOT_STARTED, openExec } from "./exec.js";
import { fate, lowerFirst } from "./fate.js";
import { Demultiplexer } from "./frames.js";
import type { Progress } from "./image.js";
import { type DockerOptions, type DockerSettings, dockerSettings } from "./options.js";
import { ensureWorkdir, prepare } from "./prepare.js";
import { checkVolumes } from "./volumes.js";
import { endOf, instanceOf, noShell } from "./words.js";

export interface DockerHooks {
	/** While an image is fetched: a line at a time. */
	readonly progress?: Progress;
	/** The life of the container that was last used, by whatever program; or `idle SECONDS` when it was ended since nobody used it for so long. */
	readonly last?: () => string | undefined;
}

export function dockerHost(options: DockerOptions, owner: Owner, hooks: DockerHooks = {}): Host {
	const settings = dockerSettings(options);
	let opened: Promise<Engine> | undefined;
	let now: { readonly info: ContainerInspectInfo; readonly container: Container } | undefined;
	let prepared: string | undefined; // the life whose private directory is known to be there

	const engineOf = (): Promise<Engine> => {
		opened ??= openEngine(settings.engine).catch((error) => {
			opened = undefined;
			throw error;
		});
		return opened;
	};

	return {
		address: dockerAddress(settings.image, settings.workdir),

		async start(signal): Promise<Started> {
			const engine = await engineOf();
			if (engine.local) checkVolumes(settings.volumes, owner.home);
			const last = hooks.last?.();
			const before = now && !last?.startsWith(IDLE) ? instanceOf(now.info) : last;
			const first = now === undefined;
			const { info, notes } = await ready({ engine, settings, owner, progress: hooks.progress }, before, prepared, signal);
			const instance = instanceOf(info);
			now = { info, container: engine.docker.getContainer(info.Id) }; // by its id: the name may soon be another's
			prepared = instance;
			const cwd = settings.workdir ?? info.Config.WorkingDir;
			return {
				instance,
				notes: [...notes, ...(first ? warnings(info, settings) : [])],
				dir: PRIVATE_DIR,
				lifetime: settings.lifetime,
				...(hasOwnDirectory(cwd) && { cwd }),
			};
		},

		async open(command, signal): Promise<Stream> {
			if (now === undefined) throw new HoldfastError("INTERNAL", "a stream was opened before the container was started");
			const engine = await engineOf();
			const { container, info } = now;
			// The engine starts a command in / where the image says nothing; a person who logs in starts at home.
			const text = hasOwnDirectory(info.Config.WorkingDir) ? command : `cd "\${HOME:-/}" 2>/dev/null || cd /; ${command}`;
			const since = Date.now();
			try {
				return await openExec(engine, container, { argv: ["sh", "-c", text], signal }, async (code, said) => {
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
			const engine = await engineOf();
			const info = await inspect(engine, engine.docker.getContainer(containerName(owner)), signal);
			if (info === undefined || info.State.Status === "removing" || info.State.Dead) return { why: "the container that it ran in was removed", kept: false };
			if (info.State.Running || info.State.Status === "created") return undefined; // or is just being started
			return { why: lowerFirst(endOf(info)), kept: true };
		},

		async whySilent() {
			const engine = await engineOf();
			const info = now && (await inspect(engine, now.container, undefined, LOOK_MS));
			return info?.State.Paused ? "the container is paused" : undefined; // whatever else becomes of it ends its streams
		},

		async stop(): Promise<readonly string[]> {
			const engine = await engineOf();
			const name = containerName(owner);
			const container = engine.docker.getContainer(name);
			now = undefined;
			prepared = undefined;
			const info = await inspect(engine, container);
			if (info === undefined || !isOurs(info)) return [];
			const what = `The container ${name} of ${info.Config.Image}`;
			if (!settings.keep) return (await remove(engine, engine.docker.getContainer(info.Id))) ? [`${what} was removed, with everything in it.`] : [];
			if (!info.State.Running) return [];
			try {
				await engine.call("stopping the container", (abortSignal) => container.stop({ t: 5, abortSignal }));
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

/** Running, and with the private directory in it. */
async function ready(wanted: Wanted, before: string | undefined, prepared: string | undefined, signal: AbortSignal | undefined): Promise<Found> {
	const { engine, settings } = wanted;
	for (let attempt = 1; ; attempt++) {
		const found = await bringUp(wanted, before, signal);
		const container = engine.docker.getContainer(found.info.Id);
		if (prepared === instanceOf(found.info)) return found;
		try {
			await prepare(engine, container, settings, signal);
			if (settings.workdir !== undefined) await ensureWorkdir(engine, container, settings.workdir, found.info.Config.User, signal);
			return found;
		} catch (error) {
			if (signal?.aborted) throw error;
			const after = await inspect(engine, container);
			if (after?.State.Running) {
				if (found.made) await remove(engine, container).catch(() => {}); // the error that counts is the first
				throw error;
			}
			if (found.made && after !== undefined && ![0, 137, 143].includes(after.State.ExitCode)) {
				const said = await lastLine(engine, container);
				await remove(engine, container).catch(() => {}); // the error that counts is the first
				throw noShell(settings.image, after.State.ExitCode, error, said);
			}
			if (attempt === ATTEMPTS) throw error; // somebody stops or removes it again and again
		}
	}
}

/** The last line that a container printed; "" if there is none, or the engine does not tell. */
async function lastLine(engine: Engine, container: Container): Promise<string> {
	let text = "";
	const add = (bytes: Buffer) => {
		text += bytes;
	};
	try {
		const read = (abortSignal: AbortSignal) => container.logs({ stdout: true, stderr: true, tail: 5, abortSignal });
		new Demultiplexer({ stdout: add, stderr: add }).take(await engine.call("reading what the container said", read, { ms: LOOK_MS }));
	} catch {
		// what is known without it is said
	}
	return text.trim().split("\n").at(-1)?.trim().slice(0, 300) ?? "";
}

const hasOwnDirectory = (dir: string | undefined): boolean => dir !== undefined && dir !== "" && dir !== "/";

/** What runc and the kernel say when there may be no more processes; `read init-p`, when the one that it had started could start no thread. */
const isNoRoom = (text: string): boolean => /resource temporarily unavailable|cannot fork|can't fork|procReady|read init-p|EAGAIN/i.test(text);

const noRoom = ({ pids }: DockerSettings): string =>
	`nothing more can be started in the container: it may have had its ${pids} processes; end some of them, or raise "pids"`;

/** Limits that were asked for and are not there. */
function warnings(info: ContainerInspectInfo, settings: DockerSettings): string[] {
	const { HostConfig: host } = info;
	const missing = [
		settings.memory !== undefined && host.Memory !== settings.memory && "memory",
		settings.cpus !== undefined && !host.NanoCpus && !host.CpuQuota && "cpus",
		!host.PidsLimit && "pids",
	].filter((name) => name !== false);
	return missing.length === 0 ? [] : [`This Docker engine cannot limit ${missing.join(", ")}: the container runs without.`];
}
