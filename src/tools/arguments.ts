/** Checks a model's arguments and reports errors in sentences that the model can act on. */
import type * as z from "zod";
import { HoldfastError, TYPE_WORDS } from "../base/index.js";
import { brief } from "./brief.js";
import { ignored, instead, known, meantBy } from "./unknown.js";

export interface Arguments<T> {
	readonly wanted: T;
	/** Parameters that the tool does not have. A note names them. */
	readonly unknown: readonly string[];
}

/** Throws INVALID with a sentence. `null` counts as "not given"; a number is accepted as a session_id. */
export function parseArguments<T extends z.ZodObject>(tool: string, schema: T, sent: unknown, notes: string[]): Arguments<z.infer<T>> {
	const { args: given, unknown } = isObject(sent) ? known(schema, cleaned(sent)) : { args: sent ?? {}, unknown: [] };
	const note = ignored(tool, schema, unknown);
	if (note !== undefined) notes.push(note);
	const parsed = schema.safeParse(given);
	if (parsed.success) return { wanted: parsed.data, unknown };
	const { error } = schema.safeParse(given, { error: (issue) => sentence(tool, issue, (missing) => instead(schema, unknown, missing)) }); // again with full sentences, which is slower
	const problems = [...new Set(error?.issues.map((issue) => (issue.code === "custom" ? ownWords(issue, given) : issue.message)))];
	throw new HoldfastError("INVALID", `${problems.slice(0, 3).join("; ")}; nothing was done, correct the call and send it again`);
}

function cleaned(args: Record<string, unknown>): Record<string, unknown> {
	const given = present(args);
	if (typeof given.session_id === "number") given.session_id = String(given.session_id);
	if (isObject(given.until)) given.until = present(given.until);
	return given;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const present = (fields: Record<string, unknown>): Record<string, unknown> =>
	Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

/** Completes the message of a custom check, which is only the end of a sentence. */
function ownWords({ path, message }: z.core.$ZodIssue, args: unknown): string {
	const there = path.reduce<unknown>((inner, name) => (inner as Record<PropertyKey, unknown> | undefined)?.[name], args);
	return `${path.join(".")} is ${shown(there)}, but ${message}`;
}

function sentence(tool: string, issue: z.core.$ZodRawIssue, given: (missing: string) => string): string {
	const name = (issue.path ?? []).join(".");
	const value = issue.input;
	switch (issue.code) {
		case "unrecognized_keys":
			return unknownNames(name, Object.keys((issue.inst as z.ZodObject).shape), issue.keys);
		case "invalid_value": {
			const valid = issue.values.join(", ");
			return value === undefined ? `${name} is missing${given(name)}; give one of ${valid}` : `${name} cannot be ${shown(value)}; it is one of ${valid}`;
		}
		case "invalid_type":
			if (name === "") return `${tool} takes an object of named arguments, not ${shown(value)}`;
			if (value === undefined) return `${name} is missing${given(name)}`;
			return `${name} must be ${TYPE_WORDS[issue.expected] ?? `a ${issue.expected}`}, not ${shown(value)}`;
		case "too_small":
			if (issue.origin === "string") return `${name} is empty`;
			return `${name} must be at least ${issue.minimum}, not ${shown(value)}`;
		case "too_big":
			if (issue.origin === "string") return `${name} is longer than ${issue.maximum} characters`;
			if (issue.origin === "array") return `${name} has more than ${issue.maximum} entries`;
			return `${name} must be at most ${issue.maximum}, not ${shown(value)}`;
		default:
			return `${name} cannot be used: ${issue.message ?? issue.code}`;
	}
}

/** Returns the error about an unknown name inside a parameter. Such a name is refused: to ignore a condition would wait for something else. */
function unknownNames(path: string, names: readonly string[], unknown: readonly string[]): string {
	const name = unknown[0] as string;
	const meant = meantBy(name, names);
	return `${path} has no parameter "${brief(name)}"${meant === undefined ? "" : ` (perhaps ${meant})`}; it has ${names.join(", ")}`;
}

/** Returns a value with its type, as `the number 5` or `the string "x"`. */
function shown(value: unknown): string {
	if (value === undefined) return "missing";
	if (value === null) return "null";
	const type = Array.isArray(value) ? "list" : typeof value;
	let text: string | undefined;
	try {
		text = type === "number" || type === "bigint" ? String(value) : JSON.stringify(value);
	} catch {
		text = undefined; // a cycle, or another value that only a library caller can pass
	}
	if (text === undefined) return `a ${type}`;
	return `the ${type} ${brief(text)}`;
}
