/** Asks for the place of commands. */
import { tryPlace } from "../probes.js";
import { during, good, insist, orAgain, select, text } from "../ui.js";
import type { StepContext } from "./step.js";

const OTHER = "other";

export async function askPlace({ draft }: StepContext): Promise<void> {
	const known = ["local", "local+sandbox"];
	const chosen = await select(
		"Where do its commands run?",
		[
			{ value: "local", label: "On this machine", hint: "as you, with the rules of Holdfast" },
			{ value: "local+sandbox", label: "On this machine, in a sandbox", hint: "it sees the project, and not the rest of your files" },
			{ value: OTHER, label: "Somewhere else", hint: "ssh://host, docker://image, or a name from config.json" },
		],
		draft.place === undefined || known.includes(draft.place) ? (draft.place ?? "local") : OTHER,
	);
	const before = draft.place && !known.includes(draft.place) ? { initialValue: draft.place } : {};
	const validate = (value: string) => (value.trim() === "" ? "give a place" : undefined);
	const place = chosen === OTHER ? await orAgain(() => text("The place", { placeholder: "ssh://box", validate, ...before })) : chosen;
	const tried = await during(`Running a command at ${place}`, () => tryPlace(place));
	if (tried.ok) good(tried.words);
	else await insist(tried.words, "Save this place all the same?");
	draft.place = place;
}
