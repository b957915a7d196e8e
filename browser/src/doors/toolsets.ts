/** The toolsets `web` and `browser`, for programs that load this package by its name if it is installed. Nothing heavy is loaded before a set is opened. */
import type { DefinedTool, Runtime } from "holdfast";
import { loadSettings, messageOf, type Settings } from "../base/index.js";
import { type BrowserAvailability, browserAvailable } from "../chrome/index.js";

export interface OfferedToolset {
	readonly name: "web" | "browser";
	readonly description: string;
	/** The names that `open` may return. */
	readonly tools: readonly string[];
	available(): BrowserAvailability;
	/** Makes the tools. `close` lets go of browsers, which go on. `images`: the caller shows pictures to its model. */
	open(
		runtime: Runtime,
		options?: { readonly images?: boolean },
	): Promise<{ readonly tools: readonly DefinedTool[]; readonly note?: string; close(): Promise<void> }>;
}

const BROWSER_TOOLS = [
	"navigate",
	"click",
	"type",
	"press",
	"select",
	"scroll",
	"back",
	"dialog",
	"snapshot",
	"wait",
	"tabs",
	"console",
	"screenshot",
	"upload",
	"download",
	"close",
];

/** `settings`: in place of web.json. `place`: where the tasks are, if that is known; another machine says itself whether it has a Chromium, when one is started. */
export function offeredToolsets(options: { readonly settings?: Settings; readonly place?: string | undefined } = {}): OfferedToolset[] {
	const isElsewhere = !/^local\b/.test(options.place ?? "local");
	let settings: Settings = {};
	let problem: string | undefined;
	try {
		settings = options.settings ?? loadSettings();
	} catch (error) {
		problem = messageOf(error);
	}
	const broken: BrowserAvailability | undefined = problem === undefined ? undefined : { ok: false, why: problem, fix: "correct the file" };
	return [
		{
			name: "web",
			description: "search the web and read pages",
			tools: ["web_search", "web_extract"],
			available: () => broken ?? { ok: true },
			async open() {
				const { webTools } = await import("../web/index.js");
				const { tools, searchOff } = webTools({ settings, data: false });
				const close = async () => (await import("../extract/index.js")).endExtraction();
				return { tools, close, ...(searchOff === undefined ? {} : { note: `web_search is off: ${searchOff}` }) };
			},
		},
		{
			name: "browser",
			description: "drive a browser that outlives this program",
			tools: BROWSER_TOOLS.map((name) => `browser_${name}`),
			available: () => broken ?? (isElsewhere ? { ok: true } : browserAvailable(settings.browser)),
			async open(runtime, { images = false } = {}) {
				const { browserTools } = await import("../drive/index.js");
				return browserTools(runtime, { settings, images });
			},
		},
	];
}
