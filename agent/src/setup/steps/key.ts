/** The key: typed, from a command, or none. */
import type { KeySource } from "../../base/index.js";
import { KNOWN_ENDPOINTS } from "../../model/index.js";
import { tryEndpoint } from "../probes.js";
import { during, good, hidden, info, insist, orAgain, select, text } from "../ui.js";
import type { StepContext } from "./step.js";

export async function askKey({ draft, keys, signal }: StepContext): Promise<void> {
	const known = KNOWN_ENDPOINTS.find(({ url }) => url === draft.url);
	const how = await select(
		`The key for ${draft.url}`,
		[
			...(draft.key && "source" in draft.key ? [{ value: "keep" as const, label: "Keep the one that is set", hint: describe(draft.key.source) }] : []),
			{ value: "type" as const, label: "Type or paste it", hint: "it is stored in a file that only you can read" },
			{ value: "command" as const, label: "A command that prints it", hint: "pass show …, op read …" },
			{ value: "none" as const, label: "It wants none" },
		],
		draft.key ? "keep" : (known ? known.key : draft.models === undefined) ? "type" : "none",
	);
	if (how === "keep") return;
	await orAgain(async () => {
		draft.key = how === "none" ? undefined : how === "type" ? { value: await hidden("The key (nothing of it is shown)") } : { source: await askCommand() };
	});
	const tried = await during("Trying the key", () => tryEndpoint(draft, keys, signal));
	if (tried.ok) {
		draft.models = tried.value;
		good(tried.words);
	} else if (tried.unlisted) info("The key is tried with the model.");
	else await insist(tried.words, "Go on with this key all the same?");
}

async function askCommand(): Promise<KeySource> {
	const line = await text("The command", { placeholder: "pass show openrouter", validate: (value) => (value.trim() === "" ? "give a command" : undefined) });
	return { command: line.split(/\s+/) };
}

const describe = (source: object): string => ("file" in source ? "in a file" : "from a command");
