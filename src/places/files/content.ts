/** Reads the bytes of a local or remote file: several pieces are in flight at a time, and the result is compared with the source. */
import { createHash } from "node:crypto";
import { HoldfastError } from "../../base/index.js";
import { type Files, notAFile, problem, stopIf } from "./interface.js";
import { Pace, UNDER_WAY } from "./pace.js";

const UNSIZED = 64 * 1024 * 1024; // for a file without a known size, as in /proc
const TRIES = 3; // for a file that another program writes to

/**
 * Yields the bytes of a file of any size. After the last one, throws CONFLICT if the file was changed meanwhile, or if the bytes do not have the
 * sha256 that the place reports.
 */
export async function* contentOf(files: Files, file: string, signal?: AbortSignal): AsyncGenerator<Buffer, void> {
	stopIf(signal, file);
	const before = await files.stat(file);
	if (!before) throw problem("ENOENT", "", file);
	if (before.kind !== "file") throw notAFile(file, before.kind);
	const left = new AbortController(); // the reader may stop before the end
	const hash = createHash("sha256");
	const sized = before.size > 0; // otherwise it may be in /proc, where content differs on each read
	const theirs = sized && !files.near ? files.hash(file, signal ? AbortSignal.any([signal, left.signal]) : left.signal) : undefined;
	theirs?.catch(() => {}); // awaited later, or never
	try {
		for await (const piece of readAhead(files, file, before.size, signal)) {
			hash.update(piece);
			yield piece;
		}
		if (!sized) return;
		const same = theirs === undefined || (await orAborted(theirs, file, signal)) === hash.digest("hex");
		if (!same || (await files.stat(file))?.version !== before.version)
			throw new HoldfastError("CONFLICT", `${file} was changed while it was read, so this is a mixture; read it again`);
	} finally {
		left.abort();
	}
}

/** Returns the whole of a file. Rereads a file that changes meanwhile, a few times. */
export async function wholeContent(files: Files, file: string, most: number, signal?: AbortSignal): Promise<Buffer> {
	for (let tries = 1; ; tries++) {
		const pieces: Buffer[] = [];
		let bytes = 0;
		try {
			for await (const piece of contentOf(files, file, signal)) {
				bytes += piece.length;
				if (bytes > most) throw new HoldfastError("LIMIT", `${file} has more than ${most} bytes, which is more than one Buffer can have; read it as a stream`);
				pieces.push(piece);
			}
			return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
		} catch (error) {
			if (tries === TRIES || !(error instanceof HoldfastError) || error.code !== "CONFLICT") throw error;
		}
	}
}

/** Yields pieces up to the known size: a file that grows as fast as it is read would have no end. */
export async function* readAhead(files: Files, file: string, known: number, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void> {
	let got = 0;
	const asked: { readonly piece: Promise<Buffer>; readonly size: number }[] = [];
	const pace = new Pace();
	try {
		for (let next = 0; ; ) {
			while (asked.length < UNDER_WAY && (asked.length === 0 || known === 0 || next <= known)) {
				const { size } = pace;
				const at = next;
				const piece = pace.timed(size, () => files.read(file, at, size));
				piece.catch(() => {}); // awaited later, or never
				asked.push({ piece, size });
				next += size;
			}
			stopIf(signal, file);
			const { piece, size } = asked.shift() as (typeof asked)[number];
			const bytes = await orAborted(piece, file, signal);
			got += bytes.length;
			if (bytes.length > 0) yield bytes;
			if (bytes.length < size || (known > 0 && got > known)) return; // more than expected: the file was changed, which the caller detects
			if (known === 0 && got > UNSIZED) throw new HoldfastError("INVALID", `${file} has more than ${UNSIZED} bytes, and none by its size; nothing was copied`);
		}
	} finally {
		if (!signal?.aborted) await Promise.allSettled(asked.map(({ piece }) => piece));
	}
}

/** Rejects at once when the caller aborts; the work itself continues. */
async function orAborted<T>(work: Promise<T>, file: string, signal: AbortSignal | undefined): Promise<T> {
	if (!signal) return work;
	let stop: (() => void) | undefined;
	try {
		return await new Promise<T>((resolve, reject) => {
			stop = () => reject(problem("ABORT_ERR", "", file));
			if (signal.aborted) stop();
			signal.addEventListener("abort", stop, { once: true });
			work.then(resolve, reject);
		});
	} finally {
		if (stop) signal.removeEventListener("abort", stop);
	}
}
