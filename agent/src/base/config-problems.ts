/** Describes a wrong setting in a sentence: which key, its value, and what belongs there. */
import type * as z from "zod";
import { joinPath, pathText } from "./json-places.js";
import { nearNames } from "./near.js";

const SHOWN = 60; // characters of a wrong value

export interface Problem {
	/** The path of the value, or of the object that has an unknown key. */
	readonly path: readonly PropertyKey[];
	readonly text: string;
}

export function problemsOf(error: z.ZodError, value: unknown): Problem[] {
	return error.issues.flatMap((issue) => problems(issue, value, []));
}

function problems(issue: z.core.$ZodIssue, value: unknown, above: readonly PropertyKey[]): Problem[] {
	const path = [...above, ...issue.path];
	if (issue.code === "unrecognized_keys") return issue.keys.map((key) => ({ path: [...path, key], text: unknownKey(path, key, shapeKeys(issue)) }));
	if (issue.code === "invalid_union" && issue.errors.length > 0) return nearestForm(issue.errors).flatMap((inner) => problems(inner, value, path));
	if (issue.code === "invalid_key") return [{ path, text: `the name ${JSON.stringify(path.at(-1))} ${issue.issues[0]?.message ?? "cannot be used"}` }];
	const there = path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
	const what = pathText(path);
	if (issue.code === "custom" && issue.params?.secret === true) return [{ path, text: `${what} ${issue.message}` }];
	if (there === undefined) return [{ path, text: `${what} is missing; it ${wanted(issue)}` }];
	return [{ path, text: `${what === "" ? "it" : what} is ${shown(there)}, but ${wanted(issue)}` }];
}

function unknownKey(path: readonly PropertyKey[], key: string, known: readonly string[]): string {
	const near = nearNames(key, known).map((name) => joinPath(pathText(path), name));
	const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : known.length > 0 ? `there are ${known.join(", ")}` : "remove it";
	return `${joinPath(pathText(path), key)} is no setting; ${hint}`;
}

/** Zod names the schema only while it parses; `known` was put there by `describeUnknown`. */
const shapeKeys = (issue: z.core.$ZodIssue): readonly string[] => (issue as { readonly message: string }).message.split("\n").filter(Boolean);

/** For `safeParse(value, { error })`: the keys that there are become the message of an unknown one. */
export function describeUnknown(issue: z.core.$ZodRawIssue): string | undefined {
	if (issue.code !== "unrecognized_keys") return undefined;
	return Object.keys((issue.inst as z.ZodObject | undefined)?.shape ?? {}).join("\n");
}

/** Returns the form that fits best: the one with the fewest mistakes. */
const nearestForm = (forms: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] => [...forms].sort((a, b) => weight(a) - weight(b))[0] ?? [];
const weight = (issues: readonly z.core.$ZodIssue[]): number =>
	issues.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1), 0);

function wanted(issue: z.core.$ZodIssue): string {
	switch (issue.code) {
		case "invalid_type":
			return `must be ${TYPES[issue.expected] ?? issue.expected}`;
		case "invalid_value":
			return issue.values.length === 1 ? `must be ${shown(issue.values[0])}` : `must be one of ${issue.values.map(shown).join(", ")}`;
		case "too_small":
			return issue.origin === "string"
				? "must not be empty"
				: issue.origin === "array"
					? `must have at least ${issue.minimum}`
					: `must be at least ${issue.minimum}`;
		case "too_big":
			return issue.origin === "string" || issue.origin === "array" ? `must be at most ${issue.maximum} long` : `must be at most ${issue.maximum}`;
		default:
			return issue.message;
	}
}

const TYPES: Readonly<Record<string, string>> = {
	int: "a whole number",
	number: "a number",
	string: "text in quotes",
	boolean: "true or false",
	array: "a list",
	object: "an object",
	record: "an object",
};

const shown = (value: unknown): string => {
	const text = (JSON.stringify(value) ?? String(value)).replace(/\/\/[^/@\s]*@/g, "//…@"); // a password in an address
	return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
};
