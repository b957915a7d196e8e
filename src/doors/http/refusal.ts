/** Failures as answers: a status, a code for programs, a sentence for people. */
import { ERRORS, fromSystem, HoldfastError } from "../../base/index.js";
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

export function problemOf(error: unknown): { status: number; body: Problem } {
	if (error instanceof Refusal) return { status: error.status, body: { error: { code: error.code, message: error.message } } };
	const { code, message } = error instanceof HoldfastError ? error : fromSystem(error, "this did not work");
	return { status: ERRORS[code].http, body: { error: { code, message } } };
}
