/** Every failure Holdfast reports: branch on `code`; `message` is one sentence that says what to do next. */
export class HoldfastError extends Error {
	readonly code: ErrorCode;

	constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.name = "HoldfastError";
		this.code = code;
	}
}

export type ErrorCode =
	| "INVALID" // the caller's input cannot be used as it is
	| "NOT_FOUND" // no such process, or the prefix fits several
	| "NO_DIRECTORY" // the working directory is missing or is not a directory
	| "START_FAILED" // nothing ran
	| "LIMIT" // too many running processes, or a quota
	| "ENDED" // the process is over
	| "STDIN_CLOSED" // nobody can write to it any more
	| "NO_TERMINAL" // it has no PTY, or this box cannot make one
	| "HOME" // the home directory cannot be used
	| "NO_SPACE" // the disk is full
	| "NO_FILES" // file descriptors are exhausted
	| "KEYBOARD" // a person has the keyboard of the process
	| "FORBIDDEN" // not for whoever asks
	| "NOT_HERE" // it belongs to another host, boot or pid namespace
	| "CONFIG" // another program's configuration cannot be read or changed
	| "ANSWERED" // somebody was faster, or its time was up
	| "UNREACHABLE" // the place cannot be reached; it may be later
	| "ABORTED"
	| "UNSUPPORTED"
	| "INTERNAL";

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
		return new HoldfastError("HOME", `${doing}: not allowed (${code}); check the permissions, or choose another home with HOLDFAST_HOME`, { cause: error });
	return new HoldfastError("INTERNAL", `${doing}: ${text}`, { cause: error });
}

export const errno = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;
