/** What a model sent, checked, and what is wrong with it in words that it can act on. */
import type * as z from "zod";
import { HoldfastError } from "../base/errors.js";
import { KINDS } from "../base/problems.js";

/** Names that models take from elsewhere. */
const USUAL: Readonly<Record<string, string>> = {
	cmd: "command",
	cwd: "workdir",
	keys: "input_keys",
	id: "session_id",
	pid: "session_id",
	text: "data",
	input: "data",
	lines: "limit",
	regex: "until",
	pattern: "until",
};

const SHOWN = 60; // characters of a wrong value

/** Throws INVALID with a sentence. `null` is taken for "not given", and a number for an id in digits. */
export function parseArguments<T extends z.ZodObject>(tool: string, schema: T, args: unknown): z.infer<T> {
	const given = isObject(args) ? cleaned(args) : (args ?? {});
	const parsed = schema.safeParse(given);
	if (parsed.success) return parsed.data;
	const { error } = schema.safeParse(given, { error: (issue) => sentence(tool, schema, issue) }); // in words, which takes longer
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

/** A schema that has words of its own has the end of a sentence. */
function ownWords({ path, message }: z.core.$ZodIssue, args: unknown): string {
	const there = path.reduce<unknown>((inner, name) => (inner as Record<PropertyKey, unknown> | undefined)?.[name], args);
	return `${path.join(".")} is ${shown(there)}, but ${message}`;
}

function sentence(tool: string, schema: z.ZodObject, issue: z.core.$ZodRawIssue): string {
	const name = (issue.path ?? []).join(".");
	const value = issue.input;
	switch (issue.code) {
		case "unrecognized_keys":
			return unknownNames(tool, name, name === "" ? Object.keys(schema.shape) : Object.keys((issue.inst as z.ZodObject).shape), issue.keys);
		case "invalid_value": {
			const valid = issue.values.join(", ");
			return value === undefined ? `${name} is missing; give one of ${valid}` : `${name} cannot be ${shown(value)}; it is one of ${valid}`;
		}
		case "invalid_type":
			if (name === "") return `${tool} takes an object of named arguments, not ${shown(value)}`;
			if (value === undefined) return `${name} is missing`;
			return `${name} must be ${KINDS[issue.expected] ?? `a ${issue.expected}`}, not ${shown(value)}`;
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

function unknownNames(tool: string, path: string, known: readonly string[], names: readonly string[]): string {
	const name = names[0] as string;
	const usual = USUAL[name];
	const meant = usual !== undefined && known.includes(usual) ? ` (perhaps ${usual})` : "";
	return `${path === "" ? tool : path} has no parameter "${brief(name)}"${meant}; it has ${known.join(", ")}`;
}

/** What a model sent may be long, and goes into sentences. */
export const brief = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/** A value with its type, as `the number 5` or `the string "x"`. */
function shown(value: unknown): string {
	if (value === undefined) return "missing";
	if (value === null) return "null";
	const type = Array.isArray(value) ? "list" : typeof value;
	let text: string | undefined;
	try {
		text = type === "number" || type === "bigint" ? String(value) : JSON.stringify(value);
	} catch {
		text = undefined; // a circle, or something else that only a library call can bring
	}
	if (text === undefined) return `a ${type}`;
	return `the ${type} ${brief(text)}`;
}
