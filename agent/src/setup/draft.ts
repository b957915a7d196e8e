/** The settings that `setup` is about to write. None of them is on the disk before `save`. */
import { type AgentConfig, type AgentHome, type ConfigChange, changeAgentConfig, type KeyRing, type KeySource, type LoadedConfig } from "../base/index.js";
import type { EndpointSettings, ListedModel, WireFormat } from "../model/index.js";

/** `value`: a key that was typed, and will be stored. */
export type DraftKey = { readonly value: string } | { readonly source: KeySource };

export interface SetupDraft {
	/** The name of the endpoint in agent.json. */
	name: string;
	url: string;
	format: WireFormat;
	key: DraftKey | undefined;
	model: string | undefined;
	reasoning: AgentConfig["reasoning"];
	place: string | undefined;
	toolsets: readonly string[] | undefined;
	/** The probe's findings about the endpoint. */
	learned: Pick<EndpointSettings, "bridge" | "maxTokensField" | "systemRole">;
	/** The settings of endpoints so far, by name: headers, windows. They stay, and count in what is tried. */
	readonly set: AgentConfig["endpoints"];
	/** The models that the endpoint has listed, once it was asked. */
	models?: readonly ListedModel[];
}

/** Returns a draft of the current settings, to begin with. */
export function draftFrom({ config }: LoadedConfig): SetupDraft {
	const names = Object.keys(config.endpoints);
	const name = config.endpoint ?? names[0] ?? "";
	const endpoint = config.endpoints[name];
	return {
		name,
		url: endpoint?.url ?? "",
		format: endpoint?.format ?? "chat",
		key: endpoint?.key ? { source: endpoint.key } : undefined,
		model: config.model,
		reasoning: config.reasoning,
		place: typeof config.place === "string" ? config.place : undefined,
		toolsets: config.toolsets,
		learned: {},
		set: config.endpoints,
	};
}

export type SetupStep = "endpoint" | "key" | "model" | "place" | "toolsets";
export const STEPS: readonly SetupStep[] = ["endpoint", "key", "model", "place", "toolsets"];

/** The changes of these steps, for `save` and for showing them first. */
export function changesOf(draft: SetupDraft, steps: readonly SetupStep[]): ConfigChange[] {
	const inEndpoint = (key: string, value: unknown): ConfigChange => ({ key: ["endpoints", draft.name, key], value });
	const has = (step: SetupStep) => steps.includes(step);
	return [
		...(has("endpoint") ? [inEndpoint("url", draft.url), inEndpoint("format", draft.format), { key: ["endpoint"], value: draft.name }] : []),
		...(has("key") ? [inEndpoint("key", keyShown(draft))] : []),
		...(has("model") ? [{ key: ["model"], value: draft.model }, ...Object.entries(draft.learned).map(([key, value]) => inEndpoint(key, value))] : []),
		...(has("place") ? [{ key: ["place"], value: draft.place }] : []),
		...(has("toolsets") ? [{ key: ["toolsets"], value: draft.toolsets }] : []),
	];
}

/** A typed key is stored under the name of its endpoint. */
const keyShown = ({ key, name }: SetupDraft): KeySource | undefined => (key === undefined ? undefined : "source" in key ? key.source : { file: name });

/** Stores the key first: settings that name a key which is not there would be worse than a key that no setting names. */
export async function save(home: AgentHome, keys: KeyRing, draft: SetupDraft, steps: readonly SetupStep[]): Promise<LoadedConfig> {
	if (steps.includes("key") && draft.key && "value" in draft.key) keys.store(draft.name, draft.key.value);
	return changeAgentConfig(home, changesOf(draft, steps));
}
