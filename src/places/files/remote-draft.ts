/** A draft at a remote end: complete and checked beside its target, then moved there. */
import { createHash, type Hash } from "node:crypto";
import path from "node:path";
import { HoldfastError } from "../../base/index.js";
import { type Content, changedMeanwhile, type Draft, type Entry, fileError, piecesOf, problem, stopIf, type WriteOptions } from "./interface.js";
import { Lanes, Pace } from "./pace.js";
import { entryFrom, hashByReading, type RemoteEnd, type RunScript } from "./remote.js";
import * as scripts from "./scripts.js";
import { discarded, TEMPORARY_MINUTES, temporaryName } from "./temporary.js";

const MIB = 1024 * 1024;
/** A region of this size is compared at once, while more of the file arrives. */
const REGION = 16 * MIB;
const ALGORITHMS: Readonly<Record<string, string>> = { openssl: "sha256", sha256sum: "sha256", shasum: "sha256", b2sum: "blake2b512" };
const fastest = new WeakMap<RemoteEnd, Promise<string>>();

export async function remoteDraft(
	end: RemoteEnd,
	ask: RunScript,
	discard: (temp: string) => Promise<void>,
	file: string,
	content: Content,
	options: WriteOptions,
): Promise<Draft> {
	const { signal } = options;
	const name = temporaryName();
	const { old, made, target } = prepared(await ask(scripts.PREPARE, [file, name, String(TEMPORARY_MINUTES), options.replaceLink ? "link" : ""], file));
	const temp = path.posix.join(path.posix.dirname(target), name);
	let over = false;
	const drop = async () => {
		if (over) return;
		over = true;
		await discard(temp);
	};
	try {
		const { bytes, sha256, checked } = await send(end, ask, temp, content, options);
		const mode = options.mode ?? old?.mode;
		const owner = old ? [String(old.uid), String(old.gid)] : ["", ""];
		const expect = options.expect === undefined ? "" : String(options.expect);
		return {
			sha256,
			commit: async () => {
				stopIf(signal, target);
				const args = [temp, target, String(bytes), sha256, mode === undefined ? "" : mode.toString(8), ...owner];
				const said = await ask(scripts.COMMIT, [...args, expect, checked], target).catch(async (error: unknown) => {
					if (!(error instanceof HoldfastError) || error.code !== "UNSUPPORTED") throw error;
					if ((await hashByReading(end, target, signal)) !== expect) throw changedMeanwhile(target);
					return ask(scripts.COMMIT, [...args, "", checked], target);
				});
				over = true;
				discarded(name);
				return { path: target, created: old === undefined, bytes, sha256, ...(made === undefined ? {} : { made }), notes: notesOf(said.toString(), old) };
			},
			drop,
		};
	} catch (error) {
		await drop();
		throw error instanceof HoldfastError && error.code === "NO_SPACE" ? problem("ENOSPC", "", file, error) : fileError(error, file);
	}
}

function prepared(output: Buffer): { old: Entry | undefined; made: string | undefined; target: string } {
	const text = output.toString();
	const [line = "", count = ""] = text.split("\n", 2);
	const target = text.slice(line.length + count.length + 2, -1);
	let made: string | undefined;
	for (let left = Number(count); left > 0; left--) made = path.posix.dirname(made ?? target);
	return { old: line === "" ? undefined : entryFrom(line, path.posix.basename(target)), made, target };
}

interface Sent {
	readonly bytes: number;
	readonly sha256: string;
	/** "checked" if the content has been compared; an argument of COMMIT. */
	readonly checked: "checked" | "";
}

/** Sends content in pieces that suit the link, regardless of how it arrives; compares finished regions of a large file during the transfer. */
async function send(end: RemoteEnd, ask: RunScript, temp: string, content: Content, { signal, progress }: WriteOptions): Promise<Sent> {
	const hash = createHash("sha256");
	const [pace, writing, comparing] = [new Pace(), new Lanes(), new Lanes()];
	let waiting: Uint8Array[] = [];
	let [held, bytes, arrived] = [0, 0, 0];
	let region: Region | undefined;
	const write = async (piece: Buffer, at: number): Promise<Promise<void>[]> => {
		let written = Promise.resolve();
		await writing.add(() => {
			written = pace
				.timed(piece.length, () => end.write(temp, at, piece))
				.then(() => {
					arrived += piece.length;
					progress?.(arrived);
				});
			return written;
		});
		return [written]; // not the promise itself: it would be awaited
	};
	const flush = async (last: boolean) => {
		const all = Buffer.concat(waiting, held);
		let at = 0;
		while (at < all.length && (last || all.length - at >= pace.size)) {
			stopIf(signal, temp);
			const piece = all.subarray(at, at + pace.size);
			hash.update(piece);
			const [written] = await write(piece, bytes);
			bytes += piece.length;
			at += piece.length;
			if (last && at === all.length && !region && bytes <= MIB) break; // small content is compared at commit
			region ??= new Region(await programOf(end), bytes - piece.length);
			region.add(piece, written);
			if (region.size >= REGION || (last && at === all.length)) {
				const done = region;
				region = undefined;
				await comparing.add(() => done.compare(ask, temp, signal));
			}
		}
		[waiting, held] = [[all.subarray(at)], all.length - at];
	};
	try {
		for await (const piece of piecesOf(content)) {
			waiting.push(piece);
			held += piece.length;
			if (held >= pace.size) await flush(false);
		}
		await flush(true);
	} finally {
		await Promise.allSettled([writing.end(), comparing.end()]);
	}
	await writing.end();
	await comparing.end();
	const checked = bytes > MIB && ALGORITHMS[await programOf(end)] !== undefined;
	return { bytes, sha256: hash.digest("hex"), checked: checked ? "checked" : "" };
}

/** Returns the remote hash program, which does not change. */
function programOf(end: RemoteEnd): Promise<string> {
	const known = fastest.get(end) ?? end.run(scripts.FASTEST, { again: true }).then(({ output }) => output.toString().trim());
	fastest.set(end, known);
	known.catch(() => fastest.delete(end));
	return known;
}

/** A part of a file, in whole MiB except for the last: its expected hash, and the comparison. */
class Region {
	size = 0;
	readonly #program: string;
	readonly #at: number;
	readonly #hash: Hash | undefined;
	readonly #written: Promise<void>[] = [];

	constructor(program: string, at: number) {
		const algorithm = ALGORITHMS[program];
		this.#program = program;
		this.#at = at;
		this.#hash = algorithm === undefined ? undefined : createHash(algorithm);
	}

	add(piece: Buffer, written: Promise<void> | undefined): void {
		if (written) this.#written.push(written);
		this.#hash?.update(piece);
		this.size += piece.length;
	}

	async compare(ask: RunScript, temp: string, signal: AbortSignal | undefined): Promise<void> {
		await Promise.all(this.#written);
		if (!this.#hash) return;
		const args = [temp, String(this.#at / MIB), String(Math.ceil(this.size / MIB)), this.#program];
		const said = (await ask(scripts.REGION, args, temp, signal ? { signal } : {})).toString();
		if (said.split(" ", 1)[0]?.trim() !== this.#hash.digest("hex"))
			throw new HoldfastError(
				"INTERNAL",
				`${temp}: it came out with other bytes there than were sent (another ${this.#program === "b2sum" ? "blake2b" : "sha256"})`,
			);
	}
}

function notesOf(said: string, old: Entry | undefined): string[] {
	const notes: string[] = [];
	const owner = /^owner (\d+) (\d+)$/m.exec(said);
	if (owner && old) notes.push(`It belonged to user ${old.uid}, group ${old.gid}, and belongs to ${owner[1]}, ${owner[2]} now: only root may give files away.`);
	if (/^sha$/m.test(said)) notes.push("There is no program there for a sha256, so only its size was checked.");
	if (old && old.links > 1) notes.push(`It had ${old.links} names (hard links); the others still have the old content.`);
	return notes;
}
