/**
 * Asks an endpoint about a model: its list or, on local servers, the place where they keep it. Ollama, LM Studio and llama.cpp have the window that the model
 * was loaded with, which is often far smaller than what the model could have; a longer request they cut without a word.
 */
import { baseUrl, knownEndpoint } from "./endpoints.js";
import { list, number, object, text } from "./json.js";
import { getJson, type ListedModel, listModels, type ModelListOptions } from "./list.js";
import type { ModelParts } from "./open.js";

const LOCAL_MS = 5_000;

/** Returns what is known, perhaps nothing. Rejects only with the signal's reason. */
export async function aboutModel(options: ModelListOptions & { readonly model: string }, parts: ModelParts, signal: AbortSignal): Promise<ListedModel> {
	const models = await listModels(options, parts, signal).catch((): ListedModel[] => []);
	signal.throwIfAborted();
	const found = models.find(({ id }) => id === options.model) ?? { id: options.model };
	if (found.window !== undefined) return found;
	const window = await loadedWindow(options, parts, signal);
	return window === undefined ? found : { ...found, window };
}

async function loadedWindow(options: ModelListOptions & { readonly model: string }, parts: ModelParts, signal: AbortSignal): Promise<number | undefined> {
	const known = knownEndpoint(options.endpoint.url);
	if (known?.key) return undefined; // a service: it has no such pages
	const { origin } = new URL(baseUrl(options.endpoint.url));
	const ask = async (path: string, body?: unknown) => {
		const answer = await getJson(options, origin + path, parts, signal, { ms: LOCAL_MS, body }).catch(() => undefined);
		signal.throwIfAborted();
		return object(answer);
	};
	const named = (row: unknown) => [object(row).model, object(row).name, object(row).id].includes(options.model);

	const ollama = list((await ask("/api/ps")).models).find(named);
	const loaded = number(object(ollama).context_length);
	if (loaded !== undefined) return loaded;
	const set = /^num_ctx\s+(\d+)/m.exec(text((await ask("/api/show", { model: options.model })).parameters));
	if (set) return Number(set[1]);
	const studio = object(list((await ask("/api/v0/models")).data).find(named));
	const own = number(studio.loaded_context_length) ?? number(studio.max_context_length);
	if (own !== undefined) return own;
	return number(object((await ask("/props")).default_generation_settings).n_ctx); // llama.cpp
}
