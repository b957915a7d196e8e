/** Every failure Holdfast reports: branch on `code`; `message` is one sentence that says what to do next. */
export class HoldfastError extends Error {
	readonly code: ErrorCode;

	constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.name = "HoldfastError";
		this.code = code;
	}
}

/**
 * Every code, with what the doors make of it. `http`: 5xx is not the caller's fault, 503 means that the same request may work later.
 * `exit`: the exit code of the command line; where it was to start something, 125 stands for 1.
 */
export const ERRORS = {
	INVALID: { http: 400, exit: 2, meaning: "the caller's input cannot be used as it is" },
	NO_DIRECTORY: { http: 400, exit: 1, meaning: "the working directory is missing or is not a directory" },
	NO_TERMINAL: { http: 400, exit: 1, meaning: "the process has no terminal, or its machine cannot make one" },
	DENIED: { http: 403, exit: 1, meaning: "the operating system, or the service behind a place, does not allow it" },
	FORBIDDEN: { http: 403, exit: 1, meaning: "this caller may not do it" },
	NOT_FOUND: { http: 404, exit: 3, meaning: "there is no such thing, or the prefix fits several" },
	ANSWERED: { http: 409, exit: 1, meaning: "the question was answered before, expired or was withdrawn" },
	CONFIG: { http: 409, exit: 1, meaning: "a configuration file cannot be read or changed" },
	CONFLICT: { http: 409, exit: 1, meaning: "it was changed meanwhile, or is in use with other settings" },
	ENDED: { http: 409, exit: 1, meaning: "the process has ended" },
	KEYBOARD: { http: 409, exit: 1, meaning: "a person has the keyboard of the process" },
	NOT_HERE: { http: 409, exit: 1, meaning: "it belongs to another host, boot or pid namespace" },
	STDIN_CLOSED: { http: 409, exit: 1, meaning: "the stdin of the process is closed" },
	LIMIT: { http: 429, exit: 1, meaning: "a limit or quota is reached" },
	ABORTED: { http: 499, exit: 130, meaning: "the caller gave up" },
	HOME: { http: 500, exit: 1, meaning: "the home directory, or a private file, cannot be used" },
	INTERNAL: { http: 500, exit: 1, meaning: "an error of Holdfast itself" },
	START_FAILED: { http: 500, exit: 1, meaning: "nothing was started" },
	UNSUPPORTED: { http: 501, exit: 1, meaning: "this machine or place cannot do it" },
	PENDING: { http: 503, exit: 75, meaning: "the place waits in a queue or is being made; nothing ran, and the same call may work later" },
	NO_FILES: { http: 503, exit: 1, meaning: "no file descriptor is left" },
	UNREACHABLE: { http: 503, exit: 1, meaning: "the place cannot be reached; it may be later" },
	NO_SPACE: { http: 507, exit: 1, meaning: "the disk is full" },
} as const satisfies Record<string, { http: number; exit: number; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Turn a system error into ours, keeping it as the cause; anything else passes through. */
export function fromSystem(error: unknown, doing: string): HoldfastError {
	if (error instanceof HoldfastError) return error;
	const code = (error as NodeJS.ErrnoException | undefined)?.code;
	const text = error instanceof Error ? error.message : String(error);
	if (code === "ENOSPC" || code === "EDQUOT")
		return new HoldfastError("NO_SPACE", `${doing}: the disk is full; free some space, then try again`, { cause: error });
	if (code === "EMFILE" || code === "ENFILE")
		return new HoldfastError("NO_FILES", `${doing}: no file descriptor is left; raise the limit (ulimit -n) or close something, then try again`, {
			cause: error,
		});
	if (code === "EACCES" || code === "EPERM" || code === "EROFS")
		return new HoldfastError("DENIED", `${doing}: not allowed (${code}); check the permissions, or choose another home with HOLDFAST_HOME`, { cause: error });
	return new HoldfastError("INTERNAL", `${doing}: ${text}`, { cause: error });
}

export const errno = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;
