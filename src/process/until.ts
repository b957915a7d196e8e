/** What one can wait for. Each condition is armed once and calls `met` when it holds. */
import vm from "node:vm";
import * as z from "zod";
import { HoldfastError } from "../base/errors.js";
import { utf8, wholeCharacters } from "../base/text.js";

/** What a URL is that can be asked. */
export const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
export const HTTP_URL = "must be a URL such as http://127.0.0.1:3000/, or one with https";

export const untilSchema = z.strictObject({
	exit: z.literal(true).optional(),
	pattern: z.string().min(1).max(10_000).optional(),
	port: z.number().int().min(1).max(65_535).optional(),
	http: z.string().refine(isHttpUrl, HTTP_URL).optional(),
	status: z.number().int().min(100).max(599).optional(),
	silence: z.number().positive().max(86_400).optional(),
});

/** Any of these; the first that holds ends the wait. `status` goes with `http` (default: 200 to 399). */
export type Until = z.infer<typeof untilSchema>;
export type Condition = "exit" | "pattern" | "port" | "http" | "silence";

/** How much text a pattern can span. Older text is forgotten, so memory stays bounded whatever is printed. */
const WINDOW = 64 * 1024;
const REGEX_MS = 1_000;

/**
 * A regular expression (JavaScript's, `^` and `$` match at lines) over a stream: finds matches across chunk borders, and gives up on one
 * that runs away. What is not followed by a newline may become longer, so `$` matches there only once nothing more will come.
 */
export class PatternSearch {
	readonly #script: vm.Script;
	readonly #last: vm.Script;
	readonly #context: { text: string; from: number };
	#bytes: Buffer = Buffer.alloc(0);
	#base = 0; // where in the stream #bytes starts
	match: string | undefined;
	/** How many bytes of the stream there are up to the end of the match. */
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

	/** Nothing more will come: the end of the text is the end of a line. */
	end(): boolean {
		return this.#search(this.#last);
	}

	#search(script: vm.Script): boolean {
		const text = utf8(this.#bytes.subarray(0, wholeCharacters(this.#bytes)));
		this.#context.text = text;
		this.#context.from = this.#base > 0 ? 1 : 0; // the first character is there only to show that no line begins behind it
		let found: [string, number] | null;
		try {
			found = script.runInContext(this.#context as vm.Context, { timeout: REGEX_MS }) as [string, number] | null;
		} catch (cause) {
			throw new HoldfastError("INVALID", `the pattern took more than ${REGEX_MS} ms on 64 KiB of output; use a simpler one`, { cause });
		}
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
}

/** The same expression, in which `$` does not match at the end of the text. */
export function atRealLineEnds(pattern: string): string {
	return pattern.replaceAll(/\\k<[^>]*>|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?<(?![=!])[^>]*>|\$/g, (part) =>
		part === "$" ? "(?=[\\n\\r\\u2028\\u2029])" : part,
	);
}

/** How many bytes the first `count` characters of the text came from. Bytes that are no text became characters of another length. */
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
