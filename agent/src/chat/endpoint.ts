/** The endpoint that the settings mean. */
import { type AgentConfig, AgentError, type EndpointConfig } from "../base/index.js";

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
