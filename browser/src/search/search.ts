/** Asks the configured provider. */
import { oneLine, WebError } from "../base/index.js";
import { addressFilter, fetchUrl, hostOf, type NetLimits, portOf } from "../net/index.js";
import { brave } from "./brave.js";
import { exa } from "./exa.js";
import type { ProviderSettings, SearchProvider, SearchQuery, SearchResult } from "./provider.js";
import { searxng } from "./searxng.js";
import { tavily } from "./tavily.js";
import { template } from "./template.js";

/** A new provider is a file and a line. */
export const PROVIDERS: readonly SearchProvider[] = [searxng, brave, tavily, exa, template];

export interface SearchSettings extends ProviderSettings {
	readonly provider: string;
	readonly limits?: Partial<NetLimits>;
}

/** Returns what keeps the settings from being used; undefined: nothing. */
export function searchProblem(settings: SearchSettings): string | undefined {
	const provider = PROVIDERS.find(({ name }) => name === settings.provider);
	if (!provider) return `there is no search provider "${oneLine(settings.provider, 40)}"; there are ${PROVIDERS.map(({ name }) => name).join(", ")}`;
	const missing = provider.needs.find((need) => !settings[need]);
	if (missing === "url") return `the search provider ${provider.name} needs a url`;
	if (missing === "key") return `the search provider ${provider.name} needs a key; name the variable that has it (key_env) or a file (key_file)`;
	if (settings.url !== undefined && !URL.canParse(settings.url.replace(/[{}]/g, ""))) return `the url of the search provider ${provider.name} is no URL`;
	return undefined;
}

/** Returns what the configured provider does not do of a query. */
export const searchNote = (query: SearchQuery, { provider }: SearchSettings): string | undefined =>
	PROVIDERS.find(({ name }) => name === provider)?.note?.(query);

export async function search(query: SearchQuery, settings: SearchSettings, signal?: AbortSignal): Promise<SearchResult[]> {
	const problem = searchProblem(settings);
	if (problem !== undefined) throw new WebError(problem);
	const provider = PROVIDERS.find(({ name }) => name === settings.provider) as SearchProvider;
	const { url, ...request } = provider.request(query, settings);
	// A person has configured it, so it may be on this machine; where it redirects to may not.
	const address = new URL(url);
	const host = hostOf(address).includes(":") ? `[${hostOf(address)}]` : hostOf(address);
	const filter = addressFilter({ allow: [`${host}:${portOf(address)}`] });
	const answer = await fetchUrl(url, {
		...request,
		filter,
		limits: { bytes: 5 * 1024 * 1024, totalMs: 20_000, ...settings.limits },
		...(signal ? { signal } : {}),
	});
	const text = answer.bytes.toString("utf8");
	if (answer.status !== 200)
		throw new WebError(`the search provider ${provider.name} answered ${answer.status}${advice(answer.status, provider.name)}: ${oneLine(text, 200)}`);
	let json: unknown;
	try {
		json = JSON.parse(text);
	} catch {
		throw new WebError(`the search provider ${provider.name} answered with no JSON: ${oneLine(text, 120)}`);
	}
	const seen = new Set<string>();
	const fresh = provider.results(json, settings).filter(({ url: one }) => !seen.has(one) && seen.add(one));
	const skip = provider === tavily || provider === exa ? (query.page - 1) * query.count : 0;
	return fresh.slice(skip, skip + query.count);
}

function advice(status: number, provider: string): string {
	if (status === 401 || (status === 403 && provider !== "searxng")) return " (its key is wrong or missing; check key_env in web.json)";
	if (status === 403) return " (add json to search.formats in its settings.yml)";
	return status === 429 ? " (too many requests; wait a while)" : "";
}
