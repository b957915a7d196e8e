/** Asks a person, and maps each kind of answer to a result of the call. */
import type { Answer, Choice, Question } from "../approvals/index.js";
import { type Ask, doorOf } from "./ask.js";
import { type DecidedAbout, denied, expired, pending, revoked, unattended } from "./refused.js";

const ANSWER_MARGIN_MS = 500; // of the door's time, reserved for returning the answer

export interface PersonQuestion {
	readonly command: string;
	readonly cwd: string;
	readonly parts: Question["parts"];
	readonly choices: Choice[];
	/** The subject of the refusal. */
	readonly about: DecidedAbout;
	readonly tool: string;
	/** Default: the call's signal. */
	readonly signal?: AbortSignal;
}

/** Returns the answer of a person who agrees. Throws a refusal in every other case: denied, expired, pending, no person present. */
export async function askPerson(
	ask: Ask,
	{ command, cwd, parts, choices, about, tool, signal = ask.signal }: PersonQuestion,
): Promise<{ question: Question; answer: Answer }> {
	const { runtime, task, call, since, notes } = ask;
	const { approver, asksLater, within } = call;
	const outcome = await runtime.approvals.ask(
		{ task, command, cwd, place: runtime.placeName, parts, choices },
		{
			signal,
			...(within === undefined ? {} : { within: Math.max(0, within - (performance.now() - since) - ANSWER_MARGIN_MS) }),
			...(call.yield ? { yield: call.yield } : {}),
			...(approver ? { approver } : {}),
			...(asksLater ? { later: true } : {}),
		},
	);
	if (outcome.kind === "unattended") throw refusal(ask, { command, cwd, about, outcome: "unattended" }, unattended);
	if (outcome.kind === "pending") {
		const { question, unanswered } = outcome;
		const attended = (approver !== undefined && unanswered === undefined) || runtime.approvals.isAttended(task);
		throw pending(about, question, { attended, unanswered, tool, home: runtime.home.root });
	}
	if (outcome.kind === "expired") throw expired(about, outcome.question, runtime.approvals.refused(task));
	if (outcome.kind === "revoked") throw revoked(about, outcome.question, outcome.answer, runtime.approvals.refused(task));
	if (outcome.kind === "denied") throw denied(about, outcome.question, outcome.answer, runtime.approvals.refused(task));
	const { question, answer } = outcome;
	runtime.approvals.allowed(task);
	notes.push(
		`A person allowed this (${FOR[answer.answer] ?? "once"}, ${answer.by})${answer.message === undefined ? "" : ` and says: ${answer.message.trim()}`}.`,
	);
	return { question, answer };
}

const FOR: Readonly<Record<string, string>> = { task: "for this task", always: "always" };

/** Records the refusal in the audit and returns it. */
export function refusal(
	ask: Ask,
	{ command, cwd, about, outcome }: { command: string; cwd: string; about: DecidedAbout; outcome: string },
	say: (about: DecidedAbout, times: number) => Error,
): Error {
	const { runtime, task } = ask;
	runtime.audit.note(task, {
		event: "decided",
		outcome,
		command,
		cwd,
		place: runtime.placeName,
		rule: about.rule,
		reason: about.reason,
		by: doorOf(ask),
	});
	return say(about, runtime.approvals.refused(task));
}
