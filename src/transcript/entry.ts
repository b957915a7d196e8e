/** The entries of a task's transcript: everything that it did. docs/transcript.md explains them. */
export type EntryKind = "command" | "file" | "read" | "tool" | "asked" | "decided" | "notice" | "keyboard" | "killed" | "signalled" | "wrote";

/** An entry. Fields that are unknown, or belong to other kinds, are missing. Secrets in it are masked. */
export interface TranscriptEntry {
	/** The same each time that the transcript is read. */
	readonly entry_id: string;
	readonly at: string;
	readonly kind: EntryKind;
	readonly task: string;
	/** The id by which a command's output is found; in other entries the process that they are about. */
	readonly session_id?: string;
	/** The id that the caller gave the call. */
	readonly call?: string;
	/** file, read: shell text that would do the same. tool: its name and arguments. */
	readonly command?: string;
	readonly cwd?: string;
	readonly place?: string;
	readonly user?: string;
	readonly pty?: boolean;
	/** command: `unknown` when no one has seen how it ended, and its record is gone. */
	readonly status?: string;
	readonly exit_code?: number | null;
	readonly signal?: string;
	readonly ended_at?: string | null;
	readonly duration_ms?: number | null;
	/** command: how much it has printed; null when that is gone. file, wrote: how much was written. */
	readonly bytes?: number | null;
	/** The door that it came through; decided, keyboard: who. */
	readonly by?: string;
	readonly rule?: string | null;
	readonly reason?: string | null;
	readonly approval_id?: string;
	/** decided: the answer. keyboard: taken, returned, lost. */
	readonly outcome?: string;
	readonly tool?: string;
	/** notice: its kind. */
	readonly notice?: string;
	/** The answer of a person, or the text of a notice. */
	readonly message?: string;
	/** command: why its output is not there. */
	readonly note?: string;
}

/** The text that a command has printed: without escape sequences, secrets masked. */
export interface EntryOutput {
	readonly output: string;
	/** Bytes of the middle, or of the beginning if a ring has dropped it, that are not in it. */
	readonly omitted_bytes: number;
}
