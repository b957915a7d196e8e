/** Handles parameters that a tool does not have. A client may add its own, and a model may get a name wrong: they are ignored, and a note names them. */

import type * as z from "zod";
import { byName, typos } from "../base/index.js";
import { brief } from "./brief.js";

/** Names that models know from other tools. */
const USUAL = byName<readonly string[]>({
	cmd: ["command"],
	cwd: ["workdir"],
	keys: ["input_keys", "data"],
	id: ["session_id"],
	pid: ["session_id"],
	text: ["data"],
	input: ["data", "input_keys"],
	lines: ["limit"],
	regex: ["until", "pattern"],
	pattern: ["until"],
	file: ["path"],
	file_path: ["path"],
	filename: ["path"],
	destination: ["target"],
	dest: ["target"],
	to: ["target"],
	from: ["source"],
	src: ["source"],
});

/** Gemini CLI adds these to the schema of every tool, and passes them on. */
const OF_CLIENTS: readonly string[] = ["wait_for_previous"];

const SHOWN = 5;
const LONGEST = 40; // longer names are not compared
const MISTYPED = 2; // letters

/** Splits the arguments into those of the tool and the names of the rest. */
export function known(schema: z.ZodObject, given: Readonly<Record<string, unknown>>): { args: Record<string, unknown>; unknown: string[] } {
	const unknown = Object.keys(given).filter((name) => !Object.hasOwn(schema.shape, name));
	if (unknown.length === 0) return { args: given, unknown };
	return {
		args: Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(schema.shape, name))),
		unknown: unknown.filter((name) => !OF_CLIENTS.includes(name)),
	};
}

/** Returns one sentence for the result; undefined if nothing was ignored. */
export function ignored(tool: string, schema: z.ZodObject, unknown: readonly string[]): string | undefined {
	if (unknown.length === 0) return undefined;
	const names = unknown.slice(0, SHOWN).map((name) => {
		const meant = meantBy(name, Object.keys(schema.shape));
		return `${JSON.stringify(brief(name))}${meant === undefined ? "" : ` (perhaps ${meant})`}`;
	});
	const more = unknown.length > SHOWN ? ` and ${unknown.length - SHOWN} more` : "";
	return `Ignored: ${names.join(", ")}${more}; ${tool} has no such parameter.`;
}

/** Returns which given parameter was probably meant by a missing one, for an error. */
export function instead(schema: z.ZodObject, unknown: readonly string[], missing: string): string {
	const found = unknown.find((name) => meantBy(name, Object.keys(schema.shape)) === missing);
	return found === undefined ? "" : ` (there is no parameter "${brief(found)}"; perhaps ${missing})`;
}

export function meantBy(name: string, names: readonly string[]): string | undefined {
	const usual = USUAL[name]?.find((one) => names.includes(one));
	if (usual !== undefined || name.length > LONGEST) return usual;
	const plain = name.toLowerCase().replaceAll(/[^a-z]/g, "");
	return names.find((one) => {
		const other = one.replaceAll("_", "");
		return typos(plain, other) <= (other.length > MISTYPED * 2 ? MISTYPED : 1);
	});
}
