/** A tool as a command: its schema says which options there are and what they are for. */
import type * as z from "zod";
import { HoldfastError, parseSeconds } from "../../base/index.js";
import type { OptionSpecs, Values } from "./command.js";

/** `list`: of objects, which are written as JSON all together; an `array` is of texts, given one by one. */
type Kind = "boolean" | "number" | "string" | "array" | "list" | "object" | "enum";

export function optionsOf(schema: z.ZodObject, except: readonly string[] = []): OptionSpecs {
	const options: OptionSpecs = {};
	for (const [name, field] of Object.entries(schema.shape)) {
		if (except.includes(name)) continue;
		const kind = kindOf(field as z.ZodType);
		const help = (field as z.ZodType).description ?? "";
		if (kind === "boolean") options[dashed(name)] = { type: "boolean", help };
		else options[dashed(name)] = { type: "string", value: VALUES[kind], help, ...(kind === "array" ? { multiple: true } : {}) };
	}
	return options;
}

/** Returns the given options as arguments of the tool. A text that is no number stays text: the tool reports it. */
export function argumentsOf(schema: z.ZodObject, values: Values): Record<string, unknown> {
	const args: Record<string, unknown> = {};
	for (const [name, field] of Object.entries(schema.shape)) {
		const value = values[dashed(name)];
		if (value !== undefined) args[name] = converted(dashed(name), kindOf(field as z.ZodType), value);
	}
	return args;
}

function converted(name: string, kind: Kind, value: NonNullable<Values[string]>): unknown {
	if (kind === "number" && typeof value === "string" && value.trim() !== "" && !Number.isNaN(Number(value))) return Number(value);
	if (TIMES.includes(name)) return parseSeconds(String(value)) ?? value;
	if (kind === "array" && Array.isArray(value)) return value.flatMap(textsIn);
	if (kind !== "object" && kind !== "list") return value;
	try {
		return JSON.parse(String(value));
	} catch (cause) {
		throw new HoldfastError("INVALID", `--${name} takes a JSON ${kind}, not ${String(value)}; --help has an example`, { cause });
	}
}

/** A text as it is; a JSON list of texts, as the help shows one, as its texts. */
function textsIn(given: string): string[] {
	try {
		const list: unknown = JSON.parse(given);
		return Array.isArray(list) && list.every((text) => typeof text === "string") ? list : [given];
	} catch {
		return [given];
	}
}

/** Seconds to the tools; on the command line a time may have its unit. */
const TIMES: readonly string[] = ["timeout", "check-interval", "idle-threshold"];

const VALUES: Readonly<Record<Exclude<Kind, "boolean">, string>> = { number: "N", string: "TEXT", array: "TEXT", list: "JSON", object: "JSON", enum: "WHAT" };

const dashed = (name: string): string => name.replaceAll("_", "-");

function kindOf(field: z.ZodType): Kind {
	const of = unwrapped(field);
	return of.type === "array" && unwrapped((of as z.ZodArray<z.ZodType>).element).type === "object" ? "list" : (of.type as Kind);
}

/** Returns the schema inside an optional or lazy one. */
function unwrapped(field: z.ZodType): z.ZodType {
	if (field.type === "optional") return unwrapped((field as z.ZodOptional<z.ZodType>).unwrap());
	return field.type === "lazy" ? unwrapped((field as z.ZodLazy<z.ZodType>).unwrap()) : field;
}
