/** Makes the return value or exception of another program's tool into the result of its call. */
import * as z from "zod";
import { checked, counted, HoldfastError } from "../base/index.js";
import type { Redactor } from "../base/secrets/index.js";
import { type Ask, type OwnResult, shortened } from "../tools/index.js";

const answerSchema = z.strictObject({
	output: z.string().optional(),
	data: z.record(z.string(), z.unknown()).optional(),
	error: z.string().min(1).optional(),
	note: z.string().optional(),
	images: z.array(z.strictObject({ type: z.enum(["image/png", "image/jpeg", "image/webp"]), data: z.base64() })).optional(),
});

/** Characters of base64, all pictures together: what models take. */
const MOST_IMAGES = 5_000_000;

export const over = (status: "timeout" | "interrupted", error: string): OwnResult => ({ status, output: "", error });

export function failed(secrets: Redactor, tool: { readonly name: string }, error: unknown): OwnResult {
	const code = error instanceof HoldfastError ? error.code : undefined;
	const words = shortened(secrets, error instanceof Error ? error.message || error.name : String(error), 2_000).text;
	return { status: code === "NOT_FOUND" ? "not_found" : code === "ABORTED" ? "interrupted" : "error", output: "", error: `${tool.name} failed: ${words}` };
}

/** Returns true for an Error, a generator, a Map and the like, which has nothing of an answer in it. */
function isForeign(value: unknown): value is object {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
	const prototype = Object.getPrototypeOf(value) as object | null;
	const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
	return !plain && !Object.keys(answerSchema.shape).some((key) => key in value);
}

/** Returns what the tool returned, cut to the bounds of a result. */
export function resultOf(ask: Ask, tool: { readonly name: string }, value: unknown): OwnResult {
	const wrong = (why: string): OwnResult => ({
		status: "error",
		output: "",
		error: `${tool.name} has run, but what it returned cannot be used: ${why}. This is for the program that defines it; what it did is done`,
	});
	if (isForeign(value)) return wrong(`it is of the class ${value.constructor?.name}; it returns a string, or an object with output, data, error, note`);
	const parsed = checked(answerSchema, typeof value === "string" ? { output: value } : value);
	if ("problems" in parsed) return wrong(`${parsed.problems}; it returns a string, or an object with output, data, error, note`);
	const { output, data, error, note, images = [] } = parsed.data;
	const fit = images.reduce((sum, image) => sum + image.data.length, 0) <= MOST_IMAGES;
	if (!fit) ask.notes.push(`The pictures were left out: together they have more than ${MOST_IMAGES} characters of base64.`);
	let json: string | undefined;
	try {
		json = data && JSON.stringify(data);
	} catch (problem) {
		return wrong(`data is nothing that JSON can hold (${(problem as Error).message})`);
	}
	const { secrets } = ask.runtime.home;
	const { outputChars, maxOutputChars } = ask.limits;
	if (json !== undefined && json.length > maxOutputChars) {
		ask.notes.push(`data had ${counted(json.length, "character")}, more than the ${maxOutputChars} that a result may have, and was left out.`);
		if (output === undefined) return { status: error === undefined ? "ok" : "error", output: "", error: error ?? null };
	}
	const kept = json === undefined || json.length > maxOutputChars ? {} : { data: JSON.parse(json) as Record<string, unknown> };
	const { text, truncated } = shortened(secrets, output ?? json ?? "", outputChars);
	if (note !== undefined) ask.notes.push(shortened(secrets, note, 2_000).text);
	return {
		status: error === undefined ? "ok" : "error",
		output: text,
		error: error === undefined ? null : shortened(secrets, error, 2_000).text,
		...kept,
		...(fit && images.length > 0 ? { images } : {}),
		...(truncated ? { truncated } : {}),
	};
}
