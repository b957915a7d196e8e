/** Explains messages of Modal and its library, and what the user can do about them. */
import { type ErrorCode, HoldfastError } from "../../base/index.js";
import { plain } from "../child.js";

/** gRPC status codes. */
const STATUS = { invalid: 3, late: 4, notFound: 5, denied: 7, exhausted: 8, precondition: 9, unavailable: 14, unauthenticated: 16 } as const;

const LOGIN = "run `modal setup`, or set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET";

interface Said {
	readonly name: string;
	readonly code: number | undefined;
	readonly words: string;
}

const CASES: readonly (readonly [(said: Said) => boolean, ErrorCode, string])[] = [
	[({ words }) => /missing credentials/i.test(words), "DENIED", `there is no token of Modal here; ${LOGIN}. What runs goes on`],
	[
		({ words }) => /credentials cannot both be configured|must all be configured|oauth_jwt_key/i.test(words),
		"DENIED",
		`the login of Modal is not complete; ${LOGIN}`,
	],
	[
		({ code }) => code === STATUS.unauthenticated,
		"DENIED",
		`Modal does not accept the token, or it has expired; ${LOGIN}, and start this program again. What runs goes on`,
	],
	[
		({ code }) => code === STATUS.denied,
		"DENIED",
		"this token may not do that in this workspace; ask its owner for the right, or use another profile (MODAL_PROFILE)",
	],
	[
		({ code, name }) => code === STATUS.exhausted || name === "ResourceExhaustedError",
		"LIMIT",
		"Modal has no capacity for it now, or a limit of the workspace is reached; ask for less, end other sandboxes (`holdfast sandboxes`), or try again later",
	],
	[
		({ words }) => /^Image build for \S+ failed/.test(words),
		"START_FAILED",
		"the image cannot be had; check its name, or name a secret with the login of its registry (`registrySecret`)",
	],
	[({ code, name }) => code === STATUS.invalid || name === "InvalidError", "START_FAILED", "Modal does not take a sandbox with these settings"],
	[
		({ code, words }) => code === STATUS.unavailable || code === STATUS.late || /ECONNREFUSED|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|Timed out/i.test(words),
		"UNREACHABLE",
		"Modal cannot be reached",
	],
];

/** Returns the error to throw. One of our own errors stays as it is. */
export function explained(doing: string, error: unknown): HoldfastError {
	if (error instanceof HoldfastError) return error;
	const said = saidBy(error);
	const [, code = "START_FAILED", advice] = CASES.find(([fits]) => fits(said)) ?? [];
	const words = said.words.slice(0, 600);
	return new HoldfastError(code, advice === undefined ? `${doing}: ${words}` : `${advice} (${words})`, { cause: error });
}

function saidBy(error: unknown): Said {
	const { name = "", code, details, message = String(error) } = (error ?? {}) as { name?: string; code?: unknown; details?: string; message?: string };
	return { name, code: typeof code === "number" ? code : undefined, words: plain(details || message) };
}

/** Returns true if it does not exist, or does not run. */
export const isNotFound = (error: unknown): boolean => saidBy(error).name === "NotFoundError" || saidBy(error).code === STATUS.notFound;

/** Returns true if another program was faster. */
export const isTaken = (error: unknown): boolean => saidBy(error).name === "AlreadyExistsError";

/** Returns true if the sandbox has ended. */
export const isOver = (error: unknown): boolean => saidBy(error).name === "ConflictError" || saidBy(error).code === STATUS.precondition;
