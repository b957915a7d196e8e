/**
 * The one container of a task: found by its name, then created, started or unpaused as needed. Other programs may remove, stop or pause it at any
 * moment, or bring it up at the same time; so this is a loop that looks, takes one step, and looks again.
 */
import { HoldfastError } from "../../base/index.js";
import { type ContainerInfo, containers } from "./api.js";
import { type ContainerOwner, containerBody, containerName, LABEL, OURS, settingsDigests } from "./body.js";
import type { Engine } from "./engine.js";
import { reasonOf, statusOf } from "./explain.js";
import { ensureImage, type PullProgress } from "./image.js";
import type { DockerSettings } from "./options.js";
import type { EngineCall } from "./request.js";
import { endOf, LOST, lifeNotes, refused } from "./words.js";

export interface ContainerRequest {
	readonly engine: Engine;
	readonly settings: DockerSettings;
	readonly owner: ContainerOwner;
	readonly progress?: PullProgress | undefined;
}

export interface FoundContainer {
	readonly info: ContainerInfo;
	readonly notes: readonly string[];
	/** This call created the container. */
	readonly made: boolean;
}

const ATTEMPTS = 20;

/** Returns true if the container ended with a code that no external stop or kill gives. */
export const endedByItself = ({ Status, ExitCode }: ContainerInfo["State"]): boolean => Status === "exited" && ![0, 137, 143].includes(ExitCode);

/**
 * Returns the running container. `before` is the life that the caller knew. Does not restart a container that was just created and ended by itself:
 * the caller notices, and reports why.
 */
export async function bringUp(wanted: ContainerRequest, before: string | undefined, signal: AbortSignal | undefined): Promise<FoundContainer> {
	const { engine, owner } = wanted;
	const container = containerName(owner);
	const notes: string[] = [];
	let made: string | undefined;
	let init = true;
	for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
		const info = await inspect(engine, container, signal);
		if (info === undefined) {
			const result = await make(wanted, init, notes, signal);
			if (result === NO_INIT) init = withoutInit(notes);
			else made = result;
			continue;
		}
		mustBeOurs(info, wanted);
		const { State: state } = info;
		if (state.Paused) {
			const woken = await tolerant(engine, "waking the container", [404, 409, 500], containers.unpause(container), signal);
			if (woken) notes.push("The container had been paused; it goes on now, and nothing is lost.");
		} else if (state.Running || (made === info.Id && endedByItself(state))) {
			return { info, notes: [...lifeNotes(info, before, made), ...notes], made: made === info.Id };
		} else if (state.Status === "removing" || state.Dead) {
			await remove(engine, container, signal);
		} else {
			if (state.Status !== "created") {
				notes.push(`${endOf(info)}. It has been started again: its files are there, ${LOST}.`);
				before = undefined; // the end of the former life was already reported
			}
			if ((await start(wanted, container, made === info.Id, signal)) === NO_INIT) init = withoutInit(notes);
		}
	}
	throw new HoldfastError("START_FAILED", "something keeps removing, stopping or pausing the container while it starts; find out what, then try again");
}

/** Returns undefined if there is no such container. */
export async function inspect(engine: Engine, container: string, signal?: AbortSignal, ms?: number): Promise<ContainerInfo | undefined> {
	try {
		return await engine.call("looking for the container", containers.inspect(container), { signal, ...(ms && { ms }) });
	} catch (error) {
		if (statusOf(error) === 404) return undefined;
		throw error;
	}
}

export const isOurs = (info: ContainerInfo): boolean => info.Config.Labels[LABEL.owner] === OURS;

/** Removes a container, or waits until another caller has. Returns false if there was none to remove. */
export async function remove(engine: Engine, container: string, signal?: AbortSignal): Promise<boolean> {
	const removed = await tolerant(engine, "removing the container", [404, 409], containers.remove(container), signal);
	// Another caller is removing it (409): that takes a moment.
	for (let look = 0; look < 400; look++) {
		if ((await inspect(engine, container, signal)) === undefined) return removed;
		await new Promise((resolve) => setTimeout(resolve, 25));
	}
	throw new HoldfastError("START_FAILED", "the container is being removed, but does not go away; see what the Docker engine says of it (docker ps -a)");
}

/** The engine has no init for containers. The switch works without one: a sh that waits for its children also reaps orphans. */
const NO_INIT = Symbol("no init");
const lacksInit = (error: unknown): boolean => /docker-init|catatonit|container-init|init binary/i.test(reasonOf(error));

function withoutInit(notes: string[]): false {
	notes.push("The Docker engine has no init for containers (tini or catatonit): this one has been made without.");
	return false;
}

/** Returns its id, or undefined when another caller made it first. */
async function make(
	{ engine, settings, owner, progress }: ContainerRequest,
	init: boolean,
	notes: string[],
	signal: AbortSignal | undefined,
): Promise<string | undefined | typeof NO_INIT> {
	if (await ensureImage(engine, settings, progress, signal)) notes.push(`The image ${settings.image} was fetched.`);
	try {
		// Ignores the caller's signal: a container created anyway would be unknown to every program.
		const { Id: id } = await engine.call("making the container", containers.create(containerName(owner), containerBody(settings, owner, { init })));
		if (signal?.aborted) {
			await remove(engine, id);
			throw new HoldfastError("ABORTED", "making the container: given up");
		}
		return id;
	} catch (error) {
		if (statusOf(error) === 409 || (statusOf(error) === 500 && /name .*already in use/.test(reasonOf(error)))) return undefined; // Docker's answer, Podman's
		if (statusOf(error) === undefined) throw error;
		if (init && lacksInit(error)) return NO_INIT;
		throw refused(error, settings);
	}
}

/** `own`: this call created it, so it is useless if it does not start. */
async function start(wanted: ContainerRequest, container: string, own: boolean, signal: AbortSignal | undefined): Promise<undefined | typeof NO_INIT> {
	try {
		// 304: another caller was faster; 404 and 409: it is being removed. The next look tells.
		await tolerant(wanted.engine, "starting the container", [304, 404, 409], containers.start(container), signal);
		return undefined;
	} catch (error) {
		if (own) await remove(wanted.engine, container).catch(() => {}); // the first error counts
		if (statusOf(error) === undefined) throw error;
		if (own && lacksInit(error)) return NO_INIT;
		throw refused(error, wanted.settings);
	}
}

function mustBeOurs(info: ContainerInfo, { settings, owner }: ContainerRequest): void {
	const name = containerName(owner);
	if (!isOurs(info))
		throw new HoldfastError(
			"START_FAILED",
			`there is a container named ${name} that is not Holdfast's; rename or remove it (docker rm ${name}), then try again`,
		);
	const now = settingsDigests(settings);
	let then: Record<string, string> = {};
	try {
		then = JSON.parse(info.Config.Labels[LABEL.settings] ?? "{}") as Record<string, string>;
	} catch {
		// a foreign label differs in every setting
	}
	const other = Object.keys(now).filter((key) => now[key] !== then[key]);
	if (other.length > 0)
		throw new HoldfastError(
			"CONFLICT",
			`the task has a container already (${name}, of ${info.Config.Image}), made with other settings (${other.join(", ")}); remove it first, with what is in it (holdfast sandboxes stop ${info.Id.slice(0, 12)}), use those settings, or another task`,
		);
}

/** Returns true when done, false if the engine answered with one of these statuses. */
async function tolerant(
	engine: Engine,
	doing: string,
	statuses: readonly number[],
	call: EngineCall<unknown>,
	signal: AbortSignal | undefined,
): Promise<boolean> {
	try {
		await engine.call(doing, call, { signal });
		return true;
	} catch (error) {
		if (statuses.includes(statusOf(error) ?? 0)) return false;
		throw error;
	}
}
