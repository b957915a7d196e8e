/** Which endpoint: a known one, one that runs on this machine, or any address. */
import { baseUrl, KNOWN_ENDPOINTS, type KnownEndpoint, ModelError, type WireFormat } from "../../model/index.js";
import { nameOf } from "../answers.js";
import type { SetupDraft } from "../draft.js";
import { localServers } from "../local.js";
import { tryEndpoint } from "../probes.js";
import { type Choice, during, good, insist, orAgain, select, text } from "../ui.js";
import type { StepContext } from "./step.js";

const FIRST = ["OpenRouter", "OpenAI", "Anthropic"];
const OTHER = "other";

export async function askEndpoint(context: StepContext): Promise<void> {
	const { draft } = context;
	const found = await during("Looking for model servers on this machine", () => localServers());
	const services = FIRST.flatMap((name) => KNOWN_ENDPOINTS.find((known) => known.name === name) ?? []);
	const choices: Choice<KnownEndpoint | string>[] = [
		...found.map(({ known, models }) => ({ value: known, label: known.name, hint: `runs on this machine, ${models} models` })),
		...services.map((known) => ({ value: known, label: known.name, hint: new URL(known.url).host })),
		{ value: OTHER, label: "Another one", hint: "any OpenAI-compatible address: vLLM, Groq, Mistral, a proxy …" },
		...(draft.url === "" || [...found.map(({ known }) => known), ...services].some(({ url }) => url === draft.url)
			? []
			: [{ value: draft.url, label: draft.url, hint: `as it is: ${draft.name}` }]),
	];
	const before = choices.find(({ value }) => (typeof value === "string" ? value : value.url) === draft.url)?.value;
	const chosen = await select("Which endpoint has your model?", choices, before);
	if (chosen !== draft.url) await orAgain(() => use(chosen, context));
}

/** One that the person does not insist on leaves the draft as it was. */
async function use(chosen: KnownEndpoint | string, { draft, keys, signal }: StepContext): Promise<void> {
	const next = typeof chosen === "string" ? await askUrl(draft) : { url: chosen.url, format: chosen.formats[0], name: nameOf(chosen.name) };
	const tried = await during(`Asking ${next.url} for its models`, () => tryEndpoint({ ...draft, ...next, learned: {}, key: undefined }, keys, signal));
	// One that wants a key answers 401, which is a good sign: the next step is the key.
	if (tried.ok) good(tried.words);
	else if (tried.kind !== "key") await insist(tried.words, "Use this address all the same?", { perhaps: tried.unlisted === true });
	const other = next.url !== draft.url;
	Object.assign(draft, next, other ? { key: undefined, models: undefined, learned: {} } : {}, tried.ok ? { models: tried.value } : {});
}

async function askUrl(draft: SetupDraft): Promise<Pick<SetupDraft, "url" | "format" | "name">> {
	const url = await text("Its address", {
		placeholder: "http://localhost:8000/v1",
		validate: (value) => {
			try {
				baseUrl(value);
				return undefined;
			} catch (error) {
				return error instanceof ModelError ? error.message : String(error);
			}
		},
	});
	const base = baseUrl(url);
	const known = KNOWN_ENDPOINTS.find((one) => new URL(one.url).host === new URL(base).host);
	const format = known ? known.formats[0] : await select("Which format does it speak?", FORMATS);
	const name = nameOf(known?.name ?? new URL(base).hostname.replace(/^(api|www)\./, ""));
	return { url: base, format, name: name || draft.name || "custom" };
}

const FORMATS: readonly Choice<WireFormat>[] = [
	{ value: "chat", label: "OpenAI chat completions", hint: "nearly every server does" },
	{ value: "responses", label: "OpenAI responses" },
	{ value: "anthropic", label: "Anthropic messages" },
];
