/** Conditions that a wait can end with, and the search for a pattern in a stream. */
import vm from "node:vm";
import * as z from "zod";
import { HoldfastError, utf8, wholeCharacters } from "../base/index.js";

/** Returns true for an http or https URL. */
export const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
export const HTTP_URL = "must be a URL such as http://127.0.0.1:3000/, or one with https";

export const untilSchema = z.lazy(() =>
	z.strictObject({
		exit: z.literal(true).optional(),
		pattern: z.string().min(1).max(10_000).optional(),
		port: z.number().int().min(1).max(65_535).optional(),
		http: z.string().refine(isHttpUrl, HTTP_URL).optional(),
		status: z.number().int().min(100).max(599).optional(),
		silence: z.number().positive().max(86_400).optional(),
	}),
);

/** The first of these that holds ends the wait. `status` goes with `http` (default: 200 to 399). */
export type Until = z.infer<typeof untilSchema>;
export type Condition = "exit" | "pattern" | "port" | "http" | "silence";

/** The longest text that a pattern can span. Older text is dropped, so memory stays bounded. */
const WINDOW = 64 * 1024;
/** A search blocks the whole program, so one search may take this long … */
const SEARCH_MS = 250;
/** … and all slow searches of a wait together BUDGET_MS, in CPU time, so that a busy machine makes no pattern slow. Longer than SLOW_MS is slow. */
const SLOW_MS = 20;
const BUDGET_MS = 500;
const NAMED = 80; // characters of a pattern in an error

/**
 * Searches a stream for a regular expression (JavaScript's; `^` and `$` match at lines). Finds matches across chunk borders. Gives up on an expression
 * that runs away or is repeatedly slow. A line without a newline may still grow, so `$` matches at its end only once nothing more will come.
 */
export class PatternSearch {
	readonly #pattern: string;
	readonly #script: vm.Script;
	readonly #last: vm.Script;
	readonly #context: { text: string; from: number };
	#bytes: Buffer = Buffer.alloc(0);
	#base = 0; // offset of #bytes in the stream
	#slowMs = 0;
	match: string | undefined;
	/** Offset in the stream of the end of the match. */
	matchEnd = 0;

	constructor(pattern: string) {
		try {
			new RegExp(pattern, "m");
		} catch (cause) {
			throw new HoldfastError(
				"INVALID",
				`the pattern is not a regular expression: ${(cause as Error).message}; put a backslash before what is meant as it is`,
				{ cause },
			);
		}
		this.#pattern = pattern;
		this.#context = vm.createContext({ text: "", from: 0 }) as { text: string; from: number };
		const script = (source: string) =>
			new vm.Script(
				`(() => { const search = new RegExp(${JSON.stringify(source)}, "gm"); search.lastIndex = from; const found = search.exec(text); return found && [found[0], found.index]; })()`,
			);
		this.#script = script(atRealLineEnds(pattern));
		this.#last = script(pattern);
	}

	push(bytes: Uint8Array): boolean {
		this.#bytes = Buffer.concat([this.#bytes, bytes]);
		return this.#search(this.#script);
	}

	/** Searches when nothing more will come: the end of the text is then the end of a line. */
	end(): boolean {
		return this.#search(this.#last);
	}

	#search(script: vm.Script): boolean {
		const text = utf8(this.#bytes.subarray(0, wholeCharacters(this.#bytes)));
		this.#context.text = text;
		this.#context.from = this.#base > 0 ? 1 : 0; // the first character only shows that no line begins after it
		const found = this.#run(script);
		if (!found && this.#slowMs > BUDGET_MS) throw this.#tooSlow();
		if (found) {
			this.match = found[0];
			this.matchEnd = this.#base + bytesOf(this.#bytes, text, found[1] + found[0].length);
			return true;
		}
		let cut = this.#bytes.length - WINDOW;
		while (cut > 0 && ((this.#bytes[cut] as number) & 0xc0) === 0x80) cut--; // not within a character
		if (cut > 0) {
			this.#bytes = Buffer.from(this.#bytes.subarray(cut));
			this.#base += cut;
		}
		return false;
	}

	/** Runs a search. Repeats one that timed out, in case the machine was busy; the budget bounds that. */
	#run(script: vm.Script): [string, number] | null {
		for (let timeout = SEARCH_MS; ; timeout *= 2) {
			const before = process.cpuUsage();
			let cause: unknown;
			try {
				return script.runInContext(this.#context as vm.Context, { timeout }) as [string, number] | null;
			} catch (error) {
				cause = error;
			} finally {
				const { user, system } = process.cpuUsage(before);
				const ms = (user + system) / 1000;
				if (ms > SLOW_MS) this.#slowMs += ms;
			}
			if (this.#slowMs > BUDGET_MS) throw this.#tooSlow(cause);
		}
	}

	#tooSlow(cause?: unknown): HoldfastError {
		const named = this.#pattern.length > NAMED ? `${this.#pattern.slice(0, NAMED)}…` : this.#pattern;
		return new HoldfastError(
			"INVALID",
			`the pattern ${JSON.stringify(named)} took more than ${BUDGET_MS} ms of computing, so the wait was given up; use a simpler one (without a repeat inside of a repeat, as in (a+)+), or wait for exit or silence and read the log`,
			{ cause },
		);
	}
}

/** Returns the expression changed so that `$` does not match at the end of the text. */
export function atRealLineEnds(pattern: string): string {
	return pattern.replaceAll(/\\k<[^>]*>|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?<(?![=!])[^>]*>|\$/g, (part) =>
		part === "$" ? "(?=[\\n\\r\\u2028\\u2029])" : part,
	);
}

/** Returns how many bytes the first `count` characters came from. Invalid UTF-8 became characters of another length. */
function bytesOf(bytes: Buffer, text: string, count: number): number {
	const before = text.slice(0, count);
	if (!before.includes("\ufffd")) return Buffer.byteLength(before);
	let [low, high] = [0, bytes.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (utf8(bytes.subarray(0, middle)).length < count || !utf8(bytes.subarray(0, middle)).startsWith(before)) low = middle + 1;
		else high = middle;
	}
	return low;
}
