/**
 * A question of the model to its user. The answer is on the disk before the call goes on, so that an agent that is killed does not ask for it twice: a
 * question without an answer is asked again when the conversation is opened.
 */
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { ensureDir, fileKey } from "../base/index.js";
import { checkedArgs, failedWith, shownSchema } from "./arguments.js";
import type { AgentTool, ToolOutcome } from "./tool.js";

export interface UserQuestion {
	/** The id of the call. */
	readonly id: string;
	readonly text: string;
	/** The answers to choose from; the user may always say something else. */
	readonly choices: readonly string[];
}

/** Shows questions and takes the answers. */
export interface QuestionDoor {
	/** Undefined: someone can answer. Else why not, in a clause. */
	nobody(): string | undefined;
	/** Shows the question and resolves with the answer. Rejects when `signal` aborts. */
	ask(question: UserQuestion, signal: AbortSignal): Promise<string>;
}

const argsSchema = z.strictObject({
	question: z.string().trim().min(1).max(4_000).describe("One question, with what the user needs to know to answer it."),
	choices: z.array(z.string().trim().min(1).max(200)).max(8).optional().describe("Short answers to choose from. The user may answer something else."),
});

const DESCRIPTION = `Ask your user a question and wait for the answer.
Only for what you cannot find out or decide yourself: a choice of theirs, something only they know. Do not ask whether to go on.
ask_user(question="Which of the two databases is the live one?", choices=["db1", "db2"])`;

/** `where` is the directory of the answers; it is made when there is one. */
export function askUserTool(where: () => string, door: QuestionDoor): AgentTool {
	const fileOf = (id: string): string => path.join(where(), `${fileKey(id)}.json`);
	return {
		name: "ask_user",
		description: DESCRIPTION,
		schema: shownSchema(argsSchema),
		changes: true, // one question after the other
		async run(given, { id, signal, yield: moved }) {
			const checked = checkedArgs(argsSchema, given);
			if ("refused" in checked) return checked.refused;
			const { question, choices = [] } = checked.args;
			const nobody = door.nobody();
			if (nobody !== undefined)
				return failedWith(
					`nobody can answer now: ${nobody}. Decide it yourself if that is safe and say what you decided; else end your work with the question`,
				);
			const either = AbortSignal.any([signal, moved]);
			let answer: string;
			try {
				answer = await door.ask({ id, text: question, choices }, either);
			} catch (error) {
				if (signal.aborted) return { text: "[interrupted] The user did not answer.", failed: false };
				if (moved.aborted && moved.reason === "leave") return { text: "", failed: false, pending: id }; // asked again when the conversation is opened
				if (moved.aborted) return { text: "The user did not answer this; they wrote something else, which comes next.", failed: false };
				return failedWith(`the question could not be asked (${error instanceof Error ? error.message : error})`);
			}
			keep(fileOf(id), answer);
			return outcomeOf(answer);
		},
		async became(_, { id }) {
			const answer = answerIn(fileOf(id));
			return answer === undefined ? { state: "never" } : { state: "ended", outcome: outcomeOf(answer) };
		},
		async settle(id) {
			fs.rmSync(fileOf(id), { force: true });
		},
	};
}

const outcomeOf = (answer: string): ToolOutcome => ({
	text: answer.trim() === "" ? "The user gave an empty answer." : `The user answers: ${answer}`,
	failed: false,
});

function keep(file: string, answer: string): void {
	try {
		ensureDir(path.dirname(file));
		const fd = fs.openSync(file, "w", 0o600);
		try {
			fs.writeSync(fd, JSON.stringify({ answer }));
			fs.fdatasyncSync(fd);
		} finally {
			fs.closeSync(fd);
		}
	} catch {
		// a full disk: the answer is used all the same, and asked for again if the agent is killed now
	}
}

function answerIn(file: string): string | undefined {
	try {
		const { answer } = JSON.parse(fs.readFileSync(file, "utf8")) as { answer?: unknown };
		return typeof answer === "string" ? answer : undefined;
	} catch {
		return undefined; // none, or half of one
	}
}
