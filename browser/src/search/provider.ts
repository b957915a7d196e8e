/** A search provider: it makes a request of a question, and finds the results in the answer. */
export interface SearchQuery {
	readonly query: string;
	readonly count: number;
	readonly page: number;
	readonly since?: "day" | "week" | "month" | "year" | undefined;
}

export interface SearchResult {
	readonly title: string;
	readonly url: string;
	readonly snippet: string;
	readonly published?: string;
}

export interface ProviderSettings {
	/** The provider's address: needed for one that a person runs; else in place of its own. */
	readonly url?: string | undefined;
	readonly key?: string | undefined;
	/** For `template`: the path of the list in the answer (`data.items`); `fields`: the names of its fields. */
	readonly results?: string | undefined;
	readonly fields?: Readonly<Partial<Record<"title" | "url" | "snippet" | "published", string>>> | undefined;
	readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface SearchRequest {
	readonly url: string;
	readonly method: "GET" | "POST";
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: string;
}

export interface SearchProvider {
	readonly name: string;
	readonly needs: readonly ("url" | "key")[];
	request(query: SearchQuery, settings: ProviderSettings): SearchRequest;
	/** `answer` is JSON of others: anything may be missing. */
	results(answer: unknown, settings: ProviderSettings): SearchResult[];
	/** Returns what it did not do as it was asked. */
	note?(query: SearchQuery): string | undefined;
}

/** Returns the list of objects at a path; an empty one if there is none. */
export function listAt(value: unknown, path: string): Record<string, unknown>[] {
	let at = value;
	for (const key of path.split(".").filter(Boolean)) at = (at as Record<string, unknown> | undefined | null)?.[key];
	return Array.isArray(at) ? at.filter((one) => typeof one === "object" && one !== null) : [];
}

export const textIn = (value: unknown): string => (typeof value === "string" ? value : typeof value === "number" ? String(value) : "");

const MOST_TEXT = 5_000;

/** A result of ours, if it has an address at all. */
export function resultOf(title: unknown, url: unknown, snippet: unknown, published?: unknown): SearchResult[] {
	const address = textIn(url);
	if (!/^https?:\/\//i.test(address)) return [];
	const plain = (text: unknown) =>
		textIn(text)
			.slice(0, MOST_TEXT)
			.replace(/<\/?[a-z][^>]*>/gi, "")
			.replace(/\s+/g, " ")
			.trim();
	return [
		{
			title: plain(title) || address,
			url: address,
			snippet: plain(snippet).slice(0, 500),
			...(textIn(published) === "" ? {} : { published: textIn(published).slice(0, 40) }),
		},
	];
}

/** Adds parameters to the address of a provider. */
export function withParameters(base: string, parameters: Readonly<Record<string, string | number | undefined>>): string {
	const url = new URL(base);
	for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, String(value));
	return url.href;
}
