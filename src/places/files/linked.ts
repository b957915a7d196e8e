/** The remote end of files, over a link. */
import { shellQuote } from "../../base/index.js";
import type { Connection } from "../link/index.js";
import { codeIn, problem } from "./interface.js";
import type { RemoteEnd } from "./remote.js";

const LONGEST = 3_000; // longest path that a link takes as it is
const LIMIT = 64 * 1024 * 1024;
/** Writes begin with small pieces until the speed of the line is known: other requests and the keepalive queue behind them. */
const PIECE = 32 * 1024;
const PIECE_MOST = 8 * 1024 * 1024;
const FAST_MS = 250;
const SLOW_MS = 2_000;
const KILLED = 128 + 9;
/** Some such files block a reader for ever, and a script cannot be ended from this side. */
const UNSIZED = `head -c "$2" <"$1" & reader=$!
{ sleep 2; kill -9 $reader; } >/dev/null 2>&1 & late=$!
wait $reader
status=$?
kill $late 2>/dev/null
exit $status`;

export function linkEnd(connection: Pick<Connection, "use">): RemoteEnd {
	const run: RemoteEnd["run"] = (script, { input, signal, limit = LIMIT, again = false } = {}) =>
		connection.use(
			async (link) => {
				const { status, output, size, error } = await link.run(`umask ${link.facts.umask}\n${script}`, {
					// a link's own files are private, and its umask is set for that
					limit,
					...(input ? { input: asBuffer(input) } : {}),
					...(signal ? { signal } : {}),
				});
				return { status, output: output.length === 0 && status !== 0 ? Buffer.from(error) : output, cut: size > output.length };
			},
			{ again, ...(signal ? { signal } : {}) },
		);
	/** For a path that a link does not take: with a newline, or very long. */
	const bytesOf = async (file: string, script: string, options: { input?: Uint8Array; limit?: number }): Promise<Buffer> => {
		const { status, output } = await run(`set -- ${shellQuote(file)}\n${script}`, { ...options, again: true });
		if (status !== 0) throw problem(codeIn(output.toString()), output.toString(), file);
		return output;
	};
	/** Files in /proc report no size, and a remote end without perl reads only up to the reported size. */
	const unsized = async (file: string, max: number): Promise<Buffer> => {
		const { status, output } = await run(`set -- ${shellQuote(file)} ${max}\n${UNSIZED}`, { limit: max, again: true });
		if (status !== 0) throw problem(status === KILLED ? "EAGAIN" : codeIn(output.toString()), output.toString(), file);
		return output;
	};
	let size = PIECE;
	const inPieces = async (file: string, offset: number, bytes: Buffer): Promise<void> => {
		let at = 0;
		do {
			const piece = bytes.subarray(at, at + size);
			const began = performance.now();
			await connection.use((link) => link.write(file, offset + at, piece), { again: true });
			const ms = performance.now() - began;
			if (ms > SLOW_MS) size = Math.max(PIECE, size / 4);
			else if (ms < FAST_MS && piece.length >= size) size = Math.min(PIECE_MOST, size * 4);
			at += piece.length;
		} while (at < bytes.length);
	};
	return {
		run,
		read: async (file, offset, max) => {
			if (!isPlain(file)) return bytesOf(file, `tail -c +${offset + 1} <"$1" | head -c ${max}`, { limit: max });
			const { bytes, size, helper } = await connection.use(async (link) => ({ ...(await link.read(file, offset, max)), ...link.facts }), { again: true });
			return helper === "sh" && size === 0 && offset === 0 ? unsized(file, max) : bytes;
		},
		write: async (file, offset, bytes) => {
			if (isPlain(file)) await inPieces(file, offset, asBuffer(bytes));
			else await bytesOf(file, `{ head -c ${offset} <"$1" && cat; } >"$1." && mv -f "$1." "$1"`, { input: bytes }); // at an offset, so that a retry is idempotent
		},
	};
}

const isPlain = (file: string): boolean => !file.includes("\n") && Buffer.byteLength(file) <= LONGEST;

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
