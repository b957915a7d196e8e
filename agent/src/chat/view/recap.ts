/** The end of a conversation that is gone on with: what was said last, in a few lines. */
import type { Entry } from "../../talk/index.js";
import { type Look, paint } from "../render/look.js";
import { renderMarkdown } from "../render/stream.js";
import { oneLine } from "../render/visible.js";

const SHOWN = 8;

/** Nothing if nothing was said. */
export function recapLines(entries: readonly Entry[], look: Look): string[] {
	const asked = entries.findLast((entry) => entry.t === "user");
	if (asked?.t !== "user") return [];
	const answer = entries.slice(asked.n).findLast((entry) => (entry.t === "assistant" || entry.t === "partial") && entry.text.trim() !== "");
	const lines = answer && "text" in answer ? renderMarkdown(answer.text ?? "", look) : [];
	const shown = lines.length > SHOWN ? ["…", ...lines.slice(-SHOWN)] : lines;
	return [paint(look, "bold", `› ${oneLine(asked.text, look.columns - 2)}`), ...(shown.length > 0 ? ["", ...shown] : [])];
}
