/** Sandboxes, apps and snapshots that Holdfast has at Modal, for every home, in each environment that places or this user's files name. */
import type { ModalClient } from "modal";
import type { Leftover, Leftovers, NamedPlace } from "../kind.js";
import { homeIsGone, MACHINE_NAME, machineName } from "../owner.js";
import type { MachineOwner } from "../owner-files.js";
import { asked } from "./calls.js";
import { modalClient } from "./library.js";
import { APP_NAME, appName, OF_THE_HOME, sandboxOwners, shortId } from "./sandbox.js";
import { explained, isNotFound } from "./words.js";

export async function wheres(named: readonly NamedPlace[]): ReturnType<Leftovers["wheres"]> {
	const owners = sandboxOwners();
	const placed = named.map(({ options: { modalEnvironment } }) => (typeof modalEnvironment === "string" ? modalEnvironment : ""));
	const used = owners.names().map((name) => owners.of(name)?.more.environment ?? "");
	const all = [...new Set([...placed, ...used])];
	return {
		notes: [],
		wheres: all.map((id) => ({
			id: id || undefined,
			label: `Sandboxes of Modal${id ? ` in the environment ${id}` : ""}`,
		})),
	};
}

/** An entry of Modal's list. */
interface Listed {
	readonly id: string;
	readonly name: string;
	readonly createdAt: number;
	readonly timeoutSecs: number;
	readonly app: App;
}

export async function list(environment: string | undefined, signal: AbortSignal): Promise<Leftover[]> {
	const client = await modalClient(environment);
	try {
		return (await asked(() => leftoversOf(client, environment), signal)).map(({ what: _what, whole: _whole, ...item }) => item);
	} catch (error) {
		throw explained("Modal cannot be asked", error);
	}
}

interface Found extends Leftover {
	readonly what: "sandbox" | "snapshot" | "app";
	/** Modal's full id. */
	readonly whole: string;
}

async function leftoversOf(client: ModalClient, environment: string | undefined): Promise<Found[]> {
	const owners = sandboxOwners();
	const engine = environment === undefined ? {} : { engine: environment };
	const apps = await appsOf(client);
	const boxes = (await Promise.all(apps.map((app) => sandboxesOf(client, app)))).flat();
	const running = boxes.map(({ id, name, createdAt, timeoutSecs }): Found => {
		const owner = owners.of(name);
		return {
			...named("sandbox", id),
			name,
			task: owner?.task ?? "",
			home: owner?.home ?? "",
			state: "running",
			started_at: new Date(createdAt * 1000).toISOString(),
			ends_at: new Date((createdAt + timeoutSecs) * 1000).toISOString(),
			...engine,
			...stateOf(owner),
		};
	});
	const mine = owners.names().flatMap((name) => {
		const owner = owners.of(name);
		return owner !== undefined && (owner.more.environment ?? undefined) === environment ? [{ name, owner }] : [];
	});
	const kept = mine.flatMap(({ name, owner }): Found[] =>
		owner.more.image === undefined || boxes.some((box) => box.name === name)
			? []
			: [
					{
						...named("snapshot", owner.more.image),
						name,
						task: owner.task,
						home: owner.home,
						state: "snapshot",
						started_at: owner.more.kept ?? "",
						...engine,
						...stateOf(owner),
					},
				],
	);
	// An app costs nothing while nothing runs in it: the app of a home on this machine is no leftover.
	const empty = apps.flatMap((app): Found[] => {
		const owner = mine.find((one) => appName(one.owner) === app.name)?.owner;
		const { orphan, elsewhere } = stateOf(owner);
		if ((!orphan && !elsewhere) || boxes.some((box) => box.app === app)) return [];
		const started_at = new Date(app.createdAt * 1000).toISOString();
		return [
			{ ...named("app", app.appId), name: app.name, task: OF_THE_HOME, home: owner?.home ?? "", state: "empty", started_at, ...engine, ...stateOf(owner) },
		];
	});
	return [...running, ...kept, ...empty];
}

/** Returns whether the owner's items are leftovers. An unknown owner is on another host. */
function stateOf(owner: MachineOwner | undefined): Pick<Leftover, "orphan" | "elsewhere"> {
	const gone = owner === undefined ? null : homeIsGone(owner);
	return { orphan: gone === true, ...(gone === null ? { elsewhere: true } : {}) };
}

const named = (what: Found["what"], whole: string) => ({ id: shortId(whole), what, whole });

interface App {
	readonly appId: string;
	readonly name: string;
	readonly createdAt: number;
}

/** AppState of the protocol. */
const OVER = [5, 7];

async function appsOf(client: ModalClient): Promise<App[]> {
	const { apps } = await client.cpClient.appList({ environmentName: client.environmentName() });
	return apps.filter(({ name, state }) => APP_NAME.test(name) && !OVER.includes(state));
}

/** Lists sandboxes. The library's own list omits the creation time, and makes another request for the tags. */
async function sandboxesOf({ cpClient }: ModalClient, app: App): Promise<Listed[]> {
	const found: Listed[] = [];
	for (let before = 0; ; ) {
		const { sandboxes } = await cpClient.sandboxListV2({ appId: app.appId, beforeTimestamp: before, includeFinished: false });
		if (sandboxes.length === 0) return found;
		for (const one of sandboxes) if (MACHINE_NAME.test(one.name)) found.push({ ...one, app });
		before = sandboxes.at(-1)?.createdAt ?? 0;
	}
}

export async function remove(id: string, environment: string | undefined): Promise<boolean> {
	const client = await modalClient(environment);
	try {
		return await asked(() => removed(client, id, environment));
	} catch (error) {
		if (isNotFound(error)) return false;
		throw explained(`${id} cannot be removed`, error);
	}
}

async function removed(client: ModalClient, id: string, environment: string | undefined): Promise<boolean> {
	const owners = sandboxOwners();
	const found = (await leftoversOf(client, environment)).find((one) => one.id === id);
	if (!found) return false;
	const { what, whole, name, home } = found;
	switch (what) {
		case "snapshot":
			await client.images.delete(whole);
			owners.forget(name);
			break;
		case "app":
			await client.cpClient.appStop({ appId: whole });
			owners.forget(machineName({ home, task: OF_THE_HOME }));
			break;
		case "sandbox":
			await (await client.sandboxes.fromId(whole)).terminate();
			if (owners.of(name)?.more.image === undefined) owners.forget(name);
			break;
	}
	return true;
}
