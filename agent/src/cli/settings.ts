/** Home and settings of a call: flags count before agent.json. */
import { AgentError, type AgentHome, type ConfigFlag, type LoadedConfig, loadAgentConfig, openAgentHome } from "../base/index.js";
import type { Call } from "./table.js";

export interface CallSettings extends LoadedConfig {
	readonly home: AgentHome;
	readonly flags: readonly ConfigFlag[];
}

export function settingsOf(call: Call): CallSettings {
	const home = openAgentHome();
	const flags = flagsOf(call);
	return { home, flags, ...loadAgentConfig(home, flags) };
}

function flagsOf({ values }: Call): ConfigFlag[] {
	const flags: ConfigFlag[] = [];
	for (const name of ["model", "endpoint", "reasoning", "place"] as const)
		if (values[name] !== undefined) flags.push({ flag: `--${name}`, key: [name], value: values[name] });
	if (typeof values.toolsets === "string") flags.push({ flag: "--toolsets", key: ["toolsets"], value: listOf(values.toolsets) });
	if (values.steps !== undefined) flags.push({ flag: "--steps", key: ["limits", "steps"], value: numberOf("--steps", values.steps) });
	return flags;
}

const listOf = (text: string): string[] =>
	text
		.split(",")
		.map((name) => name.trim())
		.filter((name) => name !== "");

export function numberOf(flag: string, text: unknown): number {
	const value = Number(text);
	if (typeof text === "string" && /^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
	throw new AgentError("INVALID", `${flag} takes a whole number, not "${String(text)}"`);
}
