/** Times that several rooms have in common, in milliseconds, each with its reason. A time that one file alone needs stands in that file. */

/**
 * After the end of a command: how long its output may take to reach its log. That is a moment; on a full disk the collector
 * tries again every second, and a busy machine takes its time. What comes later is in the log all the same.
 */
export const DRAIN_MS = 3_000;

/** How long a caller waits for news of a remote process before it is shown what was last seen. */
export const REMOTE_MS = {
	/** A page that is drawn again when news comes. */
	page: 2_000,
	/** A tool call, which says what could not be seen. */
	call: 4_000,
	/** A person at the command line, who asked for this one thing. */
	person: 10_000,
} as const;
