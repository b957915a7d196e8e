/** Which tools; what is off says why. */
import { toolsetStates } from "../toolsets.js";
import { during, multiselect } from "../ui.js";
import type { StepContext } from "./step.js";

export async function askToolsets({ draft, settings, keys }: StepContext): Promise<void> {
	const states = (await during("Looking at the tools", () => toolsetStates(settings.config, keys, { load: true }))).filter(({ name }) => name !== "all");
	draft.toolsets = await multiselect(
		"Which tools does it get? (Space chooses)",
		states.map(({ name, description, availability }) => ({
			value: name,
			label: name,
			hint: availability.ok ? description : `off: ${availability.why} (${availability.fix})`,
			disabled: !availability.ok,
		})),
		[...(draft.toolsets?.filter((name) => states.some((state) => state.name === name)) ?? ["terminal", "file", "todo", "ask"])],
	);
}
