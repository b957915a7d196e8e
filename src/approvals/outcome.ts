/** The options of a question to a person, the forms of a reply, and the outcome for the call that asks. */
import type { Answer, Approval, Choice, Question } from "./approval.js";

export interface Reply {
	readonly answer: Choice;
	/** The person's words for the model. */
	readonly message?: string;
	/** The door, and the person if known. Default: library. */
	readonly by?: string;
}

/** No person has answered, and the door has words for it: `the client closed the question`. The question stays open. */
export interface Unanswered {
	readonly unanswered: string;
}

/** A person at hand, whom the door of a call can ask. Undefined: it could not be asked after all. */
export type Approver = (approval: Approval, signal: AbortSignal) => Promise<Reply | Unanswered | undefined>;

export interface AskOptions {
	readonly signal?: AbortSignal;
	/** How long the call can wait, in milliseconds. */
	readonly within?: number;
	/** The call waits no longer, and the question stays. */
	readonly yield?: AbortSignal;
	readonly approver?: Approver;
	/** The door asks its person once it has the result `pending`. */
	readonly later?: boolean;
}

export type ApprovalOutcome =
	| { readonly kind: "allowed"; readonly question: Question; readonly answer: Answer }
	/** revoked: a person has taken back the question, with all that was allowed for the task. */
	| { readonly kind: "denied" | "expired" | "revoked"; readonly question: Question; readonly answer: Answer }
	/** The question waits for its answer, and this call does not; `unanswered` says why if the door has asked. */
	| ({ readonly kind: "pending"; readonly question: Question } & Partial<Unanswered>)
	/** No person is present to ask: the outcome that the settings have for that case. */
	| { readonly kind: "unattended" };

/** The permissions and questions that `revoke` has taken back. */
export interface Revoked {
	readonly task: string;
	/** Commands that had been allowed for the rest of the task: a person is asked about them again. */
	readonly allowed: readonly { readonly approval_id: string; readonly command: string; readonly cwd: string; readonly place: string; readonly by: string }[];
	/** Answers `once` that no call had made use of. */
	readonly unused: readonly string[];
	/** Questions that waited for an answer. */
	readonly withdrawn: readonly string[];
}

export function outcomeOf(question: Question, answer: Answer): ApprovalOutcome {
	if (answer.answer === "expired") return { kind: "expired", question, answer };
	if (answer.answer === "withdrawn") return { kind: "revoked", question, answer };
	return { kind: answer.answer === "no" ? "denied" : "allowed", question, answer };
}
