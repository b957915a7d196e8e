/** Questions of the model that wait for their answer. Doors show them by events; the first answer counts. */
import { AgentError } from "../base/index.js";
import type { QuestionDoor, UserQuestion } from "../tools/index.js";
import type { TurnEvent } from "./events.js";

export class UserQuestions implements QuestionDoor {
	readonly #emit: (event: TurnEvent) => void;
	readonly #nobody: () => string | undefined;
	readonly #open = new Map<string, { readonly question: UserQuestion; readonly answer: (text: string) => void }>();

	constructor(emit: (event: TurnEvent) => void, nobody: () => string | undefined) {
		this.#emit = emit;
		this.#nobody = nobody;
	}

	get open(): UserQuestion[] {
		return [...this.#open.values()].map(({ question }) => question);
	}

	nobody(): string | undefined {
		return this.#nobody();
	}

	ask(question: UserQuestion, signal: AbortSignal): Promise<string> {
		return new Promise((resolve, reject) => {
			const over = (): void => {
				signal.removeEventListener("abort", aborted);
				this.#open.delete(question.id);
				this.#emit({ type: "answered", id: question.id });
			};
			const aborted = (): void => {
				over();
				reject(signal.reason);
			};
			if (signal.aborted) return reject(signal.reason);
			signal.addEventListener("abort", aborted);
			const answer = (text: string): void => {
				over();
				resolve(text);
			};
			this.#open.set(question.id, { question, answer });
			this.#emit({ type: "question", ...question });
		});
	}

	/** Throws `NOT_FOUND` if it was answered before, or is void. */
	answer(id: string, text: string): void {
		const found = this.#open.get(id);
		if (!found) throw new AgentError("NOT_FOUND", "this question does not wait for an answer any more; write a message instead");
		found.answer(text);
	}
}
