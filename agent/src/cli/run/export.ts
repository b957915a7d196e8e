/** `export ID`: a conversation for other programs, with keys masked. */
import fs from "node:fs";
import { AgentError, fromSystem, KeyRing, loadAgentConfig, openAgentHome } from "../../base/index.js";
import { EXPORT_FORMATS, type ExportFormat, exportConversation, findSession, Log } from "../../talk/index.js";
import type { Call } from "../table.js";

export async function run({ values, words, out }: Call): Promise<number> {
	const [wanted] = words;
	if (wanted === undefined) throw new AgentError("INVALID", "give the id or title of a conversation; `holdfast-agent sessions` lists them");
	const format = values.format ?? "openai";
	if (!EXPORT_FORMATS.includes(format as ExportFormat)) throw new AgentError("INVALID", `--format takes ${EXPORT_FORMATS.join(", ")}, not "${format}"`);
	const home = openAgentHome();
	const keys = new KeyRing(home);
	for (const { key } of Object.values(loadAgentConfig(home).config.endpoints)) if (key) await keys.read(key).catch(() => {}); // one that cannot be read cannot be in it either
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
