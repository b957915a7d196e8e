/**
 * The local end of a link: one byte stream, many requests in flight, answered in any order. docs/link.md has the wire.
 * A broken link stays broken; connection.ts opens another.
 */
import { HoldfastError } from "../../base/index.js";
import type { Stream } from "../host.js";
import type { Facts } from "./facts.js";
import { answersOf, type LinkQuestion, parseScripted, questionLine, scriptFor } from "./questions.js";
import type { LinkReply } from "./replies.js";
import { LinkStream, type LinkStreamOptions } from "./stream.js";
import { type Known, parseNews, type WatchAnswer, type Watching, watchItems } from "./watched.js";

export { BOOT } from "./boot.js";
export type { LinkStreamOptions } from "./stream.js";

const PATH_MOST = 3_000; // lines go through a remote pipe with several writers
const SCRIPT_MOST = 100_000;
const FIFO_MOST = 4_096; // PIPE_BUF: all of it or nothing
const OUTPUT_MOST = 1 << 20;
const FORGOTTEN = 9;

export interface LinkRunOptions {
	readonly input?: Buffer | string;
	readonly signal?: AbortSignal;
	/** How much output to return, 1 MiB by default. */
	readonly limit?: number;
	/**
	 * The request starts a process that keeps running, which can be interrupted (INT, QUIT). Without perl, every other request on the link waits for
	 * such a script, so it has to be short.
	 */
	readonly starts?: boolean;
}

export interface LinkRan {
	readonly status: number;
	readonly output: Buffer;
	/** How much it printed; more than `output` has if that was cut. */
	readonly size: number;
	/** The first line of its stderr. */
	readonly error: string;
}

export interface LineMessage {
	/** Unique name. */
	readonly name: string;
	readonly text: string;
	/** `whole`: replaces all previous content. */
	readonly files: readonly { readonly path: string; readonly content: string; readonly whole: boolean }[];
	/** Directories without which the line is pointless. */
	readonly needed: readonly string[];
	/** The name of a line that will not be sent again, or "". */
	readonly done: string;
	/** The shell, and its expected directory. */
	readonly from?: { readonly pid: number; readonly cwd: string } | undefined;
}

export class Link {
	readonly facts: Facts;
	/** Resolves with why it ended. Never rejects. */
	readonly ended: Promise<string>;
	readonly #line: LinkStream;

	private constructor(line: LinkStream, facts: Facts) {
		this.#line = line;
		this.facts = facts;
		this.ended = line.ended;
	}

	static async open(stream: Stream, options: LinkStreamOptions): Promise<Link> {
		for (const part of [options.dir, options.name])
			if (/[\n\0]/.test(part)) throw new HoldfastError("INVALID", "a directory for a link cannot have a newline in it");
		const line = new LinkStream(stream);
		const facts = await line.start(options);
		return new Link(line, facts);
	}

	get open(): boolean {
		return this.#line.open;
	}

	/** Returns the number of unanswered requests. */
	get pending(): number {
		return this.#line.pending;
	}

	async ping(): Promise<void> {
		await this.#line.ask("n ");
	}

	/** Returns a file's bytes from `offset` on, and its size. */
	async read(path: string, offset: number, max: number, signal?: AbortSignal): Promise<{ bytes: Buffer; size: number }> {
		return fileReply(path, await this.#line.ask(`r ${whole(offset)} ${whole(max)} ${pathArgument(path)}`, { signal }));
	}

	/** Like `read`, but parked at the remote end until there is something to read. With offset -1: until the file exists. */
	async follow(path: string, offset: number, max: number, signal?: AbortSignal): Promise<{ bytes: Buffer; size: number }> {
		return fileReply(path, await this.#line.ask(`f ${offset === -1 ? -1 : whole(offset)} ${whole(max)} ${parkedArgument(path)}\t.`, { signal, parked: true }));
	}

	/** Writes at an offset, so a retry is idempotent. Creates the file if needed, and never shortens it. */
	async write(path: string, offset: number, bytes: Buffer): Promise<void> {
		const { status, text } = await this.#line.ask(`w ${whole(offset)} ${bytes.length} ${pathArgument(path)}`, { payload: bytes });
		if (status === 3) throw new HoldfastError("NO_SPACE", `${path} could not be written: the disk there is full; free some space, then try again`);
		if (status !== 0) throw new HoldfastError("FORBIDDEN", `${path} ${text}: check that its directory exists there and may be written`);
	}

	/** Runs any sh text, concurrently with other requests. A nonzero status is a result. */
	async run(script: string, { input, signal, limit = OUTPUT_MOST, starts = false }: LinkRunOptions = {}): Promise<LinkRan> {
		if (script.includes("\0")) throw new HoldfastError("INVALID", "a script cannot have a NUL in it; give it as input");
		if (Buffer.byteLength(script) > SCRIPT_MOST)
			throw new HoldfastError("INVALID", `a script can have ${SCRIPT_MOST} bytes at most; give the rest as input, or write a file`);
		const text = script.endsWith("\n") ? script : `${script}\n`;
		const bytes = Buffer.from(input ?? "");
		const lines = text.split("\n").length - 1;
		const reply = await this.#line.ask(`e ${whole(limit)} ${bytes.length} ${starts ? "f" : "b"} ${lines}`, {
			signal,
			parked: true,
			payload: Buffer.concat([Buffer.from(text), bytes]),
		});
		const [status = "", size = "", ...rest] = reply.text.split(" ");
		if (reply.status === 300) {
			const ran = status === "-" ? "it was not run" : `it was run, and its status was ${status}`;
			const why = [size, ...rest].join(" ");
			const code = why.startsWith("no process") ? "LIMIT" : why.startsWith("no more files") ? "START_FAILED" : "NO_SPACE";
			throw new HoldfastError(code, `${why} there; ${ran}`);
		}
		return { status: Number(status), output: reply.bytes, size: Number(size), error: rest.join(" ") };
	}

	/**
	 * Answers as soon as anything in a process directory differs from what is known; parked at the remote end until then. Undefined: the directory does
	 * not exist.
	 */
	async watch(dir: string, known: Known, signal?: AbortSignal, { questions = [], after }: Watching = {}): Promise<WatchAnswer | undefined> {
		if (/[*?[\]\\]/.test(dir)) throw new HoldfastError("INVALID", `${dir} has characters in it that a shell would expand`);
		const names = [...Object.keys(known.records), ...Object.keys(known.sizes ?? {})];
		if (names.some((name) => !/^[\w./-]+$/.test(name))) throw new HoldfastError("INVALID", "a name of a record has characters in it that it cannot have");
		const what = `${whole(known.offset)} ${whole(known.max)} ${parkedArgument(dir)}\t${watchItems(known)}`;
		const asking = { signal, parked: true };
		const lines = this.facts.helper === "perl" ? questions.map(questionLine) : [];
		let reply = lines.length > 0 && after !== undefined ? await this.#line.ask(`a ${after} ${known.offset}`, asking) : undefined;
		if (!reply || reply.status === FORGOTTEN)
			reply =
				lines.length > 0
					? await this.#line.ask(`M ${lines.length} ${what}`, { ...asking, payload: Buffer.from(`${lines.join("\n")}\n`) })
					: await this.#line.ask(`m ${what}`, asking);
		if (reply.status !== 0) return undefined;
		const [head = 0, answers] = reply.text.split(" ").map(Number);
		const news = parseNews(reply.bytes.toString("utf8", 0, head), reply.bytes.subarray(head + (answers ?? 0)));
		return answers === undefined ? news : { ...news, answers: answersOf(reply.bytes.subarray(head, head + answers)), id: reply.id };
	}

	/**
	 * Sends a line to a remote shell, once only, with its files. Needs remote perl. "had": it was sent before. "otherwise": this simple way does not
	 * apply; nothing was done.
	 */
	async tell(dir: string, { name, done, from, needed, text, files }: LineMessage): Promise<"told" | "had" | "gone" | "otherwise"> {
		if (Buffer.byteLength(text) > FIFO_MOST) throw new HoldfastError("INVALID", `at most ${FIFO_MOST} bytes can be sent at once`);
		if (from && /[\n\t\0]/.test(from.cwd)) return "otherwise";
		const contents = files.flatMap(({ path, content, whole: all }) => [`${all ? ">" : "="}${parkedArgument(path)}`, escaped(content)]);
		const words = [parkedArgument(dir), name, done, from ? `${from.pid} ${from.cwd}` : "", needed.map(parkedArgument).join("/"), escaped(text), ...contents];
		const { bytes } = await this.#line.ask("q 1", { payload: Buffer.from(`t${words.join("\t")}\n`) });
		const answer = answersOf(bytes)[0]?.toString("utf8") ?? "no answer";
		if (answer === "told" || answer === "had" || answer === "gone" || answer === "otherwise") return answer;
		throw new HoldfastError(/No space left/i.test(answer) ? "NO_SPACE" : "START_FAILED", `nothing ran: the shell there could not be told (${answer})`);
	}

	/** Sends a few bytes to a FIFO that has a reader, all of them or none. */
	async send(fifo: string, bytes: Buffer): Promise<"sent" | "refused" | "absent"> {
		if (bytes.length === 0) return "sent";
		if (bytes.length > FIFO_MOST) throw new HoldfastError("INVALID", `at most ${FIFO_MOST} bytes can be sent at once`);
		const { status } = await this.#line.ask(`b ${encode(bytes)} ${pathArgument(fifo)}`);
		return status === 0 ? "sent" : status === 3 ? "refused" : "absent";
	}

	/** Asks many small questions in one round trip; answers are in the same order, undefined if there is none. */
	async look(questions: readonly LinkQuestion[], signal?: AbortSignal): Promise<(Buffer | undefined)[]> {
		if (questions.length === 0) return [];
		const lines = questions.map(questionLine);
		if (this.facts.helper === "perl") {
			const reply = await this.#line.ask(`q ${lines.length}`, { signal, payload: Buffer.from(`${lines.join("\n")}\n`) });
			return answersOf(reply.bytes);
		}
		const { output } = await this.run(scriptFor(questions), { limit: 1 << 28, ...(signal ? { signal } : {}) });
		return parseScripted(output, questions.length);
	}

	/** Returns all remote processes, as remote/table.ts reads them. Undefined: the remote end would have to start a program for it. */
	async table(what: "all" | "stats"): Promise<Buffer | undefined> {
		return (await this.#ask([`T${what}`]))?.[0];
	}

	/** Sends signals one after the other, each `SIGNAL PID [OF START]`. Undefined: as above. */
	async signals(lines: readonly string[]): Promise<string[] | undefined> {
		return (await this.#ask(lines.map((line) => `s${line}`)))?.map((answer) => answer?.toString("latin1") ?? "");
	}

	/** Asks what only the helper knows. */
	async #ask(lines: readonly string[]): Promise<(Buffer | undefined)[] | undefined> {
		if (this.facts.helper !== "perl") return undefined;
		return answersOf((await this.#line.ask(`q ${lines.length}`, { payload: Buffer.from(`${lines.join("\n")}\n`) })).bytes);
	}

	close(): void {
		this.#line.close();
	}
}

function fileReply(path: string, { status, text, bytes }: LinkReply): { bytes: Buffer; size: number } {
	if (status !== 0) throw new HoldfastError("NOT_FOUND", `${path} ${text} there`);
	return { bytes, size: Number(text) };
}

function whole(value: number): number {
	if (!Number.isSafeInteger(value) || value < 0) throw new HoldfastError("INVALID", `${value} is not a whole number from 0 on`);
	return value;
}

function pathArgument(path: string): string {
	if (!path.startsWith("/") || /[\n\0]/.test(path))
		throw new HoldfastError("INVALID", `not a path that can be asked for over a link (absolute, without a newline): ${JSON.stringify(path)}`);
	if (Buffer.byteLength(path) > PATH_MOST) throw new HoldfastError("INVALID", `a path can have ${PATH_MOST} bytes at most`);
	return path;
}

function parkedArgument(path: string): string {
	if (path.includes("\t")) throw new HoldfastError("INVALID", `a path with a tab in it cannot be watched: ${JSON.stringify(path)}`);
	return pathArgument(path);
}

/** Escapes line and word separators; runs of spaces, as records have them, are counted. */
function escaped(text: string): string {
	return text.replace(/[\\\n\0\t]| {8,}/g, (found) =>
		found.startsWith(" ") ? `\\s${found.length};` : `\\0${found.charCodeAt(0).toString(8).padStart(3, "0")}`,
	);
}

/** Encodes for printf's %b, without a space. */
function encode(bytes: Buffer): string {
	return bytes.toString("latin1").replace(/[^A-Za-z0-9_.,:;/=+@%-]/g, (char) => `\\0${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
}
