/**
 * Runs the calls of one answer. Their results are stored in the order of the calls, each on the disk before the next call starts: so after a crash only the
 * first call without a result can have begun. Calls that only read run beside each other.
 */
import type { ModelCall } from "../model/index.js";
import type { Entry, EntryBody, ResultHow } from "../talk/index.js";
import { type AgentTool, recallCall, shorten, type ToolCallContext, type ToolOutcome, type ToolRegistry } from "../tools/index.js";
import { parseArguments } from "./arguments.js";
import type { TurnEvent } from "./events.js";
import type { Guard, Stop } from "./guard.js";
import type { Steering } from "./steer.js";

const ARGS_SHOWN = 200; // characters in a failure's record
const ERROR_SHOWN = 500;
const LEAVE_MS = 10_000;

export interface CallsOptions {
	readonly tools: ToolRegistry;
	readonly steering: Steering;
	readonly guard: Guard;
	/** Calls that only read, at once. */
	readonly parallel: number;
	/** Characters of a result that the model is sent. */
	readonly resultChars: number;
	/** The number of the turn, for the records of failures. */
	readonly turn: number;
	readonly append: (body: EntryBody) => Promise<Entry>;
	readonly emit: (event: TurnEvent) => void;
	/** Keeps all of a result that is sent shortened, for `recall`. */
	readonly keep: (call: string, whole: string) => void;
	/** News that came with a result: on the disk when it resolves. */
	readonly news: (notices: NonNullable<ToolOutcome["notices"]>) => Promise<void>;
	readonly redact: (text: string) => string;
	/** A person has written something that waits to be heard. */
	readonly spoken: () => boolean;
}

export interface RanCalls {
	/** Remarks for the model besides the results. */
	readonly notes: readonly string[];
	readonly stop?: Stop;
	/** The approval that a person must give first; this call and those behind it are open. */
	readonly pending?: string;
}

/** A call as it can be run, or why it cannot. */
export interface PlannedCall {
	readonly call: ModelCall;
	readonly tool?: AgentTool;
	readonly args?: unknown;
	readonly problem?: ToolOutcome & { readonly badArguments?: true };
}

export class CallRunner {
	readonly #options: CallsOptions;
	readonly #notes: string[] = [];
	#stop: Stop | undefined;

	constructor(options: CallsOptions) {
		this.#options = options;
	}

	async run(calls: readonly ModelCall[]): Promise<RanCalls> {
		const planned = calls.map((call) => this.plan(call));
		const pending = planned.length > 1 && planned.every(onlyReads) ? await this.#together(planned) : await this.#inTurn(planned);
		return this.ran(pending);
	}

	ran(pending?: string): RanCalls {
		return { notes: this.#notes, ...(this.#stop ? { stop: this.#stop } : {}), ...(pending === undefined ? {} : { pending }) };
	}

	plan(call: ModelCall): PlannedCall {
		const parsed = parseArguments(call.args);
		if ("problem" in parsed) return { call, problem: { text: parsed.problem, failed: true, badArguments: true } };
		const tool = this.#options.tools.get(call.name);
		return tool ? { call, tool, args: parsed.value } : { call, problem: this.#options.tools.unknown(call.name) };
	}

	async #inTurn(planned: readonly PlannedCall[]): Promise<string | undefined> {
		for (const one of planned) {
			if (this.#options.steering.wish === "leave") return undefined;
			const pending = await this.one(one);
			if (pending !== undefined) return pending;
		}
		return undefined;
	}

	/** Runs one call and stores its result. Returns the approval that it waits for. */
	async one(planned: PlannedCall): Promise<string | undefined> {
		const skipped = this.skips();
		if (skipped !== undefined) {
			await this.store(planned, { text: skipped, failed: false }, "skipped");
			return undefined;
		}
		return this.finish(planned, await this.execute(planned));
	}

	/** Stores a result, unless it waits for a person: then returns what for. One who writes something else instead is heard first, so nothing is waited for. */
	async finish(planned: PlannedCall, outcome: ToolOutcome, how?: ResultHow): Promise<string | undefined> {
		const { steering, spoken } = this.#options;
		if (outcome.pending === undefined) await this.store(planned, outcome, how);
		else if (steering.wish === "leave" || !(steering.wish === "steer" || spoken())) return outcome.pending;
		else await this.store(planned, { text: outcome.text, failed: false }, "skipped");
		return undefined;
	}

	/** A few at a time, started in their order. Results wait for those before them. */
	async #together(planned: readonly PlannedCall[]): Promise<string | undefined> {
		const outcomes = planned.map(() => promised<ToolOutcome | "left">());
		let next = 0;
		const worker = async (): Promise<void> => {
			for (let at = next++; at < planned.length; at = next++) {
				const skipped = this.skips();
				if (this.#options.steering.wish === "leave") outcomes[at]?.resolve("left");
				else outcomes[at]?.resolve(skipped === undefined ? await this.execute(planned[at] as PlannedCall) : { text: skipped, failed: false, how: "skipped" });
			}
		};
		const workers = Array.from({ length: Math.min(this.#options.parallel, planned.length) }, worker);
		try {
			for (const [at, one] of planned.entries()) {
				const outcome = (await outcomes[at]?.promise) as ToolOutcome | "left";
				if (outcome === "left") return undefined;
				const pending = await this.finish(one, outcome);
				if (pending !== undefined) return pending;
			}
			return undefined;
		} finally {
			await Promise.all(workers);
		}
	}

	/** Undefined: a call may start. Else the words for one that may not. */
	skips(): string | undefined {
		if (this.#stop) return "Not run: the turn was stopped.";
		const { wish } = this.#options.steering;
		if (wish === "steer") return "Not run: the user wrote again. Their message comes next.";
		if (wish === "stop") return "Not run: the user stopped the turn.";
		return undefined;
	}

	/** Never rejects: a tool that throws is a failed result. */
	async execute({ call, tool, args, problem }: PlannedCall): Promise<ToolOutcome> {
		const { emit, guard } = this.#options;
		emit({ type: "call", id: call.id, name: call.name, args: call.args });
		const stop = guard.parsed(problem?.badArguments !== true);
		if (stop) this.#stop = stop;
		if (problem || !tool) return problem ?? this.#options.tools.unknown(call.name);
		try {
			return await orLeft(tool.run(args, this.context(call)), this.#options.steering.yield, call.id);
		} catch (error) {
			return {
				text: `Error: the tool ${call.name} failed: ${error instanceof Error ? error.message : String(error)}. Look before you repeat it.`,
				failed: true,
			};
		}
	}

	context({ id }: ModelCall): ToolCallContext {
		const { steering, emit } = this.#options;
		return { id, signal: steering.stop, yield: steering.yield, progress: (text) => emit({ type: "progress", id, text }) };
	}

	/** Puts a result into the log. What was kept for a crash may go afterwards. */
	async store({ call, tool }: PlannedCall, outcome: ToolOutcome, how: ResultHow = outcome.how ?? "ran"): Promise<void> {
		const { append, emit, guard, keep, news, redact, resultChars, turn } = this.#options;
		const { failed, process } = outcome;
		if (outcome.notices) await news(outcome.notices);
		const given = redact(outcome.text);
		const { text, cut } = shorten([{ line: 0, text: given }], {
			most: resultChars,
			where: ({ line, lines }) => recallCall(call.id, { offset: line, limit: lines }),
			onlySize: true,
		});
		const whole = outcome.whole === undefined ? (cut ? given : undefined) : redact(outcome.whole);
		if (whole !== undefined) keep(call.id, whole);
		await append({ t: "result", call: call.id, text, failed, ...(process === undefined ? {} : { process }), how });
		emit({ type: "result", id: call.id, name: call.name, text, failed, ...(process === undefined ? {} : { process }), how });
		if (process === undefined) await tool?.settle?.(call.id);
		if (failed) await append({ t: "failure", turn, tool: call.name, args: redact(call.args).slice(0, ARGS_SHOWN), error: text.slice(0, ERROR_SHOWN) });
		if ((how !== "ran" && how !== "refused") || outcome.waits) return;
		const { note, stop } = guard.called(call.name, call.args, text);
		if (note !== undefined) this.#notes.push(note);
		this.#stop ??= stop;
	}
}

const onlyReads = ({ tool, args, problem }: PlannedCall): boolean => problem !== undefined || tool?.changes === false || tool?.onlyReads?.(args) === true;

/** A tool that cannot move to the background is not waited for when the program is to end: its call stays open. */
function orLeft(running: Promise<ToolOutcome>, moved: AbortSignal, id: string): Promise<ToolOutcome> {
	return new Promise((resolve, reject) => {
		let timer: NodeJS.Timeout | undefined;
		const leave = (): void => {
			if (moved.reason === "leave") timer = setTimeout(() => resolve({ text: "", failed: false, pending: id }), LEAVE_MS);
		};
		moved.addEventListener("abort", leave);
		if (moved.aborted) leave();
		running.then(resolve, reject).finally(() => {
			clearTimeout(timer);
			moved.removeEventListener("abort", leave);
		});
	});
}

function promised<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
	let resolve: (value: T) => void = () => {};
	const promise = new Promise<T>((done) => {
		resolve = done;
	});
	return { promise, resolve };
}
