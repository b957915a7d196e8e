/** `toolsets`: which are on, which are off, why, and what turns them on. */
import { KeyRing } from "../../base/index.js";
import { toolsetStates } from "../../setup/index.js";
import { settingsOf } from "../settings.js";
import type { Call } from "../table.js";

export async function run(call: Call): Promise<number> {
	const { config, home } = settingsOf(call);
	const states = await toolsetStates(config, new KeyRing(home), { load: true });
	const chosen = (name: string) => config.toolsets?.includes(name) ?? false;
	if (call.out.json) {
		call.out.data(states.map(({ name, description, availability }) => ({ name, description, chosen: chosen(name), ...availability })));
		return 0;
	}
	const { out } = call;
	const widest = Math.max(...states.map(({ name }) => name.length));
	for (const { name, description, availability } of states) {
		const mark = availability.ok ? out.style("green", "on ") : out.style("red", "off");
		out.line(`${name.padEnd(widest)}  ${mark}  ${availability.ok ? description : `${availability.why} (${availability.fix})`}`);
	}
	out.note(
		config.toolsets
			? `chosen: ${config.toolsets.join(", ")}`
			: "none is chosen: a chat loads all, -q refuses; choose with --toolsets A,B or `holdfast-agent setup toolsets`",
	);
	return 0;
}
