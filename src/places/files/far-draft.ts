/** A file at a far end on its way to be written: complete and checked beside its place, then moved there. */
import { createHash } from "node:crypto";
import path from "node:path";
import { HoldfastError } from "../../base/errors.js";
import { type Ask, entryFrom, type FarEnd, hashByReading } from "./far.js";
import {
	type Content,
	changedMeanwhile,
	type Draft,
	type Entry,
	fileError,
	piecesOf,
	stopIf,
	TEMPORARY_MINUTES,
	temporaryName,
	type WriteOptions,
} from "./files.js";
import * as scripts from "./scripts.js";

const STEP = 1024 * 1024;

export async function farDraft(end: FarEnd, ask: Ask, file: string, content: Content, options: WriteOptions): Promise<Draft> {
	const { signal } = options;
	const name = temporaryName();
	const { old, made, target } = prepared(await ask(scripts.PREPARE, [file, name, String(TEMPORARY_MINUTES), options.replaceLink ? "link" : ""], file));
	const temp = path.posix.join(path.posix.dirname(target), name);
	let over = false;
	const drop = async () => {
		if (over) return;
		over = true;
		await ask(scripts.REMOVE_ALL, [temp], temp).catch(() => {}); // whoever writes there later removes it
	};
	try {
		const { bytes, sha256 } = await send(end, temp, content, options);
		const mode = options.mode ?? old?.mode;
		const owner = old ? [String(old.uid), String(old.gid)] : ["", ""];
		const expect = options.expect === undefined ? "" : String(options.expect);
		return {
			sha256,
			commit: async () => {
				stopIf(signal, target);
				const args = [temp, target, String(bytes), sha256, mode === undefined ? "" : mode.toString(8), ...owner];
				const said = await ask(scripts.COMMIT, [...args, expect], target).catch(async (error: unknown) => {
					if (!(error instanceof HoldfastError) || error.code !== "UNSUPPORTED") throw error;
					if ((await hashByReading(end, target, signal)) !== expect) throw changedMeanwhile(target);
					return ask(scripts.COMMIT, [...args, ""], target);
				});
				over = true;
				return { path: target, created: old === undefined, bytes, sha256, ...(made === undefined ? {} : { made }), notes: notesOf(said.toString(), old) };
			},
			drop,
		};
	} catch (error) {
		await drop();
		throw fileError(error, file);
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

/** In pieces of a size that suits a link, whatever sizes they come in. */
async function send(end: FarEnd, temp: string, content: Content, { signal, progress }: WriteOptions): Promise<{ bytes: number; sha256: string }> {
	const hash = createHash("sha256");
	let waiting: Uint8Array[] = [];
	let held = 0;
	let bytes = 0;
	const flush = async () => {
		const all = Buffer.concat(waiting);
		[waiting, held] = [[], 0];
		for (let at = 0; at < all.length; at += STEP) {
			stopIf(signal, temp);
			const piece = all.subarray(at, at + STEP);
			await end.write(temp, bytes, piece);
			hash.update(piece);
			bytes += piece.length;
			progress?.(bytes);
		}
	};
	for await (const piece of piecesOf(content)) {
		waiting.push(piece);
		held += piece.length;
		if (held >= STEP) await flush();
	}
	await flush();
	return { bytes, sha256: hash.digest("hex") };
}

function notesOf(said: string, old: Entry | undefined): string[] {
	const notes: string[] = [];
	const owner = /^owner (\d+) (\d+)$/m.exec(said);
	if (owner && old) notes.push(`It belonged to user ${old.uid}, group ${old.gid}, and belongs to ${owner[1]}, ${owner[2]} now: only root may give files away.`);
	if (/^sha$/m.test(said)) notes.push("There is no program there for a sha256, so only its size was checked.");
	if (old && old.links > 1) notes.push(`It had ${old.links} names (hard links); the others still have the old content.`);
	return notes;
}
