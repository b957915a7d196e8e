/** The stream of a link and its requests in flight. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "../../base/index.js";
import type { Stream } from "../host.js";
import { bootText } from "./boot.js";
import { LinkBroken } from "./broken.js";
import { type Facts, parseFacts } from "./facts.js";
import { Nudges } from "./nudge.js";
import { type LinkReply, Replies } from "./replies.js";

const OPEN_MS = 15_000;
const IDLE_SECONDS = 60;
const BEAT_MS = 20_000;
const CLOSE_MS = 2_000;
const ANSWER_MS = 15_000; // an older unanswered ping will never be answered
const SILENT_MS = 1_500; // after a request; a ping tells silence from work
const UNHEARD_MS = 1_000; // after that ping

const SILENT = "no answer within";

const WATCHES = /^[famM] /;

export interface LinkStreamOptions {
	/** The remote directory for our files, absolute; empty: the remote end chooses. */
	readonly dir: string;
	/** The name of our directory in it. */
	readonly name: string;
	/** After so many seconds without a request the remote end gives up; longer than the ping interval. */
	readonly idleSeconds?: number;
	/** Ping interval. Pings are the sign of life that keeps a machine alive; 20 s at most, as without this option. */
	readonly beatMs?: number;
	/** How long the stream may be silent while a ping is unanswered. */
	readonly answerMs?: number;
	/** False: do not use perl even if it exists. */
	readonly perl?: boolean;
	readonly signal?: AbortSignal;
	readonly timeoutMs?: number;
	/** Called when no answer comes: returns the reason, if known. Then the link has ended. */
	readonly whySilent?: () => Promise<string | undefined>;
}

export interface LinkRequest {
	/** Bytes after the request. */
	readonly payload?: Buffer;
	readonly signal?: AbortSignal | undefined;
	/** The remote end can be told to drop it. */
	readonly parked?: boolean;
}

interface Waiting {
	/** The request is answered when something has changed, and not before. */
	readonly watches: boolean;
	readonly resolve: (reply: LinkReply) => void;
	readonly reject: (error: Error) => void;
}

export class LinkStream {
	readonly ended: Promise<string>;
	readonly #stream: Stream;
	/** By the id of the request; undefined: no caller wants the answer any more. */
	readonly #waiting = new Map<number, Waiting | undefined>();
	#callers = 0;
	#settleEnd!: (why: string) => void;
	#opening: { resolve: (facts: Facts) => void; reject: (error: Error) => void } | undefined;
	#next = 1;
	#beat: NodeJS.Timeout | undefined;
	#whySilent: LinkStreamOptions["whySilent"];
	/** When the last request was sent, and when the last byte came. */
	#asked = 0;
	#heard = 0;
	#listening = false;
	#over: string | undefined;
	readonly #nudges: Nudges | undefined;

	constructor(stream: Stream) {
		this.#stream = stream;
		this.#nudges = stream.delays ? new Nudges((line) => this.open && stream.input.write(line)) : undefined;
		this.ended = new Promise((resolve) => {
			this.#settleEnd = resolve;
		});
	}

	get open(): boolean {
		return this.#over === undefined;
	}

	get pending(): number {
		return this.#waiting.size;
	}

	async start({
		dir,
		name,
		idleSeconds = IDLE_SECONDS,
		beatMs = BEAT_MS,
		answerMs = ANSWER_MS,
		perl = true,
		signal,
		timeoutMs = OPEN_MS,
		whySilent,
	}: LinkStreamOptions): Promise<Facts> {
		const { input, output } = this.#stream;
		const mark = `HF${randomBytes(8).toString("hex")}`;
		const replies = new Replies(mark, {
			ready: (lines) => this.#opening?.resolve(parseFacts(lines)),
			reply: (reply) => this.#settle(reply),
			broken: (why) => this.#end(why),
		});
		const facts = new Promise<Facts>((resolve, reject) => {
			this.#opening = { resolve, reject };
		});
		const timer = setTimeout(() => this.#end(`${SILENT} ${timeoutMs / 1000} s`), timeoutMs);
		const stop = () => this.#end("it was given up while it opened");
		signal?.addEventListener("abort", stop, { once: true });
		input.on("error", () => {}); // the end of the stream tells more
		output.on("error", () => {});
		output.on("data", (chunk: Buffer) => {
			this.#heard = performance.now();
			replies.take(chunk);
			if (this.#opening === undefined)
				this.#nudges?.taken({
					partial: replies.partial,
					watched: this.#waiting.size > 0,
					asked: [...this.#waiting.values()].some((one) => one?.watches === false),
				});
		});
		this.#stream.ended.then((why) => this.#end(why));
		output.on("end", () => {
			// the reason for the end comes soon, or never
			const late = setTimeout(() => this.#end("the stream ended"), 1_000);
			this.#stream.ended.then(() => clearTimeout(late));
		});
		if (signal?.aborted) stop();
		else input.write(bootText({ mark, dir, name, idleSeconds, perl, delays: this.#nudges !== undefined }));
		try {
			const found = await facts;
			this.#opening = undefined;
			this.#whySilent = whySilent;
			this.#scheduleBeat(Math.min(beatMs, BEAT_MS), answerMs);
			this.#stream.hold?.(false); // until the next request
			return found;
		} catch (error) {
			if (signal?.aborted) throw new HoldfastError("ABORTED", "the connection was given up while it opened");
			throw new LinkBroken(openingFailed((error as Error).message, replies.noise), { mayHaveHappened: false });
		} finally {
			clearTimeout(timer);
			signal?.removeEventListener("abort", stop);
		}
	}

	ask(request: string, { payload, signal, parked = false }: LinkRequest = {}): Promise<LinkReply> {
		if (this.#over !== undefined) return Promise.reject(new LinkBroken(`the connection has ended: ${this.#over}`, { mayHaveHappened: false }));
		if (signal?.aborted) return Promise.reject(aborted());
		const id = this.#next++;
		const { input } = this.#stream;
		return new Promise<LinkReply>((resolve, reject) => {
			const done = (settle: () => void) => {
				signal?.removeEventListener("abort", stop);
				if (--this.#callers === 0) this.#stream.hold?.(false);
				settle();
			};
			// The caller returns at once; the answer still comes, and is dropped.
			const stop = () => {
				if (parked) input.write(`0 c ${id}\n`);
				this.#waiting.set(id, undefined);
				done(() => reject(aborted()));
			};
			this.#waiting.set(id, { watches: WATCHES.test(request), resolve: (reply) => done(() => resolve(reply)), reject: (error) => done(() => reject(error)) });
			if (++this.#callers === 1) this.#stream.hold?.(true);
			this.#asked = performance.now();
			if (this.#whySilent && !this.#listening) void this.#listen(this.#whySilent);
			signal?.addEventListener("abort", stop, { once: true });
			if (!payload) return void input.write(`${id} ${request}\n`);
			input.cork();
			input.write(`${id} ${request}\n`);
			input.write(payload);
			input.uncork();
		});
	}

	/** Asks the remote end to exit, without waiting for it. */
	close(): void {
		if (this.#over !== undefined) return;
		this.#stream.input.end("0 x \n");
		const late = setTimeout(() => this.#stream.close(), CLOSE_MS);
		late.unref();
		this.#stream.ended.then(() => clearTimeout(late));
		this.#end("it was closed", { politely: true });
	}

	#settle(reply: LinkReply): void {
		if (reply.id === 0) return; // a nudge of the remote end
		const waiting = this.#waiting.get(reply.id);
		if (!this.#waiting.delete(reply.id)) this.#end(`an answer to a question that was never asked (${reply.id})`);
		if (waiting?.watches === false) this.#nudges?.answered();
		waiting?.resolve(reply);
	}

	#end(why: string, { politely = false } = {}): void {
		if (this.#over !== undefined) return;
		this.#over = why || "the stream ended";
		clearTimeout(this.#beat);
		this.#nudges?.end();
		this.#opening?.reject(new Error(this.#over));
		const waiting = [...this.#waiting.values()];
		this.#waiting.clear();
		const error = `the connection broke: ${this.#over}; what was asked for may have been done or not`;
		for (const one of waiting) one?.reject(new LinkBroken(error, { mayHaveHappened: true }));
		if (!politely) this.#stream.close();
		this.#settleEnd(this.#over);
	}

	/** Waits until something has come after the last request. A request may take long, a ping does not. */
	async #listen(whySilent: () => Promise<string | undefined>): Promise<void> {
		this.#listening = true;
		const heard = () => !this.open || this.#heard >= this.#asked;
		while (!heard()) {
			await sleep(Math.max(1, this.#asked + SILENT_MS - performance.now()), undefined, { ref: false });
			if (heard() || performance.now() < this.#asked + SILENT_MS) continue;
			this.ask("n ").catch(() => {}); // it has ended, which is known then
			await sleep(UNHEARD_MS, undefined, { ref: false });
			const why = heard() ? undefined : await whySilent().catch(() => undefined); // `whySilent` does not know either
			if (why !== undefined && !heard()) this.#end(why);
		}
		this.#listening = false;
	}

	/** Remote silence means that it is gone for us, and vice versa. */
	#scheduleBeat(ms: number, answerMs: number): void {
		this.#beat = setTimeout(() => {
			const began = performance.now();
			let late: NodeJS.Timeout;
			// Over a slow line the answer queues behind others that take time: their bytes are a sign of life too.
			const check = () => {
				const left = Math.max(began, this.#heard) + answerMs - performance.now();
				if (left <= 0) return this.#end(`no sign of life for ${answerMs / 1000} s`);
				late = setTimeout(check, left).unref();
			};
			check();
			this.ask("n ").then(
				() => {
					clearTimeout(late);
					if (this.open) this.#scheduleBeat(ms, answerMs);
				},
				() => clearTimeout(late),
			);
		}, ms);
		this.#beat.unref();
	}
}

const aborted = (): HoldfastError => new HoldfastError("ABORTED", "the call was aborted");

function openingFailed(why: string, noise: string): string {
	const said = noise.trim();
	if (/\blink_\w+=/.test(said))
		return `it does not answer as it should: it sends back what it is sent, so no shell runs there but something else in its place (${why})`;
	if (said === "" && why.startsWith(SILENT))
		return `it does not answer as it should: ${why}; what a login runs there first (rc files, a forced command) may wait for something, or take what is sent to the shell`;
	return `it does not answer as it should: ${why}${said ? `; it printed: ${JSON.stringify(said.slice(-500))}` : ""}`;
}
