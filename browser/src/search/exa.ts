import { listAt, resultOf, type SearchProvider, textIn } from "./provider.js";

const DAYS = { day: 1, week: 7, month: 31, year: 366 } as const;

export const exa: SearchProvider = {
	name: "exa",
	needs: ["key"],
	request: ({ query, count, page, since }, { url = "https://api.exa.ai/search", key = "" }) => ({
		method: "POST",
		url,
		headers: { "content-type": "application/json", accept: "application/json", "x-api-key": key },
		body: JSON.stringify({
			query,
			numResults: Math.min(100, count * page),
			contents: { text: { maxCharacters: 500 } },
			...(since ? { startPublishedDate: new Date(Date.now() - DAYS[since] * 86_400_000).toISOString() } : {}),
		}),
	}),
	results: (answer) => listAt(answer, "results").flatMap((one) => resultOf(one.title, one.url, textIn(one.summary) || one.text, one.publishedDate)),
};
