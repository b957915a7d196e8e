import { listAt, resultOf, type SearchProvider } from "./provider.js";

/** It has no further pages: more results are asked for instead. */
export const tavily: SearchProvider = {
	name: "tavily",
	needs: ["key"],
	request: ({ query, count, page, since }, { url = "https://api.tavily.com/search", key = "" }) => ({
		method: "POST",
		url,
		headers: { "content-type": "application/json", accept: "application/json", authorization: `Bearer ${key}` },
		body: JSON.stringify({ query, max_results: Math.min(20, count * page), ...(since ? { time_range: since } : {}) }),
	}),
	results: (answer) => listAt(answer, "results").flatMap((one) => resultOf(one.title, one.url, one.content, one.published_date)),
};
