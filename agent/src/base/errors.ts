/** Every failure that the agent reports: branch on `code`; `message` says in one clause what happened, then what to do. */
export class AgentError extends Error {
	readonly code: AgentErrorCode;

	constructor(code: AgentErrorCode, message: string, options?: { readonly cause?: unknown }) {
		super(message, options);
		this.name = "AgentError";
		this.code = code;
	}
}

/** Every code, and what it means. */
const CODES = {
	INVALID: "the caller's input cannot be used as it is",
	CONFIG: "agent.json or a flag cannot be used",
	KEY: "an API key or token cannot be read",
	HOME: "the agent's home cannot be used",
	NOT_FOUND: "there is no such thing, or the name fits several",
	BUSY: "another program writes to this conversation",
	BROKEN: "a file of the agent is damaged; it was left as it is",
	SEQUENCE: "a line that would make the conversation invalid; nothing was written",
	NO_SPACE: "the disk is full; nothing was written",
	DENIED: "the operating system does not allow it",
	UNSUPPORTED: "this machine, terminal or endpoint cannot do it",
	ABORTED: "the caller gave up",
	INTERNAL: "an error of the agent itself",
} as const;

export type AgentErrorCode = keyof typeof CODES;

/** Makes an AgentError of a system error, which stays as its cause. */
export function fromSystem(error: unknown, doing: string): AgentError {
	if (error instanceof AgentError) return error;
	const code = errno(error);
	if (code === "ENOSPC" || code === "EDQUOT")
		return new AgentError("NO_SPACE", `${doing}: the disk is full; free some space, then try again`, { cause: error });
	if (code === "EACCES" || code === "EPERM" || code === "EROFS")
		return new AgentError("DENIED", `${doing}: not allowed (${code}); check the permissions, or choose another home with HOLDFAST_AGENT_HOME`, {
			cause: error,
		});
	return new AgentError("INTERNAL", `${doing}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}

export const errno = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;
