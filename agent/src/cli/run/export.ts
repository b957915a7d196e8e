/** `export ID` and `export RUN`: a conversation, or the episodes of a run, for other programs, with keys masked. */
import fs from "node:fs";
import path from "node:path";
import { AgentError, fromSystem, KeyRing, loadAgentConfig, openAgentHome } from "../../base/index.js";
import { type Exported, exportRun, type OutcomeKind, RUN_FORMATS, type RunFormat } from "../../export/index.js";
import { EXPORT_FORMATS, type ExportFormat, exportConversation, findSession, Log } from "../../talk/index.js";
import type { Call } from "../table.js";

export async function run(call: Call): Promise<number> {
	const [wanted] = call.words;
	if (wanted === undefined)
		throw new AgentError("INVALID", "give the folder of a run, or the id or title of a conversation; `holdfast-agent sessions` lists them");
	const keys = await knownKeys();
	return fs.existsSync(path.join(wanted, "run.json")) ? ofRun(call, wanted, keys) : ofConversation(call, wanted, keys);
}

/** Those of all endpoints, so that they are masked. One that cannot be read cannot be in it either. */
async function knownKeys(): Promise<KeyRing> {
	const home = openAgentHome();
	const keys = new KeyRing(home);
	for (const { key } of Object.values(loadAgentConfig(home).config.endpoints)) if (key) await keys.read(key).catch(() => {});
	return keys;
}

async function ofRun({ values, out }: Call, dir: string, keys: KeyRing): Promise<number> {
	const format = formatOf(values.format, RUN_FORMATS);
	const { output } = values;
	const exported = await exportRun({
		...{ dir, format, redact: keys.redact, print: printed },
		...(typeof output === "string" ? { output } : {}),
		...(typeof values.only === "string" ? { only: outcomesIn(values.only) } : {}),
		clean: values.clean === true,
	});
	out.note(`${wordsOf(exported, format)}${typeof output === "string" ? `: ${output}` : ""}`);
	return 0;
}

const OUTCOMES: readonly OutcomeKind[] = ["scored", "recorded", "error"];

function outcomesIn(text: string): OutcomeKind[] {
	const names = text.split(",").map((name) => name.trim());
	const wrong = names.find((name) => !OUTCOMES.includes(name as OutcomeKind));
	if (wrong !== undefined) throw new AgentError("INVALID", `--only takes ${OUTCOMES.join(", ")}, not "${wrong}"`);
	return names as OutcomeKind[];
}

function wordsOf({ episodes, rows, open, without, corrupted, unknownTools }: Exported, format: RunFormat): string {
	const why = format === "rollouts" ? "no token ids" : "are of another kind";
	const more = [
		...(without > 0 ? [`${without} without a row (${why})`] : []),
		...(corrupted > 0 ? [`${corrupted} with a damaged conversation, marked`] : []),
		...(unknownTools > 0 ? [`${unknownTools} with unknown tools, marked`] : []),
		...(open > 0 ? [`${open} of the run have no result yet`] : []),
	];
	return [`${episodes} episodes as ${format}, ${rows} rows`, ...more].join("; ");
}

/** Waits for a reader that is slower: else all of it would be in memory. */
const printed = (text: string): Promise<void> =>
	new Promise((resolve, reject) => void process.stdout.write(text, (error) => (error ? reject(error) : resolve())));

async function ofConversation({ values, out }: Call, wanted: string, keys: KeyRing): Promise<number> {
	const format = formatOf(values.format, EXPORT_FORMATS);
	const home = openAgentHome();
	const session = findSession(home, wanted);
	if (session.broken !== undefined) throw new AgentError("BROKEN", session.broken);
	const text = `${JSON.stringify(exportConversation(Log.read(home, session.id).entries, format as ExportFormat, keys.redact), null, "\t")}\n`;
	if (typeof values.output !== "string") process.stdout.write(text);
	else {
		try {
			fs.writeFileSync(values.output, text, { mode: 0o600 });
		} catch (error) {
			throw fromSystem(error, `cannot write ${values.output}`);
		}
		out.note(`${session.id} as ${format}: ${values.output}`);
	}
	return 0;
}

function formatOf<F extends string>(given: unknown, formats: readonly F[]): F {
	const format = given ?? "openai";
	if (!formats.includes(format as F)) throw new AgentError("INVALID", `--format takes ${formats.join(", ")}, not "${String(given)}"`);
	return format as F;
}
