/** `setup --check`: tries what is set, and changes nothing. */
import type { AgentHome, KeyRing, LoadedConfig } from "../base/index.js";
import { chosenEndpoint } from "../chat/index.js";
import { draftFrom } from "./draft.js";
import { modelSteps, tryPlace } from "./probes.js";
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
	const found = (what: CheckLine["what"], ok: boolean, words: string): CheckLine => {
		good &&= ok || what === "toolset";
		return { what, ok, words };
	};
	if (draft.model === undefined) yield found("model", false, "no model is chosen; run `holdfast-agent setup model`");
	else
		for await (const { ok, optional, words } of modelSteps(draft, keys, signal))
			yield found("model", ok || optional === true, `${draft.model} at ${draft.url}: ${words}`);
	const place = await tryPlace(draft.place ?? "local");
	yield found("place", place.ok, place.words);
	for (const { name: set, description, availability } of await toolsetStates(config, keys, { load: true })) {
		if (config.toolsets && !config.toolsets.includes(set)) continue;
		yield found("toolset", availability.ok, availability.ok ? `${set}: ${description}` : `${set} off: ${availability.why} (${availability.fix})`);
	}
	return good;
}
