/** `setup --check`: tries what is set, and changes nothing. */
import type { AgentHome, KeyRing, LoadedConfig } from "../base/index.js";
import { chosenEndpoint } from "../chat/index.js";
import { draftFrom } from "./draft.js";
import { tryModel, tryPlace } from "./probes.js";
import { toolsetStates } from "./toolsets.js";

export interface CheckLine {
	readonly what: "model" | "place" | "toolset";
	readonly ok: boolean;
	readonly words: string;
}

/** Yields each finding as it is made. Throws `CONFIG` if no model is set up. */
export async function* checkSetup(settings: LoadedConfig & { home: AgentHome }, keys: KeyRing, signal: AbortSignal): AsyncGenerator<CheckLine, boolean> {
	const { config } = settings;
	const { name } = chosenEndpoint(config);
	const draft = draftFrom({ ...settings, config: { ...config, endpoint: name } });
	let good = true;
	const lines: CheckLine[] = [];
	if (draft.model === undefined) lines.push({ what: "model", ok: false, words: "no model is chosen; run `holdfast-agent setup model`" });
	else
		await tryModel(draft, keys, signal, ({ ok, optional, words }) => {
			lines.push({ what: "model", ok: ok || optional === true, words: `${draft.model} at ${draft.url}: ${words}` });
		});
	const place = await tryPlace(draft.place ?? "local");
	lines.push({ what: "place", ok: place.ok, words: place.words });
	const wanted = config.toolsets;
	for (const { name: set, description, availability } of await toolsetStates(config, keys, { load: true })) {
		if (wanted && !wanted.includes(set)) continue;
		lines.push({
			what: "toolset",
			ok: availability.ok,
			words: availability.ok ? `${set}: ${description}` : `${set} off: ${availability.why} (${availability.fix})`,
		});
	}
	for (const line of lines) {
		good &&= line.ok || line.what === "toolset";
		yield line;
	}
	return good;
}
