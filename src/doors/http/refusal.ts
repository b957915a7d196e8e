/** Failures as answers: a status, a code for programs, a sentence for people. */
import { type ErrorCode, fromSystem, HoldfastError } from "../../base/errors.js";
import type { Problem } from "./schemas.js";

/** Something that is only said over HTTP. */
export class Refusal extends Error {
	constructor(
		readonly status: number,
		readonly code: string,
		message: string,
	) {
		super(message);
	}
}

/** Of every code, so that the compiler names one that is missing. 5xx: not the caller's fault; 503: the same request may work later. */
const STATUS: Readonly<Record<ErrorCode, number>> = {
	INVALID: 400,
	NO_DIRECTORY: 400,
	NO_TERMINAL: 400,
	FORBIDDEN: 403,
	NOT_FOUND: 404,
	KEYBOARD: 409,
	ANSWERED: 409,
	ENDED: 409,
	STDIN_CLOSED: 409,
	NOT_HERE: 409,
	CONFIG: 409,
	LIMIT: 429,
	ABORTED: 499,
	START_FAILED: 500,
	HOME: 500,
	INTERNAL: 500,
	UNSUPPORTED: 501,
	UNREACHABLE: 503,
	NO_FILES: 503,
	NO_SPACE: 507,
};

export function problemOf(error: unknown): { status: number; body: Problem } {
	if (error instanceof Refusal) return { status: error.status, body: { error: { code: error.code, message: error.message } } };
	const { code, message } = error instanceof HoldfastError ? error : fromSystem(error, "this did not work");
	return { status: STATUS[code], body: { error: { code, message } } };
}
