/** Failures as answers of the API, in the shape that all of the page's answers have. */
import { AgentError, type AgentErrorCode, fromSystem } from "../base/index.js";
import { ToolsetError } from "../tools/index.js";

const STATUS: Readonly<Partial<Record<AgentErrorCode, number>>> = {
	INVALID: 400,
	CONFIG: 409,
	KEY: 409,
	NOT_FOUND: 404,
	BUSY: 409,
	BROKEN: 409,
	SEQUENCE: 409,
	DENIED: 403,
	UNSUPPORTED: 501,
	ABORTED: 503,
	NO_SPACE: 507,
};

export interface RefusedRequest {
	readonly status: number;
	readonly body: { readonly error: { readonly code: string; readonly message: string } };
}

export function problemOf(error: unknown): RefusedRequest {
	if (error instanceof ToolsetError) return { status: 409, body: { error: { code: "CONFIG", message: error.message } } };
	const known = error instanceof AgentError ? error : (ofCore(error) ?? fromSystem(error, "this did not work"));
	return { status: STATUS[known.code as AgentErrorCode] ?? 500, body: { error: { code: known.code, message: known.message } } };
}

/** An error of the core, of whichever copy of it, has a code and words for people too. */
function ofCore(error: unknown): { readonly code: string; readonly message: string } | undefined {
	const { name, code, message } = (error ?? {}) as { name?: unknown; code?: unknown; message?: unknown };
	return name === "HoldfastError" && typeof code === "string" && typeof message === "string" ? { code, message } : undefined;
}
