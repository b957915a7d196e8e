import { listAt, resultOf, type SearchProvider, withParameters } from "./provider.js";

/** A SearXNG that a person runs, with `json` among `search.formats` of its settings. */
export const searxng: SearchProvider = {
	name: "searxng",
	needs: ["url"],
	request: ({ query, page, since }, { url = "", headers }) => ({
		method: "GET",
		url: withParameters(`${url.replace(/\/+$/, "").replace(/\/search$/, "")}/search`, {
			q: query,
			format: "json",
			...(page > 1 ? { pageno: page } : {}),
			time_range: since === "week" ? "month" : since,
		}),
		headers: { accept: "application/json", ...headers },
	}),
	results: (answer) => listAt(answer, "results").flatMap((one) => resultOf(one.title, one.url, one.content, one.publishedDate)),
	note: ({ since }) => (since === "week" ? "SearXNG knows no week: these are of the last month" : undefined),
};
