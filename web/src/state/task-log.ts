/** Which task has done something last, for who looks at its transcript. */
import { signal } from "@preact/signals";

/** `task` undefined: events were missed, so it may be any. A new object each time. */
export const logged = signal<{ readonly task: string | undefined }>({ task: undefined });

export function heardOfTask(task: string | undefined): void {
	logged.value = { task };
}
