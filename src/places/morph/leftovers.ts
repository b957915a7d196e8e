/** Instances that Holdfast has made with this account, for every home. */
import { ownEnvironment } from "../../base/index.js";
import type { Leftover, Leftovers, NamedPlace } from "../kind.js";
import { homeIsGone } from "../owner.js";
import { openMorph } from "./api.js";
import { META, OURS } from "./instance.js";
import { removeKey } from "./key.js";

export async function wheres(named: readonly NamedPlace[]): ReturnType<Leftovers["wheres"]> {
	const asked = named.length > 0 || Boolean(ownEnvironment().MORPH_API_KEY);
	return { notes: [], wheres: asked ? [{ id: undefined, label: "Instances of Morph" }] : [] };
}

export async function list(signal: AbortSignal): Promise<Leftover[]> {
	const found = await openMorph().list({ [META.owner]: OURS }, signal);
	return found.map(({ id, status, created, metadata, refs }) => {
		const home = metadata[META.home] ?? "";
		return {
			id,
			name: refs.snapshot_id,
			task: metadata[META.task] ?? "",
			home,
			state: status === "ready" ? "running" : status,
			started_at: new Date(created * 1000).toISOString(),
			orphan: homeIsGone({ home, host: metadata[META.host] ?? "" }) === true,
		};
	});
}

export async function remove(id: string): Promise<boolean> {
	const morph = openMorph();
	const found = await morph.get(id);
	if (found?.metadata[META.owner] !== OURS) return false;
	const owner = { home: found.metadata[META.home] ?? "", host: found.metadata[META.host] ?? "" };
	if (homeIsGone(owner) === false) removeKey(owner.home, id);
	return morph.stop(id);
}
