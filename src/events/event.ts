/** The events of a home, as a tagged union. docs/library.md explains each. */
import type { Choice } from "../approvals/index.js";
import type { Notice } from "../notices/index.js";
import type { WaitingFor } from "../screen/index.js";

interface Common {
	/** Give it as `after` to go on behind this event. */
	readonly id: string;
	/** When it happened, or was first seen. */
	readonly at: string;
}

interface OfProcess extends Common {
	readonly task: string;
	readonly session_id: string;
	/** The end of the output. */
	readonly byte_offset: number;
}

interface OfApproval extends Common {
	readonly task: string;
	readonly approval_id: string;
}

interface OfPlace extends Common {
	/** The place as it is shown. */
	readonly place: string;
	/** The task that the sandbox or container belongs to; null: a machine that tasks share. */
	readonly task: string | null;
	/** Which sandbox, or which life of a container: another value is another box. */
	readonly box: string | null;
}

export type HoldfastEvent =
	/** All that was missed has been told: from here on events come as they happen. */
	| (Common & { readonly type: "listening" })
	/** Events since then are missing: `text` says which, and why. */
	| (Common & { readonly type: "gap"; readonly since: string; readonly text: string })
	/** `foreground`: a command of a task's shell that runs for longer than a moment. */
	| (OfProcess & { readonly type: "process.started"; readonly command: string; readonly place: string; readonly pty: boolean; readonly foreground: boolean })
	/** The process printed up to `byte_offset`. At most about twice a second. */
	| (OfProcess & { readonly type: "process.printed" })
	| (OfProcess & { readonly type: "process.waits"; readonly waiting_for: WaitingFor })
	/** `unknown`: a foreground command whose result only its call has. */
	| (OfProcess & {
			readonly type: "process.ended";
			readonly status: "exited" | "killed" | "lost" | "error" | "unknown";
			readonly exit_code: number | null;
			readonly signal: string | null;
			readonly ended_at: string | null;
	  })
	| (OfApproval & { readonly type: "approval.asked"; readonly command: string; readonly cwd: string; readonly place: string })
	| (OfApproval & { readonly type: "approval.answered"; readonly answer: Choice | "expired" | "withdrawn"; readonly by: string | null })
	| (Common & { readonly type: "notice"; readonly task: string; readonly notice: Notice })
	| (OfPlace & { readonly type: "place.up" | "place.replaced" })
	| (OfPlace & { readonly type: "place.down"; readonly reason: string });

type Without<T> = T extends unknown ? Omit<T, "id" | "at"> : never;

/** An event before it has its id. `time`: in milliseconds; default: now. */
export type Happening = Without<HoldfastEvent> & { readonly time?: number };

/** Two events with the same key tell of the same: one that was told from what is on disk is not told again. Undefined: there may be several. */
export function keyOf(event: Happening | HoldfastEvent): string | undefined {
	switch (event.type) {
		case "process.started":
		case "process.ended":
			return `${event.type} ${event.session_id}`;
		case "approval.asked":
		case "approval.answered":
			return `${event.type} ${event.approval_id}`;
		case "notice":
			return `notice ${event.notice.id}`;
		default:
			return undefined;
	}
}

/** Whether it is one of a task's events. What is about a machine that tasks share, or about the stream, is told to all. */
export function isOf(event: Happening | HoldfastEvent, task: string | undefined): boolean {
	return task === undefined || !("task" in event) || event.task === null || event.task === task;
}
