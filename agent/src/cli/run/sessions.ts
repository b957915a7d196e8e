/** `sessions`: conversations, the last used first. */
import { openAgentHome } from "../../base/index.js";
import { listSessions, type SessionInfo } from "../../talk/index.js";
import { numberOf } from "../settings.js";
import type { Call } from "../table.js";

const SHOWN = 20;

export async function run({ values, words, out }: Call): Promise<number> {
	const limit = values.limit === undefined ? SHOWN : numberOf("--limit", values.limit);
	const [wanted] = words;
	const all = listSessions(openAgentHome(), wanted === undefined ? { limit: limit + 1 } : {});
	const found = wanted === undefined ? all : all.filter((session) => has(session, wanted.toLowerCase()));
	const shown = found.slice(0, limit);
	if (out.json) {
		out.data(shown);
		return 0;
	}
	if (shown.length === 0) {
		out.note(
			wanted === undefined
				? "There is no conversation yet; `holdfast-agent` begins one."
				: `No conversation has "${wanted}" in its title, id or first message.`,
		);
		return 0;
	}
	out.table(
		["ID", "LAST USED", "MESSAGES", "TITLE"],
		shown.map((session) => [session.id, ago(session.updatedAt), String(session.messages), titleOf(session)]),
	);
	if (found.length > shown.length) out.note(`There are more; --limit ${limit * 5} shows them.`);
	return 0;
}

const has = ({ id, title, first }: SessionInfo, text: string): boolean => [id, title ?? "", first].some((one) => one.toLowerCase().includes(text));

function titleOf({ title, first, broken, openCalls, ended }: SessionInfo): string {
	if (broken !== undefined) return `(damaged: ${broken})`;
	const state = openCalls > 0 ? " (a turn is open)" : ended === undefined ? "" : " (ended)";
	return `${title === undefined ? first : `"${title}"`}${state}`;
}

function ago(iso: string): string {
	const minutes = Math.max(0, Math.round((Date.now() - Date.parse(iso)) / 60_000));
	if (!Number.isFinite(minutes)) return "?";
	if (minutes < 60) return `${minutes} min ago`;
	return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1_440)} d ago`;
}
