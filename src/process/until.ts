/** What one can wait for. Each condition is armed once and calls `met` when it holds. */
import net from "node:net";
import vm from "node:vm";
import * as z from "zod";
import { HoldfastError } from "../base/errors.js";
import { Utf8Stream } from "../base/text.js";

export const untilSchema = z.strictObject({
	exit: z.literal(true).optional(),
	pattern: z.string().min(1).max(10_000).optional(),
	port: z.number().int().min(1).max(65_535).optional(),
	http: z.url({ protocol: /^https?$/ }).optional(),
	status: z.number().int().min(100).max(599).optional(),
	silence: z.number().positive().max(86_400).optional(),
});

/** Any of these; the first that holds ends the wait. `status` goes with `http` (default: 200 to 399). */
export type Until = z.infer<typeof untilSchema>;
export type Condition = "exit" | "pattern" | "port" | "http" | "silence";

/** How much text a pattern can span. Older text is forgotten, so memory stays bounded whatever is printed. */
const WINDOW = 64 * 1024;
const REGEX_MS = 1_000;
const CONNECT_MS = 1_000;

/** A regular expression (JavaScript's, `^` and `$` match at lines) over a stream: finds matches across chunk borders, and gives up on one that runs away. */
export class PatternSearch {
	readonly #script: vm.Script;
	readonly #context: { text: string };
	readonly #decoder = new Utf8Stream();
	#text = "";
	#at = 0;
	match: string | undefined;
	/** How many bytes of the stream there are up to the end of the match. */
	matchEnd = 0;

	constructor(pattern: string) {
		try {
			new RegExp(pattern, "m");
		} catch (cause) {
			throw new HoldfastError("INVALID", `the pattern is not a regular expression: ${(cause as Error).message}`, { cause });
		}
		this.#context = vm.createContext({ text: "" }) as { text: string };
		this.#script = new vm.Script(
			`(() => { const found = new RegExp(${JSON.stringify(pattern)}, "m").exec(text); return found && [found[0], found.index]; })()`,
		);
	}

	push(bytes: Uint8Array): boolean {
		const text = this.#text + this.#decoder.push(bytes);
		this.#context.text = text;
		let found: [string, number] | null;
		try {
			found = this.#script.runInContext(this.#context as vm.Context, { timeout: REGEX_MS }) as [string, number] | null;
		} catch (cause) {
			throw new HoldfastError("INVALID", `the pattern took more than ${REGEX_MS} ms on 64 KiB of output; use a simpler one`, { cause });
		}
		this.#at += bytes.length;
		if (found) {
			this.match = found[0];
			this.matchEnd = this.#at - Buffer.byteLength(text.slice(found[1] + found[0].length));
			return true;
		}
		this.#text = text.slice(-WINDOW);
		return false;
	}
}

/** Somebody accepts connections there. There is no event for that, so it tries, ever more slowly, up to every 250 ms. */
export async function portOpens(port: number, signal: AbortSignal): Promise<void> {
	await retry(signal, () => Promise.any(["127.0.0.1", "::1"].map((host) => connect(host, port))));
}

export async function httpAnswers(url: string, status: number | undefined, signal: AbortSignal): Promise<void> {
	await retry(signal, async () => {
		const response = await fetch(url, { redirect: "manual", signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) });
		await response.body?.cancel();
		const good = status === undefined ? response.status >= 200 && response.status < 400 : response.status === status;
		if (!good) throw new Error(`status ${response.status}`);
	});
}

async function retry(signal: AbortSignal, attempt: () => Promise<unknown>): Promise<void> {
	for (let pause = 10; ; pause = Math.min(pause * 1.5, 250)) {
		signal.throwIfAborted();
		try {
			await attempt();
			return;
		} catch {
			// not yet; the caller's deadline ends this
		}
		await new Promise<void>((resolve) => {
			const timer = setTimeout(done, pause);
			function done() {
				clearTimeout(timer);
				signal.removeEventListener("abort", done);
				resolve();
			}
			signal.addEventListener("abort", done, { once: true });
		});
	}
}

function connect(host: string, port: number): Promise<void> {
	return new Promise((resolve, reject) => {
		const socket = net.connect({ host, port, timeout: CONNECT_MS });
		socket.once("connect", () => {
			socket.destroy();
			resolve();
		});
		socket.once("timeout", () => socket.destroy(new Error("no answer")));
		socket.once("error", reject);
	});
}
