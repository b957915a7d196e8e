/** The meaning of a failed request for the message. */
import { errno } from "../../base/index.js";
import { PlatformError } from "./platform.js";

/** The connection never came about, so the platform has seen nothing. */
const NEVER_CONNECTED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Makes a `not-sent` or `unsure` of an error of the network, with the codes of its causes. */
export function fromNetwork(error: unknown, platform: string): PlatformError {
	if (error instanceof PlatformError) return error;
	const codes = [...codesOf(error)];
	const why = codes[0] ?? (error instanceof Error ? error.message : String(error));
	if (codes.some((code) => NEVER_CONNECTED.has(code))) return new PlatformError("not-sent", `${platform} cannot be reached (${why})`, { cause: error });
	return new PlatformError("unsure", `the connection to ${platform} was cut (${why}); the message may have arrived`, { cause: error });
}

function* codesOf(error: unknown, depth = 0): Generator<string> {
	if (typeof error !== "object" || error === null || depth > 5) return;
	const code = errno(error);
	if (typeof code === "string") yield code;
	const { cause, error: inner, original, errors } = error as { cause?: unknown; error?: unknown; original?: unknown; errors?: unknown };
	for (const next of [cause, inner, original, ...(Array.isArray(errors) ? errors : [])]) yield* codesOf(next, depth + 1);
}

export const later = (platform: string, seconds: number): PlatformError =>
	new PlatformError("later", `${platform} asks to wait ${seconds} s`, { until: Date.now() + Math.ceil(seconds * 1000) });

/** Words for `connection`. */
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
