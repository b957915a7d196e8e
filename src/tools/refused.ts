/** Results for commands that policy did not allow: the decision, its subject, and what to do next. */
import type { Answer, Question } from "../approvals/index.js";
import { ownCommandLine } from "../base/index.js";
import type { Verdict } from "../policy/index.js";
import type { TerminalResult } from "./result.js";

const STOP_AT = 3;

/** Thrown where a command is refused, and converted to its result by `answer`. */
export class Refused extends Error {
	readonly result: TerminalResult;

	constructor(result: TerminalResult) {
		super(result.error ?? "refused");
		this.result = result;
	}
}

/** The subject of a decision, and its rule. */
export type DecidedAbout = Pick<Verdict, "rule" | "reason" | "part">;

/** The number of refusals of the task in a row, including this one. */
type Times = number;

// After a refusal models tend to try another way to the same end; these texts say that this is refused too.
const NOT_ANOTHER_WAY = "Do not rephrase it, and do not get at the same end with another command, a script or another tool: that is refused too.";

export function refusedByRule(verdict: DecidedAbout, times: Times): Refused {
	return blocked(
		"refused_by_rule",
		verdict,
		`a rule forbids this: ${verdict.reason}. Nothing was run. ${NOT_ANOTHER_WAY} Go on without it, or tell your user what you need and why`,
		times,
	);
}

export function unattended(verdict: DecidedAbout, times: Times): Refused {
	const why =
		verdict.reason === null
			? "no person is there to ask, and then only what a rule allows may run"
			: `a person has to allow this (${verdict.reason}), and no person is there to ask`;
	return blocked("unattended", verdict, `${why}. Nothing was run. ${NOT_ANOTHER_WAY} Go on without it, and tell your user about it at the end`, times);
}

export function denied(verdict: DecidedAbout, question: Question, { by, message }: Answer, times: Times): Refused {
	const said = message === undefined ? "" : ` They say: "${message.trim()}".`;
	return blocked(
		"denied",
		verdict,
		`a person said no to this (${by}).${said} Nothing was run. ${NOT_ANOTHER_WAY} Go on without it, or ask your user what to do instead`,
		times,
		question,
	);
}

export function revoked(verdict: DecidedAbout, question: Question, { by }: Answer, times: Times): Refused {
	return blocked(
		"denied",
		verdict,
		`a person has withdrawn the question about this, with all that was allowed for this task (${by}). Nothing was run. ${NOT_ANOTHER_WAY} Go on without it, or ask your user what to do instead`,
		times,
		question,
	);
}

export function expired(verdict: DecidedAbout, question: Question, times: Times): Refused {
	const seconds = Math.round((question.expires - question.created) / 1000);
	return blocked(
		"expired",
		verdict,
		`a person has to allow this (${verdict.reason}), and no person answered within ${seconds} s: silence is a no. Nothing was run. ${NOT_ANOTHER_WAY} Go on without it, or tell your user what you need and why`,
		times,
		question,
	);
}

export interface Pending {
	/** True if the question is shown to a person. */
	readonly attended: boolean;
	/** Why the person at the door has not answered. */
	readonly unanswered?: string | undefined;
	readonly tool: string;
	/** The home of the question, for the command line that answers it. */
	readonly home: string;
}

export function pending(verdict: DecidedAbout, question: Question, { attended, unanswered, tool, home }: Pending): Refused {
	const until = new Date(question.expires).toISOString().slice(11, 19);
	const again = tool === "terminal" ? "terminal again with exactly the same command" : `${tool} again with exactly the same arguments`;
	const how = attended
		? `Call ${again} to go on waiting.`
		: `Tell your user: they answer it with \`${ownCommandLine(["approvals", "answer", question.id, "once"], home)}\` (or task, always, no) in a terminal of their own. After that, call ${again}.`;
	const asked = unanswered === undefined ? "" : ` No person has said yes or no: ${unanswered}.`;
	return new Refused({
		status: "pending_approval",
		output: "",
		exit_code: null,
		error: null,
		approval_id: question.id,
		...about(verdict),
		note: `Nothing was run yet: a person has to allow it first (${verdict.reason}).${asked} The question is ${question.id} and waits until ${until} UTC; after that, silence is a no. ${how} Do not rephrase ${tool === "terminal" ? "the command" : "it"}.`,
	});
}

function blocked(outcome: NonNullable<TerminalResult["outcome"]>, verdict: DecidedAbout, why: string, times: Times, question?: Question): Refused {
	const stop = times < STOP_AT ? "" : ` This is refusal ${times} in a row: stop here, and ask your user how to go on before you run anything else`;
	return new Refused({
		status: "blocked",
		output: "",
		exit_code: null,
		error: `${why}.${stop === "" ? "" : `${stop}.`}`,
		outcome,
		...(question ? { approval_id: question.id } : {}),
		...about(verdict),
	});
}

function about({ rule, reason, part }: DecidedAbout): Pick<TerminalResult, "rule" | "reason" | "part"> {
	return {
		...(rule === null ? {} : { rule }),
		...(reason === null ? {} : { reason }),
		...(part === null ? {} : { part: { ...part, text: part.text.slice(0, SHOWN) } }),
	};
}

const SHOWN = 1_000;
