/** The model: from the endpoint's list or typed, and what it can do. */
import type { KeyRing } from "../../base/index.js";
import type { ListedModel } from "../../model/index.js";
import type { SetupDraft } from "../draft.js";
import { tryEndpoint, tryModel } from "../probes.js";
import { bad, type Choice, during, filter, good, info, insist, text } from "../ui.js";
import type { StepContext } from "./step.js";

export async function askModel({ draft, keys, signal }: StepContext): Promise<void> {
	const models = draft.models ?? (await listed(draft, keys, signal));
	const { model: before } = draft;
	draft.model =
		models.length > 0
			? await filter(`The model (${models.length === 1 ? "one is" : `${models.length} are`} listed)`, models.map(modelChoice), before)
			: await text("The name of the model", {
					...(before ? { initialValue: before } : {}),
					validate: (value) => (value.trim() === "" ? "give its name" : undefined),
				});
	info(`Trying ${draft.model}: four small requests`);
	const { ok, learned } = await tryModel(draft, keys, signal, ({ ok: fine, optional, words }) => (fine ? good(words) : optional ? info(words) : bad(words)));
	draft.learned = { ...draft.learned, ...learned };
	if (!ok) await insist(`${draft.model} cannot be used as it is`, "Save it all the same?");
}

async function listed(draft: SetupDraft, keys: KeyRing, signal: AbortSignal): Promise<readonly ListedModel[]> {
	const tried = await during("Asking for the models", () => tryEndpoint(draft, keys, signal));
	if (tried.ok) return tried.value;
	if (!tried.unlisted) bad(tried.words);
	return [];
}

function modelChoice({ id, window, tools }: ListedModel): Choice<string> {
	const hint = [window === undefined ? "" : `${Math.round(window / 1000)}k window`, tools === false ? "no tools" : ""].filter(Boolean).join(", ");
	return { value: id, label: id, ...(hint === "" ? {} : { hint }) };
}
