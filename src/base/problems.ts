/** Mistakes in the input of a person or a program, as sentences: which key, its value, and what belongs there. */
import * as z from "zod";
import { HoldfastError } from "./errors.js";
import { counted } from "./quantity.js";

const SHOWN = 60; // characters of a wrong value
const MOST = 5; // problems that are told
const HIDDEN = ["environment", "env", "token"]; // may be a secret, whatever is wrong with it

/** `problems` is one line, and there is something in it. */
export function checked<T extends z.ZodType>(schema: T, value: unknown): { readonly data: z.output<T> } | { readonly problems: string } {
	const first = schema.safeParse(value);
	if (first.success) return { data: first.data };
	const { error } = schema.safeParse(value, { error: wanted }); // again, in our words, which takes longer
	const found = new Map<string, string[]>(); // of one value several things may be wrong
	for (const [what, why] of (error ?? first.error).issues.map((issue) => sentence(issue, value))) found.set(what, [...(found.get(what) ?? []), why]);
	const all = [...found].map(([what, why]) => `${what}${why.join(", and ")}`);
	return { problems: [...all.slice(0, MOST), ...(all.length > MOST ? [`and ${all.length - MOST} more`] : [])].join("; ") };
}

/** Returns the value as its schema has it. Throws INVALID, in words that begin with `what`, if it does not fit. */
export function parseOptions<T extends z.ZodType>(what: string, schema: T, value: unknown): z.output<T> {
	const result = checked(schema, value);
	if ("problems" in result) throw new HoldfastError("INVALID", `${what}: ${result.problems}`);
	return result.data;
}

/** An option `signal`. */
export const aSignal = z.lazy(() => z.custom<AbortSignal>((value) => value instanceof AbortSignal, "must be an AbortSignal").optional());

/** Returns the found value and what is wrong with it, in words. */
function sentence(issue: z.core.$ZodIssue, value: unknown): readonly [what: string, why: string] {
	const { path, message } = issue;
	const key = keyOf(path);
	if (issue.code === "unrecognized_keys") return [`${key === "" ? "there is" : `${key} has`} no key `, message];
	if (issue.code === "invalid_key") return [`${keyOf(path.slice(0, -1))} has the name ${shown(path.at(-1))}, but `, issue.issues[0]?.message ?? message];
	const there = path.reduce<unknown>((inner, name) => (inner as Record<PropertyKey, unknown> | undefined)?.[name], value);
	if (key === "") return [`it is ${shown(there)}, but `, message];
	if (there === undefined) return [`${key} is missing; it `, message];
	return [`${key} is ${isHidden(path) ? kindOf(there) : shown(there)}, but `, message];
}

/** The address of a notify target may have a topic or a password in it that must not be shown. */
const isHidden = (path: readonly PropertyKey[]): boolean => HIDDEN.some((name) => path.includes(name)) || (path[0] === "notify" && path.includes("url"));

/** Returns what was expected, as the end of a sentence. Not used where a schema has its own words. */
function wanted(issue: z.core.$ZodRawIssue): string | undefined {
	switch (issue.code) {
		case "unrecognized_keys":
			return unknown(
				issue.keys.map((name) => JSON.stringify(cut(name))),
				Object.keys((issue.inst as z.ZodObject | undefined)?.shape ?? {}),
			);
		case "invalid_type":
			return `must be ${TYPE_WORDS[issue.expected] ?? `a ${issue.expected}`}`;
		case "invalid_value":
			return issue.values.length === 1 ? `must be ${shown(issue.values[0])}` : `must be one of ${issue.values.map(shown).join(", ")}`;
		case "too_small":
			if (issue.origin === "string") return issue.minimum === 1 ? "must not be empty" : `must have at least ${counted(Number(issue.minimum), "character")}`;
			if (issue.origin === "array") return `must have at least ${counted(Number(issue.minimum), "entry", "entries")}`;
			return `must be ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`;
		case "too_big":
			if (issue.origin === "string") return `must have at most ${counted(Number(issue.maximum), "character")}`;
			if (issue.origin === "array") return `must have at most ${counted(Number(issue.maximum), "entry", "entries")}`;
			return `must be ${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}`;
		case "invalid_union": {
			const forms = (issue as { options?: readonly unknown[] }).options ?? []; // of an object whose forms one key tells apart
			return forms.length === 0 ? "does not match any allowed form" : `must be one of ${forms.map(shown).join(", ")}`;
		}
		default:
			return undefined;
	}
}

/** The words for expected types, by zod's names. */
export const TYPE_WORDS: Readonly<Record<string, string>> = {
	int: "a whole number",
	number: "a number",
	string: "a string",
	boolean: "true or false",
	array: "a list",
	object: "an object",
	record: "an object",
};

function unknown(names: readonly string[], known: readonly string[]): string {
	return `${names.join(", ")}${known.length === 0 ? "" : `; there are ${known.join(", ")}`}`;
}

/** `places.box.volumes[0]` */
const keyOf = (path: readonly PropertyKey[]): string =>
	path.reduce<string>((before, part) => (typeof part === "number" ? `${before}[${part}]` : before === "" ? String(part) : `${before}.${String(part)}`), "");

const cut = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/** Returns a value as it would be in the file. */
function shown(value: unknown): string {
	if (typeof value === "number" || typeof value === "bigint") return String(value); // JSON has no NaN
	let text: string | undefined;
	try {
		text = JSON.stringify(value);
	} catch {
		text = undefined; // a circle, which only a program can bring
	}
	return text === undefined ? kindOf(value) : cut(text);
}

const kindOf = (value: unknown): string =>
	value === null ? "null" : Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : value === undefined ? "missing" : `a ${typeof value}`;
