import { expect, it } from "vitest";
import { type SearchSettings, search, searchNote, searchProblem } from "../../src/search/index.js";
import { testSite } from "../support/site.js";

/** Doubles of the providers: each knows the parameters of the real one, and refuses any other. */
const known: Record<string, { query?: Record<string, RegExp>; body?: Record<string, RegExp>; header?: [string, string]; answer: unknown }> = {
	"/searx/search": {
		query: { q: /./, format: /^json$/, pageno: /^\d+$/, time_range: /^(day|month|year)$/, language: /./, categories: /./, engines: /./, safesearch: /^[012]$/ },
		answer: {
			query: "x",
			results: [
				{ title: "One", url: "https://one.example/", content: "first <b>bold</b>", publishedDate: "2026-01-02" },
				{ title: "bad", url: "javascript:1" },
				{ url: "https://one.example/" },
			],
		},
	},
	"/brave": {
		header: ["x-subscription-token", "k"],
		query: {
			q: /^.{1,400}$/,
			count: /^([1-9]|1\d|20)$/,
			offset: /^\d$/,
			freshness: /^p[dwmy]$/,
			country: /^..$/,
			search_lang: /./,
			safesearch: /^(off|moderate|strict)$/,
		},
		answer: { type: "search", web: { results: [{ title: "Two", url: "https://two.example/", description: "second", age: "3 days ago" }] } },
	},
	"/tavily": {
		header: ["authorization", "Bearer k"],
		body: {
			query: /./,
			max_results: /^([0-9]|1\d|20)$/,
			time_range: /^(day|week|month|year)$/,
			topic: /./,
			search_depth: /^(basic|advanced)$/,
			include_answer: /./,
		},
		answer: { query: "x", results: Array.from({ length: 20 }, (_, at) => ({ title: `T${at}`, url: `https://t.example/${at}`, content: "third", score: 1 })) },
	},
	"/exa": {
		header: ["x-api-key", "k"],
		body: { query: /./, numResults: /^\d+$/, contents: /^{"text":{"maxCharacters":\d+}}$/, startPublishedDate: /^\d{4}-\d\d-\d\dT/, type: /./ },
		answer: { results: [{ title: null, url: "https://four.example/", text: "fourth", publishedDate: "2026-03-04T00:00:00Z" }] },
	},
	"/own": {
		query: { q: /./, n: /^\d+$/ },
		header: ["x-own", "k!"],
		answer: { data: { items: [{ heading: "Five", link: "https://five.example/", description: "fifth" }] } },
	},
	"/tags": { query: { q: /./ }, answer: [{ title: "<a".repeat(300_000), url: "https://tags.example/" }] },
	"/no-json": { answer: undefined, query: { q: /./, format: /./ } },
};

const site = testSite((request, response, body) => {
	const url = new URL(request.url ?? "/", "http://double");
	const double = known[url.pathname];
	const refuse = (status: number, text: string) => response.writeHead(status).end(text);
	if (!double) return refuse(404, `unknown path ${url.pathname}`);
	if (double.header && request.headers[double.header[0]] !== double.header[1]) return refuse(401, "bad key");
	if (request.method !== (double.body ? "POST" : "GET")) return refuse(405, "wrong method");
	const given = double.body
		? Object.entries(JSON.parse(body) as object).map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : String(value)])
		: [...url.searchParams];
	const rules = double.body ?? double.query ?? {};
	for (const [name = "", value = ""] of given) if (!rules[name]?.test(value)) return refuse(422, `unknown parameter ${name}=${value}`);
	if (!given.some(([name]) => name === "q" || name === "query")) return refuse(422, "no query");
	response.writeHead(200, { "content-type": "application/json" }).end(double.answer === undefined ? "<html>" : JSON.stringify(double.answer));
});

const at = (provider: string, path: string, more: Partial<SearchSettings> = {}): SearchSettings => ({ provider, url: `${site.url}${path}`, key: "k", ...more });
const queries = [
	{ query: "tie a knot & more", count: 8, page: 1 },
	...(["day", "week", "month", "year"] as const).map((since) => ({ query: "x", count: 20, page: 3, since })),
];

it("asks each provider only what it knows, and returns results of one form", async () => {
	const found: Record<string, unknown> = {};
	for (const settings of [at("searxng", "/searx/"), at("brave", "/brave"), at("tavily", "/tavily"), at("exa", "/exa")])
		for (const query of queries) {
			const results = await search(query, settings);
			found[settings.provider] ??= results[0];
		}
	expect(found).toEqual({
		searxng: { title: "One", url: "https://one.example/", snippet: "first bold", published: "2026-01-02" },
		brave: { title: "Two", url: "https://two.example/", snippet: "second", published: "3 days ago" },
		tavily: { title: "T0", url: "https://t.example/0", snippet: "third" },
		exa: { title: "https://four.example/", url: "https://four.example/", snippet: "fourth", published: "2026-03-04T00:00:00Z" },
	});
	const week = { query: "x", count: 8, page: 1, since: "week" } as const;
	expect(["searxng", "brave", "tavily", "exa", "template"].map((provider) => searchNote(week, { provider }))).toEqual([
		"SearXNG knows no week: these are of the last month",
		undefined,
		undefined,
		undefined,
		"the search provider cannot be asked for a time: since was left out",
	]);
	expect((await search({ query: "x", count: 8, page: 2 }, at("tavily", "/tavily"))).map(({ title }) => title)[0]).toBe("T8");
});

it("asks any service by a template", async () => {
	const settings = at("template", "/own?q={query}&n={count}", { results: "data.items", fields: { title: "heading" }, headers: { "x-own": "{key}!" } });
	expect(await search({ query: "a b&c", count: 3, page: 1 }, settings)).toEqual([{ title: "Five", url: "https://five.example/", snippet: "fifth" }]);
	expect(site.hits.at(-1)).toBe("GET /own?q=a%20b%26c&n=3");
});

it("reads a title of tags that do not end as it reads any other", async () => {
	const [found] = await search({ query: "x", count: 3, page: 1 }, at("template", "/tags?q={query}"));
	expect(found).toMatchObject({ url: "https://tags.example/", title: expect.stringMatching(/^(<a)+$/) });
});

it("says what is wrong, and what to do", async () => {
	const one = { query: "x", count: 1, page: 1 };
	await expect(search(one, at("brave", "/brave", { key: "wrong" }))).rejects.toThrow(
		"answered 401 (its key is wrong or missing; check key_env in web.json): bad key",
	);
	await expect(search(one, at("searxng", "/no-json/.."))).rejects.toThrow("unknown path");
	await expect(search(one, at("template", "/own?q={query}&bad=1", { headers: { "x-own": "k!" } }))).rejects.toThrow("unknown parameter bad=1");
	await expect(search(one, at("template", "/no-json?q={query}"))).rejects.toThrow("answered with no JSON");
	expect(searchProblem({ provider: "searxng" })).toBe("the search provider searxng needs a url");
	expect(searchProblem({ provider: "brave" })).toContain("needs a key");
	expect(searchProblem({ provider: "altavista", url: "x" })).toContain("there are searxng, brave, tavily, exa, template");
});
