/** Facts from endpoints about models, kept for a day in models.json of the home: a chat begins without asking the network. It can be removed at any time. */
import path from "node:path";
import { type AgentHome, readIfThere, writeWhole } from "../base/index.js";
import { aboutModel, type ListedModel, type ModelOptions } from "../model/index.js";

const FRESH_MS = 86_400_000;
/** An endpoint that does not tell within this is used without: the first request says what is wrong with it. */
const ASK_MS = 3_000;

type Known = Record<string, { at: number; model: ListedModel }>;

export async function knownModel(home: AgentHome, options: ModelOptions, now = Date.now()): Promise<ListedModel> {
	const key = `${options.endpoint.url} ${options.model}`;
	const known = read(home)[key];
	if (known && now - known.at < FRESH_MS && now >= known.at) return known.model;
	const timeout = AbortSignal.timeout(ASK_MS);
	const model = await aboutModel(options, {}, timeout).catch(() => known?.model ?? { id: options.model });
	if (!timeout.aborted && Object.keys(model).length > 1) write(home, key, { at: now, model });
	return model;
}

const fileOf = (home: AgentHome): string => path.join(home.root, "models.json");

function read(home: AgentHome): Known {
	try {
		const value: unknown = JSON.parse(readIfThere(fileOf(home))?.toString("utf8") ?? "{}");
		return typeof value === "object" && value !== null ? (value as Known) : {};
	} catch {
		return {}; // half a file: it is asked for again
	}
}

function write(home: AgentHome, key: string, entry: Known[string]): void {
	try {
		writeWhole(fileOf(home), `${JSON.stringify({ ...read(home), [key]: entry })}\n`);
	} catch {
		// a full disk: it is asked for again next time
	}
}
