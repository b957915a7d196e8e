import { counted, diffLines } from "../../../base/index.js";
import { type Redactor, reveal } from "../../../base/secrets/index.js";
import { decode } from "../text.js";

const LINES = 120;
const CHARS = 300;

/** Returns a short diff for a result. Secrets are detected in the whole texts: a single line of a key does not look like a secret. */
export function shownDiff(secrets: Redactor, file: string, old: Buffer | undefined, fresh: Buffer | undefined): string {
	const texts = [old ? decode(old) : "", fresh ? decode(fresh) : ""] as const;
	const masked = new Map<string, string>();
	for (const text of texts) {
		const hidden = secrets.hide(text).split(/\r?\n/);
		for (const [at, line] of text.split(/\r?\n/).entries()) if (hidden[at] !== line) masked.set(line, reveal(hidden[at] ?? ""));
	}
	const show = (line: string): string => {
		const text = masked.get(line) ?? line;
		return text.length > CHARS ? `${text.slice(0, CHARS)}…` : text;
	};
	const lines = diffLines(...texts, show);
	const rest = lines.length - LINES;
	return [
		`--- ${old ? file : "/dev/null"}`,
		`+++ ${fresh ? file : "/dev/null"}`,
		...lines.slice(0, LINES),
		...(rest > 0 ? [`… ${counted(rest, "more line")} of diff`] : []),
	].join("\n");
}
