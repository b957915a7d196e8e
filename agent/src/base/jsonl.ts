/**
 * Files of JSON lines that only grow. A line counts once its newline is there: a program that dies in the middle of a write leaves a torn last line, which
 * readers leave out and the next writer cuts off. A line in the middle that is no JSON is damage: it is named, and the file is left as it is.
 */
import fs from "node:fs";
import { AgentError, errno, fromSystem } from "./errors.js";

const NEWLINE = 10;

/** A writer's requests to the disk; tests tear and refuse. */
export interface LineDisk {
	/** Returns how many bytes were taken. */
	write(fd: number, bytes: Buffer): number;
	sync(fd: number): Promise<void>;
}

const nodeDisk: LineDisk = {
	write: (fd, bytes) => fs.writeSync(fd, bytes),
	sync: (fd) => new Promise((resolve, reject) => fs.fdatasync(fd, (error) => (error ? reject(error) : resolve()))),
};

export interface ReadLines {
	readonly values: readonly unknown[];
	/** Bytes up to the end of the last whole line. */
	readonly bytes: number;
	/** The bytes behind the last whole line. */
	readonly torn?: Buffer;
}

/**
 * Reads the whole lines of a file, those behind `after`; a file that does not exist has none. Throws `BROKEN` if a line in the middle is no JSON, or if the
 * file is shorter than what was read before.
 */
export function readLines(file: string, after = { bytes: 0, lines: 0 }): ReadLines {
	let fd: number;
	try {
		fd = fs.openSync(file, "r");
	} catch (error) {
		if (errno(error) === "ENOENT" && after.bytes === 0) return { values: [], bytes: 0 };
		throw fromSystem(error, `cannot read ${file}`);
	}
	try {
		return readOpenLines(fd, file, after);
	} catch (error) {
		throw fromSystem(error, `cannot read ${file}`);
	} finally {
		fs.closeSync(fd);
	}
}

/** The same of a file that is open. */
export function readOpenLines(fd: number, file: string, after: { readonly bytes: number; readonly lines: number }): ReadLines {
	const read = parseLines(readFrom(fd, after.bytes), file, after.lines + 1);
	return { ...read, bytes: after.bytes + read.bytes };
}

function readFrom(fd: number, from: number): Buffer {
	const { size } = fs.fstatSync(fd);
	if (size < from) throw new AgentError("BROKEN", "lines that were read before are gone from it; open it anew");
	const bytes = Buffer.allocUnsafe(size - from);
	let at = 0;
	for (let taken = -1; at < bytes.length && taken !== 0; at += taken) taken = fs.readSync(fd, bytes, at, bytes.length - at, from + at);
	return bytes.subarray(0, at);
}

/** `first` is the number of the first line in these bytes, as an editor counts. */
export function parseLines(bytes: Buffer, file: string, first = 1): ReadLines {
	const end = bytes.lastIndexOf(NEWLINE) + 1;
	const values = parseTogether(bytes.subarray(0, end));
	if (!values) return parseEach(bytes, file, first);
	return { values, bytes: end, ...(end < bytes.length ? { torn: bytes.subarray(end) } : {}) };
}

const TOGETHER_BYTES = 64 * 1024 * 1024;

/** All lines at once takes half the time. Undefined: something is not as it should be, or there is too much for one text; then line by line. */
function parseTogether(bytes: Buffer): unknown[] | undefined {
	if (bytes.length === 0) return [];
	if (bytes.length > TOGETHER_BYTES) return undefined;
	const text = bytes.toString("utf8", 0, bytes.length - 1);
	const lines = text.split("\n");
	if (!lines.every((line) => line.startsWith("{") && line.endsWith("}"))) return undefined;
	try {
		const values = JSON.parse(`[${lines.join(",")}]`) as unknown[];
		return values.length === lines.length ? values : undefined;
	} catch {
		return undefined; // line by line it is known where
	}
}

function parseEach(bytes: Buffer, file: string, first: number): ReadLines {
	const values: unknown[] = [];
	let at = 0;
	for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, at)) {
		const value = parseLine(bytes.subarray(at, end));
		if (value === undefined) {
			if (end + 1 < bytes.length) throw new AgentError("BROKEN", brokenText(file, first + values.length));
			break; // the last line: its write was torn in the middle, by a power cut
		}
		values.push(value);
		at = end + 1;
	}
	return { values, bytes: at, ...(at < bytes.length ? { torn: bytes.subarray(at) } : {}) };
}

const brokenText = (file: string, line: number): string =>
	`line ${line} of ${file} is damaged, and the file was left as it is; restore it from a backup, or copy it and cut the copy before that line`;

function parseLine(bytes: Buffer): unknown {
	try {
		const value: unknown = JSON.parse(bytes.toString("utf8"));
		return typeof value === "object" && value !== null ? value : undefined;
	} catch {
		return undefined; // the caller says where
	}
}

export interface LineFileOptions {
	readonly disk?: LineDisk;
	/** The part that the caller has read before: only what follows is read. */
	readonly after?: { readonly bytes: number; readonly lines: number };
	/** False: it is an error if there is no such file. */
	readonly make?: boolean;
}

/** The one writer of such a file; whoever opens it has seen to that (claim.ts). */
export class LineFile {
	readonly file: string;
	/** The values in the file when it was opened, behind `after`. */
	readonly values: readonly unknown[];
	/** A torn last line was cut off: how many bytes. They are in FILE.cut. */
	readonly cut: number | undefined;
	readonly #disk: LineDisk;
	readonly #fd: number;
	#size: number;
	#closed = false;
	#broken: AgentError | undefined;
	#last: Promise<unknown> = Promise.resolve();

	private constructor(file: string, fd: number, read: ReadLines, disk: LineDisk) {
		this.file = file;
		this.values = read.values;
		this.cut = read.torn?.length;
		this.#fd = fd;
		this.#size = read.bytes;
		this.#disk = disk;
	}

	/** Cuts a torn last line off. */
	static open(file: string, options: LineFileOptions = {}): LineFile {
		let fd: number | undefined;
		try {
			fd = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_APPEND | (options.make === false ? 0 : fs.constants.O_CREAT), 0o600);
			const { bytes, lines } = options.after ?? { bytes: 0, lines: 0 };
			const read = parseLines(readFrom(fd, bytes), file, lines + 1);
			if (read.torn) cutOff(file, fd, bytes + read.bytes, read.torn);
			return new LineFile(file, fd, { ...read, bytes: bytes + read.bytes }, options.disk ?? nodeDisk);
		} catch (error) {
			if (fd !== undefined) fs.closeSync(fd);
			throw fromSystem(error, `cannot open ${file}`);
		}
	}

	get bytes(): number {
		return this.#size;
	}

	/**
	 * Appends values, each as a line, with one write; `sync`: resolves when they are on the disk. Appends take place one after the other. Rejects if they
	 * could not be written (`NO_SPACE` on a full disk), and then nothing of them is in the file.
	 */
	append(values: readonly unknown[], options: { readonly sync?: boolean } = {}): Promise<void> {
		const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(""), "utf8");
		return this.#next(async () => {
			const before = this.#size;
			try {
				this.#untouched();
				const taken = this.#disk.write(this.#fd, bytes);
				if (taken < bytes.length) throw Object.assign(new Error("only a part of the line was taken"), { code: "ENOSPC" });
				this.#size += bytes.length;
				if (options.sync) await this.#disk.sync(this.#fd);
			} catch (error) {
				if (!(error instanceof AgentError)) this.#takeBack(before);
				throw fromSystem(error, `cannot write to ${this.file}`);
			}
		});
	}

	/** Resolves when all that was appended is on the disk. */
	sync(): Promise<void> {
		return this.#next(() => this.#disk.sync(this.#fd)).catch((error: unknown) => {
			throw fromSystem(error, `cannot write to ${this.file}`);
		});
	}

	/** Idempotent; waits for appends under way. */
	async close(): Promise<void> {
		if (this.#closed) return;
		this.#closed = true;
		await this.#last.catch(() => {});
		fs.closeSync(this.#fd);
	}

	#next<T>(step: () => Promise<T>): Promise<T> {
		if (this.#closed) return Promise.reject(new AgentError("INTERNAL", `${this.file} is closed; open it again to write to it`));
		const run = this.#last.then(() => {
			if (this.#broken) throw this.#broken;
			return step();
		});
		this.#last = run.catch(() => {}); // one that failed has told its caller; the next may succeed
		return run;
	}

	/** Two writers would tear each other's lines: the second finds that the file has another length than it knows. */
	#untouched(): void {
		const { size } = fs.fstatSync(this.#fd);
		if (size === this.#size) return;
		this.#broken = new AgentError("BUSY", `another program has written to ${this.file}; nothing was written, open it again`);
		throw this.#broken;
	}

	#takeBack(size: number): void {
		try {
			fs.ftruncateSync(this.#fd, size);
			this.#size = size;
		} catch (cause) {
			this.#broken = new AgentError("BROKEN", `${this.file} cannot be written to any more; open it again once the disk works`, { cause });
		}
	}
}

/** Cuts a torn line off and keeps it in FILE.cut: a person may want to know what it was. On a full disk it is lost: no program was told that it was written. */
function cutOff(file: string, fd: number, size: number, torn: Buffer): void {
	try {
		fs.appendFileSync(`${file}.cut`, Buffer.concat([torn, Buffer.from("\n")]), { mode: 0o600 });
	} catch (error) {
		if (errno(error) !== "ENOSPC" && errno(error) !== "EDQUOT") throw error;
	}
	fs.ftruncateSync(fd, size); // not synced: after a power cut the torn line is there again, and is cut again
}
