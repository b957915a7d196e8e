/** An entry in words, the same for the command line, the page and exports. */
import { counted, sizeText, visible } from "../base/index.js";
import type { TranscriptEntry } from "./entry.js";

export interface EntryWords {
	/** The event in a word or two: `exit 0`, `asked`, `write_file`. */
	readonly head: string;
	/** The command, or what it is about: a text of one line. */
	readonly text: string;
	/** More to know, in a few words each. */
	readonly details: readonly string[];
	/** `bad`: a failure. `asks`: a person has to look. */
	readonly tone: "good" | "bad" | "asks" | "plain";
}

/** On one line. Controls and invisible characters are shown as what they are: nothing acts on a terminal, and nothing is hidden. */
export const onOneLine = (text: string): string => visible(text.replace(/\s*[\r\n]+\s*/g, " ⏎ ").replace(/\t/g, " ")).trim();

export function wordsOf(entry: TranscriptEntry): EntryWords {
	const { head, tone, text } = main(entry);
	return { head, tone, text: onOneLine(text), details: detailsOf(entry).map(onOneLine) };
}

function main(entry: TranscriptEntry): Pick<EntryWords, "head" | "tone"> & { readonly text: string } {
	const { kind, command = "", session_id = "", message = "", by = "" } = entry;
	switch (kind) {
		case "command":
			return { head: endOf(entry), tone: toneOf(entry), text: command };
		case "file":
		case "read":
		case "tool":
			return { head: entry.tool ?? kind, tone: entry.status === "error" ? "bad" : "plain", text: command.replace(SAME_AS, "") };
		case "asked":
			return { head: "asked", tone: "asks", text: command };
		case "decided":
			return {
				head: entry.outcome === "refused_by_rule" ? "refused" : (entry.outcome ?? "decided"),
				tone: isYes(entry.outcome) ? "plain" : "bad",
				text: [message, command].filter(Boolean).join(": "),
			};
		case "notice":
			return { head: "notice", tone: "plain", text: message };
		case "keyboard":
			return { head: "keyboard", tone: "asks", text: `${KEYBOARD[entry.outcome ?? ""] ?? entry.outcome ?? ""} ${by}`.trim() };
		case "killed":
		case "signalled":
			return { head: kind, tone: "bad", text: session_id };
		case "wrote":
			return { head: "wrote", tone: "plain", text: `to the input of ${session_id}` };
	}
}

/** The shell text that stands for a tool of ours: its name says what it does, so the paths are enough. */
const SAME_AS = /^(?:cat >|cat|grep -r x) (?=')/;

const KEYBOARD: Readonly<Record<string, string>> = { taken: "taken by", returned: "given back by", lost: "lost by" };
const isYes = (outcome = ""): boolean => ["once", "task", "always"].includes(outcome);

function endOf({ status = "unknown", exit_code = null, signal }: TranscriptEntry): string {
	if (status === "running") return "running";
	if (status === "exited") return `exit ${exit_code ?? "?"}`;
	return signal === undefined ? status : `${status} ${signal}`;
}

const toneOf = ({ status, exit_code }: TranscriptEntry): EntryWords["tone"] => (status === "running" ? "plain" : exit_code === 0 ? "good" : "bad");

function detailsOf(entry: TranscriptEntry): string[] {
	const { kind, duration_ms, bytes, session_id, approval_id, rule, by, place, signal, note, outcome } = entry;
	const asks = kind === "asked" || kind === "decided";
	const found = [
		duration_ms === undefined || duration_ms === null ? undefined : took(duration_ms),
		bytes === undefined || bytes === null ? undefined : kind === "command" ? sizeText(bytes) : counted(bytes, "byte"),
		place === undefined || place === "local" ? undefined : `on ${place}`,
		kind === "signalled" ? signal : undefined,
		kind === "killed" ? entry.status : undefined,
		rule ? `rule ${rule}` : undefined,
		asks || kind === "command" ? approval_id : undefined,
		by !== undefined && (asks || kind === "killed") && outcome !== "refused_by_rule" ? `by ${by}` : undefined,
		kind === "command" || kind === "notice" || kind === "keyboard" ? session_id : undefined,
		note,
	];
	return found.filter((word) => word !== undefined);
}

function took(ms: number): string {
	if (ms < 1_000) return `${Math.round(ms)} ms`;
	if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
	const minutes = Math.floor(ms / 60_000);
	return minutes < 60 ? `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
