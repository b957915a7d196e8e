import { listAt, resultOf, type SearchProvider } from "./provider.js";

/** Any service that answers with JSON: `https://search.example.org/?q={query}&n={count}&page={page}`. */
export const template: SearchProvider = {
	name: "template",
	needs: ["url"],
	request: ({ query, count, page }, { url = "", key, headers = {} }) => ({
		method: "GET",
		url: url.replaceAll("{query}", encodeURIComponent(query)).replaceAll("{count}", String(count)).replaceAll("{page}", String(page)),
		headers: {
			accept: "application/json",
			...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replaceAll("{key}", key ?? "")])),
		},
	}),
	note: ({ since }) => (since === undefined ? undefined : "the search provider cannot be asked for a time: since was left out"),
	results(answer, { results, fields = {} }) {
		const list = results === undefined ? LISTS.map((path) => listAt(answer, path)).find((one) => one.length > 0) : listAt(answer, results);
		return (list ?? []).flatMap((one) => {
			const pick = (field: "title" | "url" | "snippet" | "published") =>
				fields[field] === undefined ? NAMES[field].map((name) => one[name]).find(Boolean) : one[fields[field]];
			return resultOf(pick("title"), pick("url"), pick("snippet"), pick("published"));
		});
	},
};

const LISTS = ["results", "items", "data", "hits", "organic", "web.results", ""];
const NAMES = {
	title: ["title", "name"],
	url: ["url", "link", "href"],
	snippet: ["snippet", "content", "description", "text", "body"],
	published: ["published", "publishedDate", "published_date", "date"],
} as const;
