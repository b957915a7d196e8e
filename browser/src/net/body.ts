/** Reads the body of an answer: decompressed as it comes, and never more than may be held. */
import { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { WebError } from "../base/index.js";

export interface ReadBody {
	readonly bytes: Buffer;
	/** True: there is more, which was not read. */
	readonly cut: boolean;
}

export async function readBody(body: Readable, encoding: string | undefined, most: number): Promise<ReadBody> {
	const codings = (encoding ?? "")
		.split(",")
		.map((one) => one.trim().toLowerCase())
		.filter((one) => one !== "" && one !== "identity");
	if (codings.length > 1) throw new WebError(`the answer is compressed ${codings.length} times over; this is not read`);
	const pieces: Buffer[] = [];
	let size = 0;
	try {
		for await (const piece of decoded(body, codings[0])) {
			const room = most - size;
			if (piece.length > room) {
				pieces.push(piece.subarray(0, room));
				return { bytes: Buffer.concat(pieces), cut: true };
			}
			pieces.push(piece);
			size += piece.length;
		}
	} finally {
		body.destroy();
	}
	return { bytes: Buffer.concat(pieces), cut: false };
}

async function* decoded(body: Readable, coding: string | undefined): AsyncGenerator<Buffer> {
	if (coding === undefined) return yield* body as AsyncIterable<Buffer>;
	if (coding === "deflate") {
		// Some servers send zlib's format, as the standard says, and some without its header.
		const pieces = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
		const first = await pieces.next();
		if (first.done) return;
		const begin = first.value;
		const zlib = ((begin[0] ?? 0) & 0x0f) === 8 && (((begin[0] ?? 0) << 8) + (begin[1] ?? 0)) % 31 === 0;
		return yield* through(Readable.from(joined(begin, pieces)), zlib ? createInflate() : createInflateRaw());
	}
	if (coding === "gzip" || coding === "x-gzip") return yield* through(body, createGunzip());
	if (coding === "br") return yield* through(body, createBrotliDecompress());
	throw new WebError(`the answer is compressed as "${coding.slice(0, 40)}", which cannot be read`);
}

async function* joined(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
	yield first;
	for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* through(from: Readable, decoder: ReturnType<typeof createGunzip>): AsyncGenerator<Buffer> {
	from.once("error", (error) => decoder.destroy(error));
	from.pipe(decoder);
	try {
		yield* decoder as AsyncIterable<Buffer>;
	} catch (error) {
		if (/^(Z_|ERR_PADDING|ERR__?BROTLI|ERR_BROTLI)/.test((error as NodeJS.ErrnoException).code ?? ""))
			throw new WebError("the compressed answer is broken; try again later");
		throw error;
	} finally {
		decoder.destroy();
	}
}
