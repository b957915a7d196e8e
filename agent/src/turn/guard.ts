/** Ends turns that go in circles: the same call with the same result, too many steps, empty answers, arguments that are no JSON. */
import { createHash } from "node:crypto";
import type { AgentConfig } from "../base/index.js";
import type { TurnEnd } from "./events.js";

export type GuardLimits = Pick<AgentConfig["limits"], "steps" | "sameCallNote" | "sameCallStop" | "badCalls">;

export interface Stop {
	readonly why: TurnEnd;
	readonly text: string;
}

const WINDOW = 24; // calls: those further back were made in another situation
const EMPTY_TRIES = 2;

/** Counts the steps, repeated calls and bad answers of one turn. */
export class Guard {
	readonly #limits: GuardLimits;
	readonly #calls: string[] = [];
	readonly #noted = new Set<string>();
	#steps = 0;
	#empty = 0;
	#bad = 0;

	constructor(limits: GuardLimits) {
		this.#limits = limits;
	}

	get steps(): number {
		return this.#steps;
	}

	/** Before a request. */
	step(): Stop | undefined {
		this.#steps++;
		if (this.#steps <= this.#limits.steps) return undefined;
		return {
			why: "steps",
			text: `${this.#limits.steps === 1 ? "One step was" : `${this.#limits.steps} steps were`} made without coming to an end, so the turn was stopped. Write "go on" to let it continue, or say what to do instead.`,
		};
	}

	/** After a call. `note`: what the model is told; once for each kind of call. */
	called(name: string, args: string, result: string): { readonly note?: string; readonly stop?: Stop } {
		const key = createHash("sha256")
			.update(JSON.stringify([name, args, result]))
			.digest("hex");
		this.#calls.push(key);
		if (this.#calls.length > WINDOW) this.#calls.shift();
		const times = this.#calls.filter((one) => one === key).length;
		const { sameCallNote, sameCallStop } = this.#limits;
		if (times >= sameCallStop)
			return {
				stop: { why: "loop", text: `The same call of ${name} was made ${times} times with the same result, so the turn was stopped. Say what to do instead.` },
			};
		if (times < sameCallNote || this.#noted.has(key)) return {};
		this.#noted.add(key);
		return {
			note: `You have made the same call of ${name} ${times} times, and its result was the same each time. Do something else, or say what is in the way.`,
		};
	}

	/** After arguments that are no JSON, and after some that are. */
	parsed(valid: boolean): Stop | undefined {
		this.#bad = valid ? 0 : this.#bad + 1;
		if (this.#bad < this.#limits.badCalls) return undefined;
		return {
			why: "model",
			text: `The model wrote ${this.#bad} calls in a row whose arguments are no JSON, so the turn was stopped. Try again, or use another model.`,
		};
	}

	/** After an answer. An empty one: once again, then with a note, then the turn ends. */
	answered(empty: boolean): { readonly note?: string; readonly stop?: Stop } {
		this.#empty = empty ? this.#empty + 1 : 0;
		if (this.#empty < EMPTY_TRIES) return {};
		if (this.#empty === EMPTY_TRIES) return { note: "Your answer was empty. Answer the user, or make a call." };
		return { stop: { why: "empty", text: `The model gave ${this.#empty} empty answers in a row. Try again, or use another model.` } };
	}
}
