/** The choices for a new conversation: from agent.json, and from the endpoint's list. */
import { type AgentConfig, AgentError, loadAgentConfig } from "../base/index.js";
import { chosenEndpoint } from "../chat/index.js";
import { listModels } from "../model/index.js";
import type { Desk } from "./desk.js";
import type { PageSettings } from "./messages.js";

const LIST_MS = 5_000;

/** Never throws for anything that is wrong in the settings: the page says it. */
export function pageSettings({ home }: Desk): PageSettings {
	const base = { endpoint: null, model: null, models: [], place: "local", cwd: process.cwd(), busy: "steer" } as const;
	try {
		const { config } = loadAgentConfig(home);
		const { name, endpoint } = chosenEndpoint(config);
		const models = [config.model ?? [], Object.keys(endpoint.models), config.compact.model ?? []].flat();
		return {
			...base,
			problem: null,
			endpoint: name,
			model: config.model ?? null,
			models: [...new Set(models)],
			place: placeText(config.place),
			busy: config.busy,
		};
	} catch (error) {
		if (!(error instanceof AgentError)) throw error;
		return { ...base, problem: error.message };
	}
}

const placeText = (place: AgentConfig["place"]): string => (typeof place === "string" ? place : JSON.stringify(place));

/** The models that the endpoint lists; none if it does not, or not in time. */
export async function endpointModels({ home, keys }: Desk): Promise<string[]> {
	const { endpoint } = chosenEndpoint(loadAgentConfig(home).config);
	const { key } = endpoint;
	try {
		const listed = await listModels({ endpoint, ...(key ? { key: () => keys.read(key) } : {}) }, {}, AbortSignal.timeout(LIST_MS));
		return listed.map(({ id }) => id);
	} catch {
		return []; // the name can be typed
	}
}
