/**
 * Which line may follow which, so that every beginning of a log makes a valid request in each wire format: the one place where this is decided, for lines
 * that are appended and for lines that are read. After an answer with calls come its results, in their order; an answer needs something that it answers;
 * what a summary covers, or `undone` takes back, ends at a boundary. `failure`, `set` and `shown` are no messages and may stand anywhere.
 */
import type { ModelCall } from "../model/index.js";
import type { Entry, EntryBody } from "./entry.js";

/** A log's checks before each line. */
export interface LogRules {
	/** Why the line must not be written; undefined: it may. */
	check(body: EntryBody): string | undefined;
	/** The line is in the log. */
	advance(entry: Entry): void;
}

/** A line that a model is sent. */
const MESSAGES = new Set<EntryBody["t"]>(["user", "notice", "assistant", "partial", "note", "result"]);
const ANYWHERE = new Set<EntryBody["t"]>(["failure", "set", "shown"]);

export class Sequence implements LogRules {
	#open: readonly ModelCall[] = [];
	readonly #calls = new Set<string>();
	/** By line: what it is (undefined: not sent, or not any more), and that no call is open behind it. */
	readonly #lines: { sent: EntryBody["t"] | undefined; readonly settled: boolean }[] = [];
	/** The last line that a summary stands for. */
	#summarised = -1;
	#answerable = false;
	#ended = false;

	/** Calls without a result, in their order. */
	get openCalls(): readonly ModelCall[] {
		return this.#open;
	}

	/** The last message is one that a model can answer. */
	get answerable(): boolean {
		return this.#answerable && this.#open.length === 0;
	}

	/** Ids of all calls there ever were, also before a summary. */
	get callIds(): ReadonlySet<string> {
		return this.#calls;
	}

	check(body: EntryBody): string | undefined {
		if ((this.#lines.length === 0) !== (body.t === "begun")) return body.t === "begun" ? "it has begun already" : "it begins with another line than `begun`";
		const [next] = this.#open;
		if (next && body.t !== "result" && !ANYWHERE.has(body.t)) return `the call ${next.id} has no result yet, so nothing else may come first`;
		switch (body.t) {
			case "user":
				return isBlank(body.text) && !body.files?.length ? "the message is empty" : undefined;
			case "notice":
			case "note":
				return isBlank(body.text) ? "its text is empty" : undefined;
			case "partial":
				return isBlank(body.text) ? "its text is empty" : this.#unasked();
			case "assistant":
				return this.#unasked() ?? this.#badCalls(body.calls, body.text);
			case "result":
				if (!next) return `no call is open, so there is no result of ${body.call}`;
				return next.id === body.call ? undefined : `the result of ${next.id} comes next, not that of ${body.call}`;
			case "summary":
				return isBlank(body.text) ? "its text is empty" : this.#badBoundary(body.upto);
			case "shortened":
				return this.#isBefore(body.upto) ? undefined : `there is no line ${body.upto} before it`;
			case "undone":
				if (!this.#isBefore(body.from) || this.#lines[body.from]?.sent !== "user") return `line ${body.from} is no message of a person that can be taken back`;
				return body.from > this.#summarised ? undefined : `line ${body.from} is in a summary, so it cannot be taken back any more`;
			case "ended":
				return this.#ended ? "it has ended already" : undefined;
			default:
				return undefined;
		}
	}

	advance(entry: Entry): void {
		if (entry.t === "assistant") {
			this.#open = entry.calls;
			for (const { id } of entry.calls) this.#calls.add(id);
		}
		if (entry.t === "result") this.#open = this.#open.slice(1);
		this.#lines.push({ sent: MESSAGES.has(entry.t) ? entry.t : undefined, settled: this.#open.length === 0 });
		if (entry.t === "undone") for (const line of this.#lines.slice(entry.from)) line.sent = undefined;
		if (entry.t === "summary") this.#summarised = entry.upto;
		if (entry.t === "undone" || entry.t === "summary") this.#answerable = this.#lastSent();
		else if (MESSAGES.has(entry.t)) this.#answerable = entry.t !== "assistant";
		if (entry.t !== "set") this.#ended = entry.t === "ended";
	}

	#unasked(): string | undefined {
		return this.#answerable ? undefined : "there is nothing that it could be an answer to";
	}

	#badCalls(calls: readonly ModelCall[], text: string): string | undefined {
		if (calls.length === 0) return isBlank(text) ? "the answer is empty" : undefined;
		const ids = new Set<string>();
		for (const { id, name } of calls) {
			if (id === "" || name === "") return "a call has no id or no name";
			if (this.#calls.has(id) || ids.has(id)) return `the id ${id} was used by another call`;
			ids.add(id);
		}
		return undefined;
	}

	#badBoundary(upto: number): string | undefined {
		if (!this.#isBefore(upto)) return `there is no line ${upto} before it`;
		if (upto <= this.#summarised) return `the summary before it goes further than line ${upto}`;
		return this.#lines[upto]?.settled ? undefined : `line ${upto} is between a call and its result`;
	}

	#isBefore(n: number): boolean {
		return Number.isInteger(n) && n >= 0 && n < this.#lines.length;
	}

	/** Whether the last line that is sent is one to answer; a summary is. */
	#lastSent(): boolean {
		const last = this.#lines.findLastIndex(({ sent }, n) => sent !== undefined && n > this.#summarised);
		return last < 0 ? this.#summarised >= 0 : this.#lines[last]?.sent !== "assistant";
	}
}

const isBlank = (text: string): boolean => text.trim() === "";
