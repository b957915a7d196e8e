/** What the transcript of a task has: everything that it did, an entry each. docs/transcript.md explains them. */
export type EntryKind = "command" | "file" | "read" | "tool" | "asked" | "decided" | "notice" | "keyboard" | "killed" | "signalled" | "wrote";

/** What is not known, or is not of this kind, is not there. Secrets in it are masked. */
export interface TranscriptEntry {
	/** The same each time that the transcript is read. */
	readonly entry_id: string;
	readonly at: string;
	readonly kind: EntryKind;
	readonly task: string;
	/** Of a command: by which its output is found. Else the process that it is about. */
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
	/** What a person has answered, or the text of a notice. */
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
