/** A tool call and its result, in a few lines for the person. The model has all of it. */
import { oneLine, visible } from "../render/visible.js";

const ARGS_CHARS = 400;
const SHOWN_LINES = 4;

/** `$ make test`, `read src/a.ts`, `search "x" in src`. */
export function callLine(name: string, args: string): string {
	const given = parsed(args);
	const text = (key: string): string => (typeof given?.[key] === "string" ? (given[key] as string) : "");
	const short = (value: string) => oneLine(value, ARGS_CHARS);
	switch (given ? name : "") {
		case "terminal": {
			if (text("input_keys") !== "") return `keys ${short(text("input_keys"))}${text("session_id") ? ` → ${text("session_id")}` : ""}`;
			return `$ ${short(text("command"))}${given?.background === true ? " (in the background)" : ""}`;
		}
		case "process":
			return short(`process ${text("action")} ${text("session_id")} ${text("data")}`.trimEnd());
		case "read_file":
			return short(`read ${text("path")}`);
		case "write_file":
			return short(`write ${text("path")} (${linesOf(text("content"))})`);
		case "patch":
			return short(`patch ${text("path") || [...text("diff").matchAll(/^\+\+\+ (?:b\/)?(\S+)/gm)].map(([, file]) => file).join(", ")}`);
		case "search_files":
			return short(`search ${JSON.stringify(text("pattern"))}${text("path") ? ` in ${text("path")}` : ""}`);
		case "todo":
			return "todo";
		case "ask_user":
			return "asks";
		default:
			return `${oneLine(name, 80)} ${oneLine(args, ARGS_CHARS)}`;
	}
}

function linesOf(content: string): string {
	const count = content === "" ? 0 : content.replace(/\n$/, "").split("\n").length;
	return count === 1 ? "1 line" : `${count} lines`;
}

function parsed(args: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(args === "" ? "{}" : args);
		return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
	} catch {
		return undefined; // the model's mistake: its result says so
	}
}

/** Returns the lines for a result: the first says how, the last lines of the output follow. Lists of steps are shown whole. */
export function resultLines(name: string, text: string): string[] {
	if (name === "ask_user" || name === "read_file") return [oneLine(firstLine(text), ARGS_CHARS)];
	const [head = "", ...body] = visible(text.replaceAll(/\nNote: .*/g, "")).split("\n");
	const lines = body.filter((line) => line.trim() !== "");
	if (name === "todo") return [head, ...lines];
	if (lines.length <= SHOWN_LINES) return [head, ...lines];
	return [head, `… ${lines.length - SHOWN_LINES + 1} more lines`, ...lines.slice(-(SHOWN_LINES - 1))];
}

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";
