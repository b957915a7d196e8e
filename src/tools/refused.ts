/** A command that was not run because of policy, as a result: what was decided, about what, and what to do next. */
import type { Answer, Question } from "../approvals/approval.js";
import { ownCommandLine } from "../base/own-program.js";
import type { Verdict } from "../policy/decide.js";
import type { TerminalResult, ToolName } from "./result.js";

const STOP_AT = 3;

/** Thrown where it is found out, and turned into its result where results are made. */
export class Refused extends Error {
	readonly result: TerminalResult;

	constructor(result: TerminalResult) {
		super(result.error ?? "refused");
		this.result = result;
	}
}

/** How often in a row the task was refused something, this time included. */
type Times = number;

// After a refusal models tend to look for another way to the same end; each of these texts says that this is refused too.
const NOT_ANOTHER_WAY = "Do not rephrase it, and do not get at the same end with another command, a script or another tool: that is refused too.";

export function refusedByRule(verdict: Verdict, times: Times): Refused {
	return blocked(
		"refused_by_rule",
		verdict,
		`a rule forbids this: ${verdict.reason}. Nothing was run. ${NOT_ANOTHER_WAY} Go on without it, or tell your user what you need and why`,
		times,
	);
}

export function unattended(verdict: Verdict, times: Times): Refused {
	const why =
		verdict.reason === null
			? "nobody is there to ask, and then only what a rule allows may run"
			: `a person has to allow this (${verdict.reason}), and nobody is there to ask`;
	return blocked("unattended", verdict, `${why}. Nothing was run. ${NOT_ANOTHER_WAY} Go on without it, and tell your user about it at the end`, times);
}

export function denied(verdict: Verdict, question: Question, { by, message }: Answer, times: Times): Refused {
	const said = message === undefined ? "" : ` They say: "${message.trim()}".`;
	return blocked(
		"denied",
		verdict,
		`a person said no to this (${by}).${said} Nothing was run. ${NOT_ANOTHER_WAY} Go on without it, or ask your user what to do instead`,
		times,
		question,
	);
}

export function expired(verdict: Verdict, question: Question, times: Times): Refused {
	const seconds = Math.round((question.expires - question.created) / 1000);
	return blocked(
		"expired",
		verdict,
		`a person has to allow this (${verdict.reason}), and nobody answered within ${seconds} s: silence is a no. Nothing was run. ${NOT_ANOTHER_WAY} Go on without it, or tell your user what you need and why`,
		times,
		question,
	);
}

export interface Pending {
	/** Somebody is shown the question. */
	readonly attended: boolean;
	/** Why the door's own person has not answered it. */
	readonly unanswered?: string | undefined;
	readonly tool: ToolName;
	/** Whose question it is, for a command line that finds it. */
	readonly home: string;
}

export function pending(verdict: Verdict, question: Question, { attended, unanswered, tool, home }: Pending): Refused {
	const until = new Date(question.expires).toISOString().slice(11, 19);
	const again = tool === "terminal" ? "terminal again with exactly the same command" : `${tool} again with exactly the same arguments`;
	const how = attended
		? `Call ${again} to go on waiting.`
		: `Tell your user: they answer it with \`${ownCommandLine(["approvals", "answer", question.id, "once"], home)}\` (or task, always, no) in a terminal of their own. After that, call ${again}.`;
	const asked = unanswered === undefined ? "" : ` Nobody has said yes or no: ${unanswered}.`;
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

function blocked(outcome: NonNullable<TerminalResult["outcome"]>, verdict: Verdict, why: string, times: Times, question?: Question): Refused {
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

function about({ rule, reason, part }: Verdict): Pick<TerminalResult, "rule" | "reason" | "part"> {
	return {
		...(rule === null ? {} : { rule }),
		...(reason === null ? {} : { reason }),
		...(part === null ? {} : { part: { ...part, text: part.text.slice(0, SHOWN) } }),
	};
}

const SHOWN = 1_000;
