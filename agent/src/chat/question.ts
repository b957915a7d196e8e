/** Questions that are asked where messages are typed: may this command run, what does the model want to know, a password for sudo. */
import os from "node:os";
import type { Approval, Choice, Reply, Runtime } from "holdfast";
import type { Conversation, TurnEvent } from "../turn/index.js";
import type { AskedLine, ChatTerminal } from "./line/terminal.js";
import { type Look, paint } from "./render/look.js";
import { oneLine, visible } from "./render/visible.js";
import { wrapText } from "./render/wrap.js";

const WORDS: Readonly<Record<Choice, string>> = { once: "[o]nce", task: "[t]his conversation", always: "[a]lways", no: "[n]o (and why)" };
const SAID: Readonly<Record<Choice, string>> = { once: "Allowed once", task: "Allowed in this conversation", always: "Allowed always", no: "Refused" };
const ANSWERS: Readonly<Record<string, Choice>> = {
	...{ o: "once", once: "once", y: "once", yes: "once", t: "task", this: "task", task: "task", a: "always", always: "always", n: "no", no: "no" },
};
const LOOK_MS = 500;

/** Asks about every command of the conversation that needs a person, until `signal` aborts. Whoever answers first counts. */
export async function askApprovals(
	runtime: Runtime,
	conversation: Conversation,
	terminal: ChatTerminal,
	say: (text: string) => void,
	signal: AbortSignal,
): Promise<void> {
	for await (const approval of runtime.approvals.stream({ task: conversation.task.name, signal })) {
		const reply = await askApproval(runtime, approval, terminal, say, signal);
		if (!reply) continue;
		try {
			await runtime.approvals.answer(approval.id, reply);
			say(`${SAID[reply.answer]}${reply.message === undefined ? "" : `: ${reply.message}`}`);
			if (!conversation.busy) conversation.resume(); // nobody waited for it any more
		} catch (error) {
			say(error instanceof Error ? error.message : String(error));
		}
	}
}

async function askApproval(
	runtime: Runtime,
	approval: Approval,
	terminal: ChatTerminal,
	say: (text: string) => void,
	outer: AbortSignal,
): Promise<Reply | undefined> {
	const elsewhere = new AbortController();
	const look = setInterval(() => {
		const now = runtime.approvals.get(approval.id);
		if (now.state === "pending") return;
		elsewhere.abort();
		say(now.state === "answered" ? `Answered by ${oneLine(now.by ?? "another program", 60)}: ${now.answer}.` : `The question is ${now.state}.`);
	}, LOOK_MS);
	try {
		const answer = await terminal.ask(approvalLine(approval, terminal.look), AbortSignal.any([outer, elsewhere.signal]));
		return answer === undefined ? undefined : replyOf(answer, approval.choices);
	} finally {
		clearInterval(look);
	}
}

export function approvalLine(approval: Approval, look: Look): AskedLine {
	const reasons = approval.parts.map(({ reason, rule }) => `${reason} (${rule})`);
	return {
		lines: [
			"",
			...wrapText(`May this run? In ${visible(approval.cwd)}${approval.place === "local" ? "" : ` on ${visible(approval.place)}`}`, look).map((line) =>
				paint(look, "yellow", line),
			),
			...visible(approval.command)
				.split("\n")
				.flatMap((line) => wrapText(line, look, { first: "    ", rest: "    " })),
			...[...new Set(reasons)].flatMap((reason) => wrapText(oneLine(reason, 500), look, { first: "  ", rest: "  " })),
		],
		prompt: `${approval.choices.map((choice) => WORDS[choice]).join(", ")}: `,
		check: (text) =>
			replyOf(text, approval.choices)
				? undefined
				: `Answer with ${approval.choices.map((choice) => choice.charAt(0)).join(", ")} and Enter. What you typed is kept for later.`,
	};
}

/** A word alone; only a no may have more behind it, which the model is told. What else is typed was not meant as an answer. */
export function replyOf(text: string, choices: readonly Choice[]): Reply | undefined {
	const [, word = "", rest = ""] = /^\s*(\S+)\s*(.*?)\s*$/s.exec(text) ?? [];
	const answer = ANSWERS[word.toLowerCase()];
	if (!answer || !choices.includes(answer) || (rest !== "" && answer !== "no")) return undefined;
	return { answer, by: byPerson(), ...(rest === "" ? {} : { message: rest }) };
}

export const byPerson = (): string => `chat, ${os.userInfo().username}`;

/** Asks what the model wants to know. Words that are a number choose from the list. */
export async function askForModel(
	conversation: Conversation,
	event: Extract<TurnEvent, { type: "question" }>,
	terminal: ChatTerminal,
	signal: AbortSignal,
): Promise<void> {
	const { look } = terminal;
	const choices = event.choices.map((choice, at) => `  ${at + 1}. ${oneLine(choice, 200)}`);
	const lines = visible(event.text)
		.split("\n")
		.flatMap((line) => wrapText(line, look));
	const prompt = choices.length > 0 ? `1-${choices.length}, or your own words: ` : "your answer: ";
	const answer = await terminal.ask({ lines: ["", ...lines.map((line) => paint(look, "cyan", line)), ...choices], prompt }, signal);
	if (answer === undefined || signal.aborted) return;
	const chosen = /^\s*\d+\s*$/.test(answer) ? event.choices[Number(answer) - 1] : undefined;
	conversation.answer(event.id, chosen ?? answer);
}

/** Asks for the password that a command's sudo wants. Enter, Escape and silence say no. */
export async function askPassword(terminal: ChatTerminal, signal: AbortSignal): Promise<string | null> {
	const answer = await terminal.ask(
		{ lines: ["", paint(terminal.look, "yellow", "A command wants to use sudo.")], prompt: "Your password (not shown; Enter: no): ", hidden: true },
		signal,
	);
	return answer === undefined || answer === "" ? null : answer;
}
