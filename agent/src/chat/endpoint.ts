/** The endpoint that the settings mean, and its models. */
import { type AgentConfig, AgentError, type AgentHome, type EndpointConfig, type KeyRing } from "../base/index.js";
import { type EndpointModel, type ModelOptions, type ModelParts, openModel } from "../model/index.js";
import { knownModel } from "./known-models.js";

/** Throws `CONFIG` if there is none, or if it cannot be told which. */
export function chosenEndpoint({ endpoint, endpoints }: AgentConfig): { readonly name: string; readonly endpoint: EndpointConfig } {
	const names = Object.keys(endpoints);
	const name = endpoint ?? (names.length === 1 ? names[0] : undefined);
	const found = name === undefined ? undefined : endpoints[name];
	if (name !== undefined && found) return { name, endpoint: found };
	if (names.length === 0) throw new AgentError("CONFIG", "no model is set up yet; run `holdfast-agent setup`");
	throw new AgentError(
		"CONFIG",
		`there are several endpoints (${names.join(", ")}), and none is chosen; give --endpoint NAME, or run \`holdfast-agent setup endpoint\``,
	);
}

export interface ModelWanted extends Pick<ModelOptions, "model" | "reasoning"> {
	readonly home: AgentHome;
	readonly keys: KeyRing;
	readonly endpoint: EndpointConfig;
}

/** A model of an endpoint, with what is known about it. */
export async function modelOf({ home, keys, endpoint, model, reasoning }: ModelWanted, parts: ModelParts = {}): Promise<EndpointModel> {
	const { key } = endpoint;
	// Known from the start, it is masked from the start; what is wrong with it the first request says.
	if (key && "file" in key) await keys.read(key).catch(() => {});
	const options = { endpoint, model, reasoning, ...(key ? { key: () => keys.read(key) } : {}) };
	return openModel({ ...options, listed: await knownModel(home, options) }, parts);
}
