import { listAt, resultOf, type SearchProvider, withParameters } from "./provider.js";

const FRESH = { day: "pd", week: "pw", month: "pm", year: "py" } as const;

export const brave: SearchProvider = {
	name: "brave",
	needs: ["key"],
	request: ({ query, count, page, since }, { url = "https://api.search.brave.com/res/v1/web/search", key = "" }) => ({
		method: "GET",
		url: withParameters(url, {
			q: query,
			count: Math.min(20, count),
			...(page > 1 ? { offset: Math.min(9, page - 1) } : {}),
			freshness: since && FRESH[since],
		}),
		headers: { accept: "application/json", "x-subscription-token": key },
	}),
	results: (answer) => listAt(answer, "web.results").flatMap((one) => resultOf(one.title, one.url, one.description, one.page_age ?? one.age)),
};
