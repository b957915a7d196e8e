/**
 * Checks what was read from a file: a line that this version does not know, or that was changed by hand, is named instead of half understood. By hand, and
 * not with a schema library: a log has thousands of lines, and is opened before anything is shown.
 */
import type { Entry } from "./entry.js";

/** Returns the line, or what is wrong with it. Fields of later versions are left as they are. */
export function asEntry(value: unknown): Entry | string {
	const line = value as Record<string, unknown>;
	const shape = typeof line.t === "string" && Object.hasOwn(SHAPES, line.t) ? SHAPES[line.t as Entry["t"]] : undefined;
	if (!shape) return `${JSON.stringify(line.t)?.slice(0, 40)} is no kind of line that this version knows`;
	if (line.t === "begun" && typeof line.v === "number" && line.v > 1) return "a later version of holdfast-agent has written it; update this one";
	if (!isNumber(line.n)) return "it has no number";
	for (const field in shape) if (!shape[field]?.(line[field])) return `${field} is not what a line "${line.t}" has there`;
	return value as Entry;
}

type Check = (value: unknown) => boolean;
type Shape = Readonly<Record<string, Check>>;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isFlag: Check = (value) => typeof value === "boolean";
const maybe =
	(check: Check): Check =>
	(value) =>
		value === undefined || check(value);
const oneOf =
	(...names: readonly string[]): Check =>
	(value) =>
		names.includes(value as string);
const object =
	(shape: Shape): Check =>
	(value) => {
		if (typeof value !== "object" || value === null) return false;
		for (const field in shape) if (!shape[field]?.((value as Record<string, unknown>)[field])) return false;
		return true;
	};
const list =
	(check: Check): Check =>
	(value) =>
		Array.isArray(value) && value.every(check);

const isOrigin = object({ platform: isText, person: isText, name: maybe(isText), message: maybe(isText), reply: maybe(isText) });
const isFile = object({ name: isText, path: isText, bytes: isNumber });
const isCall = object({ id: isText, name: isText, args: isText, wire: maybe(object({ from: isText, id: maybe(isText) })) });
const isReasoning = object({ text: isText, format: oneOf("chat", "responses", "anthropic"), from: maybe(isText) });
const isUsage = object({ input: isNumber, output: isNumber, cached: maybe(isNumber), cost: maybe(isNumber) });
const isTokens = object({ segment: isNumber, prompt: list(isNumber), completion: list(isNumber), logprobs: maybe(list(isNumber)) });
const isTool = object({ name: isText, description: isText, schema: object({}) });
const sizes = { upto: isNumber, before: isNumber, after: isNumber };

const SHAPES: Readonly<Record<Entry["t"], Shape>> = {
	begun: { at: isText, v: (value) => value === 1, id: isText, task: isText, place: isText, model: isText, endpoint: maybe(isText), from: maybe(isText) },
	user: { at: isText, id: isText, text: isText, by: isOrigin, files: maybe(list(isFile)) },
	notice: { at: isText, id: isText, text: isText },
	assistant: {
		at: isText,
		text: isText,
		reasoning: maybe(list(isReasoning)),
		calls: list(isCall),
		stop: oneOf("done", "calls", "length"),
		usage: maybe(isUsage),
		model: isText,
		tokens: maybe(isTokens),
		noTokens: maybe(isText),
	},
	partial: { at: isText, text: isText, why: oneOf("interrupted", "cut", "length") },
	note: { at: isText, text: isText },
	result: { at: isText, call: isText, text: isText, failed: isFlag, process: maybe(isText), how: oneOf("ran", "recovered", "skipped", "refused", "unknown") },
	summary: { at: isText, text: isText, ...sizes },
	shortened: { at: isText, ...sizes },
	undone: { at: isText, from: isNumber },
	set: {
		at: isText,
		model: maybe(isText),
		endpoint: maybe(isText),
		auto: maybe(isFlag),
		place: maybe(isText),
		title: maybe(isText),
		mode: maybe(oneOf("steer", "queue", "interrupt")),
	},
	shown: { at: isText, system: isText, tools: list(isTool) },
	failure: { at: isText, turn: isNumber, tool: isText, args: isText, error: isText },
	stopped: { at: isText, why: isText, text: isText },
	ended: { at: isText, why: isText },
};
