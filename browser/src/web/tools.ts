/** The tools of the set `web`, as the settings of the person have them. */
import type { DefinedTool } from "holdfast";
import { keyFrom, type Settings } from "../base/index.js";
import { addressFilter, type NetLimits, Rates, type Resolve, Robots } from "../net/index.js";
import { searchProblem } from "../search/index.js";
import { extractTool } from "./extract-tool.js";
import { searchTool } from "./search-tool.js";
import { PageStore } from "./store.js";
import { chatSummariser, type Summariser } from "./summarise.js";

export interface WebToolOptions {
	readonly settings?: Settings;
	/** Condenses pages, in place of the model of the settings. */
	readonly summariser?: Summariser;
	readonly limits?: Partial<NetLimits>;
	/** In place of the system's. */
	readonly resolve?: Resolve;
	/** False: what was found is in the output alone, between the marks. For callers that give the whole answer to a model. */
	readonly data?: boolean;
	/** Milliseconds between two requests to one host. */
	readonly gapMs?: number;
}

export interface WebTools {
	readonly tools: readonly DefinedTool[];
	/** Why there is no `web_search`, and what to do. */
	readonly searchOff?: string;
}

export function webTools({ settings = {}, ...options }: WebToolOptions = {}): WebTools {
	const filter = addressFilter({ allow: settings.allow ?? [], ...(options.resolve ? { resolve: options.resolve } : {}) });
	const net = { filter, ...(options.limits ? { limits: options.limits } : {}) };
	const robots = settings.robots === "ignore" ? undefined : new Robots(net);
	const reader = { ...net, rates: new Rates(options.gapMs), robots };
	const { summarise } = settings;
	const summariser = options.summariser ?? (summarise ? chatSummariser({ ...summarise, key: keyFrom(summarise) }) : undefined);
	const extract = extractTool({ reader, store: new PageStore(settings.directory), summariser });
	if (!settings.search)
		return { tools: [extract], searchOff: 'no search provider is configured; add "search": { "provider": "searxng", "url": "http://…" } to web.json' };
	const search = { ...settings.search, key: keyFrom(settings.search) };
	const problem = searchProblem(search);
	if (problem !== undefined) return { tools: [extract], searchOff: problem };
	return { tools: [searchTool(search, { data: options.data ?? true }), extract] };
}
