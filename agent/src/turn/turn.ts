/**
 * One turn: ask the model, store its answer, run its calls, store their results, and again, until an answer has no calls. Each line is on the disk before the
 * next step, so that a turn can be cut short between any two of them and goes on from there.
 */
import { type AgentConfig, AgentError } from "../base/index.js";
import { type Answer, type Model, ModelError, type ModelRequest, type Usage } from "../model/index.js";
import { type Compacted, type Entry, type EntryBody, history, type InboxItem, type Log, tokenRecord } from "../talk/index.js";
import type { ToolRegistry } from "../tools/index.js";
import { CallRunner, type CallsOptions, type RanCalls } from "./calls.js";
import type { TurnEnd, TurnEvent } from "./events.js";
import { Guard, type Stop } from "./guard.js";
import { recover } from "./recover.js";
import type { Steering } from "./steer.js";
import { addUsage, NO_USAGE } from "./usage.js";

export interface TurnOptions {
	readonly log: Log;
	/** Moves messages that wait to the log. */
	readonly admit: (which: (item: InboxItem) => boolean) => Promise<void>;
	readonly model: () => Model;
	readonly tools: ToolRegistry;
	readonly system: () => string;
	readonly limits: AgentConfig["limits"];
	readonly steering: Steering;
	readonly emit: (event: TurnEvent) => void;
	readonly append: (body: EntryBody) => Promise<Entry>;
	readonly keep: CallsOptions["keep"];
	readonly news: CallsOptions["news"];
	readonly redact: (text: string) => string;
	readonly spoken: CallsOptions["spoken"];
	/** Makes the conversation shorter if it has to be, or in any case. */
	readonly compact: (options: { readonly force: boolean; readonly system: string }) => Promise<Compacted>;
	/** It was begun before, and cut short. */
	readonly resumed: boolean;
	/** Then: calls that never began are made. False: the person is asked first. */
	readonly again: boolean;
	/** The parts of requests besides the messages go into the log. */
	readonly record?: boolean;
}

export interface TurnResult {
	readonly why: TurnEnd;
	readonly text: string;
	readonly usage: Usage;
}

export async function runTurn(options: TurnOptions): Promise<TurnResult> {
	const turn = new Turn(options);
	try {
		return turn.ended(await turn.run());
	} catch (error) {
		return turn.ended(await turn.failed(error));
	}
}

const CUT_SHORT = 3; // answers in a row that reach the limit of their length

class Turn {
	readonly #options: TurnOptions;
	readonly #guard: Guard;
	#usage = NO_USAGE;
	#system: string | undefined;
	/** The arrived text of the answer under way. */
	#arrived = "";
	#overflowed = false;
	#cutShort = 0;

	constructor(options: TurnOptions) {
		this.#options = options;
		this.#guard = new Guard(options.limits);
	}

	ended(stop: Stop): TurnResult {
		return { ...stop, usage: this.#usage };
	}

	/** A turn that a person or a limit has ended is over until someone writes: so it is not gone on with when the conversation is opened again. */
	async run(): Promise<Stop> {
		const stop = await this.#steps();
		if (!GOES_ON.includes(stop.why)) await this.#options.append({ t: "stopped", why: stop.why, text: stop.text });
		return stop;
	}

	async #steps(): Promise<Stop> {
		const { log } = this.#options;
		const recovered = log.openCalls.length > 0 ? await this.#recovered() : undefined;
		if (recovered) return recovered;
		if (!this.#options.again && !this.#options.spoken()) return CRASHES;
		for (let first = true; ; first = false) {
			const over = await this.#boundary(first && !this.#options.resumed);
			if (over) return over;
			if (!log.answerable) return { why: "answered", text: lastAnswer(log.entries) };
			const stop = this.#guard.step() ?? (await this.#step());
			if (stop) return stop;
		}
	}

	/** Nothing is under way: messages that are to be heard now go into the log. */
	async #boundary(all: boolean): Promise<Stop | undefined> {
		const { admit, steering } = this.#options;
		if (steering.wish === "leave") return LEFT;
		if (steering.wish === "stop") return INTERRUPTED;
		await admit((item) => all || item.kind === "notice" || item.mode !== "queue");
		steering.steered();
		return undefined;
	}

	async #recovered(): Promise<Stop | undefined> {
		const { log, steering, emit, again } = this.#options;
		emit({ type: "resumed", calls: log.openCalls.length });
		const ran = await recover(this.#runner(), steering, [...log.openCalls], { again });
		return this.#afterCalls(ran);
	}

	async #step(): Promise<Stop | undefined> {
		const { log, tools, emit, append } = this.#options;
		const model = this.#options.model();
		this.#system ??= this.#options.system();
		await this.#compacted(false);
		if (this.#options.record) await this.#shown(this.#system);
		emit({ type: "asking", model: model.name, step: this.#guard.steps });
		let answer: Answer;
		try {
			answer = await this.#ask(model, { system: this.#system, messages: history(log.entries), tools: tools.shown, usedIds: usedIds(log.entries) });
		} catch (error) {
			return this.#unanswered(error);
		}
		if (answer.usage) this.#usage = addUsage(this.#usage, answer.usage);
		const { text, reasoning, calls, stop, usage, model: name, tokens, noTokens } = answer;
		const empty = calls.length === 0 && text.trim() === "";
		if (stop === "length" && calls.length === 0) return this.#tooLongAnswer(answer);
		this.#cutShort = 0;
		const { note, stop: end } = this.#guard.answered(empty);
		if (note !== undefined) await append({ t: "note", text: note });
		if (end || empty) return end;
		const ids = { ...(tokens ? { tokens: tokenRecord(log.entries, tokens) } : {}), ...(noTokens === undefined ? {} : { noTokens }) };
		await append({ t: "assistant", text, ...(reasoning.length > 0 ? { reasoning } : {}), calls, stop, ...(usage ? { usage } : {}), model: name, ...ids });
		if (calls.length === 0) return { why: "answered", text };
		const ran = await this.#runner().run(calls);
		return this.#afterCalls(answer.cutCall ? { ...ran, notes: [...ran.notes, CUT_CALL] } : ran);
	}

	/** Logs the parts of requests besides the messages, unless they are on record already. */
	async #shown(system: string): Promise<void> {
		const { log, tools, append } = this.#options;
		const last = log.entries.findLast((entry) => entry.t === "shown");
		const now = { system, tools: tools.shown };
		if (last?.t !== "shown" || JSON.stringify([last.system, last.tools]) !== JSON.stringify([now.system, now.tools])) await append({ t: "shown", ...now });
	}

	async #ask(model: Model, request: ModelRequest): Promise<Answer> {
		const { emit, steering } = this.#options;
		this.#arrived = "";
		const pieces = model.ask(request, steering.request);
		for (;;) {
			const next = await pieces.next();
			if (next.done) return next.value;
			const piece = next.value;
			if (piece.type === "text") this.#arrived += piece.text;
			if (piece.type === "retry") this.#arrived = "";
			if (piece.type !== "call") emit(piece);
		}
	}

	/** The request ended without an answer. */
	async #unanswered(error: unknown): Promise<Stop | undefined> {
		const { steering, redact } = this.#options;
		const { wish } = steering;
		if (wish === "leave") return LEFT;
		if (wish !== undefined) {
			await this.#partial("interrupted", this.#arrived);
			return wish === "stop" ? INTERRUPTED : undefined;
		}
		if (!(error instanceof ModelError)) throw error;
		if (error.kind === "too_long") return this.#overflow(error);
		if (error.kind === "cut") await this.#partial("cut", error.details.text ?? this.#arrived);
		return { why: "model", text: redact(error.message) };
	}

	/** Once in a turn the conversation is made shorter and the request made again. */
	async #overflow(error: ModelError): Promise<Stop | undefined> {
		const said = this.#options.redact(error.message);
		const choices = "Begin a new conversation with /new, or choose a model with a larger window with /model.";
		if (this.#overflowed) return { why: "too_long", text: `The conversation is too long for the model, also after it was made shorter (${said}). ${choices}` };
		this.#overflowed = true;
		const compacted = await this.#compacted(true);
		if (compacted.did !== "nothing") return undefined;
		if (this.#options.steering.wish) return undefined; // the boundary says what comes
		return { why: "too_long", text: `The conversation is too long for the model (${said}), and could not be made shorter: ${compacted.why}. ${choices}` };
	}

	async #compacted(force: boolean): Promise<Compacted> {
		const { compact, emit } = this.#options;
		const compacted = await compact({ force, system: this.#system ?? "" });
		if (compacted.did !== "nothing") emit({ type: "compacted", before: compacted.before, after: compacted.after });
		return compacted;
	}

	/** The limit of an answer's length was reached before a whole call. */
	async #tooLongAnswer({ text, cutCall }: Answer): Promise<Stop | undefined> {
		await this.#partial("length", text);
		if (cutCall || text.trim() === "") await this.#options.append({ t: "note", text: cutCall ? CUT_CALL : CUT_ANSWER });
		this.#cutShort++;
		if (this.#cutShort < CUT_SHORT) return undefined;
		return {
			why: "model",
			text: `The model reached the limit of an answer's length ${this.#cutShort} times in a row. Ask for less at once, or raise maxTokens of the endpoint.`,
		};
	}

	async #partial(why: "interrupted" | "cut" | "length", text: string): Promise<void> {
		if (text.trim() !== "") await this.#options.append({ t: "partial", text, why });
	}

	async #afterCalls({ notes, stop, pending }: RanCalls): Promise<Stop | undefined> {
		if (this.#options.steering.wish === "leave") return LEFT;
		if (pending !== undefined) return { why: "approval", text: `A person must allow a call first: ${pending}. It is made when they have.` };
		for (const text of notes) await this.#options.append({ t: "note", text });
		return stop;
	}

	#runner(): CallRunner {
		const { log, limits, tools, steering, append, emit, keep, news, redact, spoken } = this.#options;
		const { parallel, resultChars } = limits;
		return new CallRunner({ tools, steering, guard: this.#guard, parallel, resultChars, turn: turnOf(log.entries), append, emit, keep, news, redact, spoken });
	}

	/** Something of ours went wrong. Nothing more is done: what was stored is whole, and the turn goes on when it works again. */
	async failed(error: unknown): Promise<Stop> {
		if (!(error instanceof AgentError)) throw error;
		if (error.code === "NO_SPACE") return { why: "disk", text: `${error.message}. Nothing more was done; what was said and done until now is kept.` };
		return { why: "error", text: error.message };
	}
}

/** Ends after which a turn goes on by itself, or is over in any case. */
const GOES_ON: readonly TurnEnd[] = ["answered", "left", "approval", "disk", "error"];
const LEFT: Stop = { why: "left", text: "The program was closed; the turn goes on when the conversation is opened again." };
const INTERRUPTED: Stop = { why: "interrupted", text: "Stopped." };
const CRASHES: Stop = {
	why: "crashes",
	text: 'The program was cut short twice at this step within an hour, so it was not gone on with. Look at the last calls; write "go on" to continue.',
};
const CUT_CALL = "Your last call reached the limit of an answer's length and was not run. Make smaller steps: write a long file in several parts.";
const CUT_ANSWER = "Your answer reached its limit of length before it said anything. Think less at once, and make smaller steps.";

const lastAnswer = (entries: readonly Entry[]): string => {
	const last = entries.findLast((entry) => entry.t === "assistant");
	return last?.t === "assistant" ? last.text : "";
};

/** Turns are counted by the messages that began them. */
const turnOf = (entries: readonly Entry[]): number => entries.filter(({ t }) => t === "user").length;

const usedIds = (entries: readonly Entry[]): ReadonlySet<string> =>
	new Set(entries.flatMap((entry) => (entry.t === "assistant" ? entry.calls.map(({ id }) => id) : [])));
