/** Reading JSON of others: nothing is taken for what it does not say that it is. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const object = (value: unknown): JsonObject => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {});
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const number = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

/** Returns undefined for what is no JSON. */
export function parsed(source: string): unknown {
	try {
		return JSON.parse(source) as unknown;
	} catch {
		return undefined;
	}
}

/** The arguments of a call if they are a JSON object. A strict prefix of a JSON object is never one, so this also says whether the text is whole. */
export function argumentsOf(args: string): JsonObject | undefined {
	const value = parsed(args);
	return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** As JSON, with U+FFFD for halves of surrogate pairs (an emoji that was cut in two): endpoints refuse the whole body for one. */
export const toBody = (value: unknown): string => JSON.stringify(value, (_, inner: unknown) => (typeof inner === "string" ? wellFormed(inner) : inner));

const LONE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
const wellFormed = (source: string): string => source.replace(LONE, "\uFFFD");
