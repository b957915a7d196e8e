/** `patch`: replacements in one file, or a diff of several; all or nothing. */
import { createHash } from "node:crypto";
import path from "node:path";
import { counted, HoldfastError, identityOf } from "../../../base/index.js";
import { type Files, temporaryName } from "../../../places/files/index.js";
import type { FileEffect } from "../../../process/index.js";
import type { Ask } from "../../ask.js";
import { Missing } from "../answer.js";
import type { PatchArgs } from "../input.js";
import { keepingEndings } from "../lines.js";
import { refuseMask } from "../mask.js";
import { deletes, permitted, writes } from "../permit.js";
import type { PatchResult } from "../result.js";
import { decode, isBinary, toBytesText } from "../text.js";
import { type FilesAt, pathIn } from "../where.js";
import { applyHunks } from "./hunks.js";
import { type Edit, replaceIn } from "./replace.js";
import { shownDiff } from "./shown.js";
import { type FileDiff, parseDiff } from "./unified.js";

const MOST_BYTES = 64 * 1024 * 1024;

/** A requested change of one file. */
interface Wish {
	readonly file: string;
	readonly kind: "change" | "create" | "delete";
	/** Changes the text, which has one character per byte. */
	change(text: string): { text: string; count: number; notes: readonly string[] };
}

interface Change {
	readonly file: string;
	readonly old: Buffer | undefined;
	readonly fresh: Buffer | undefined;
	readonly count: number;
}

export async function patch(ask: Ask, args: PatchArgs, where: FilesAt): Promise<PatchResult> {
	const wishes = wishesOf(args, where);
	const command = wishes.map(({ file, kind }) => (kind === "delete" ? deletes(file) : writes(file))).join("; ");
	return permitted(ask, { tool: "patch", command, cwd: where.cwd }, (record) =>
		inTurn(where.files, async () => {
			const changes: Change[] = [];
			for (const wish of wishes) changes.push(await changed(ask, where.files, wish));
			const paths = await putAll(ask, where.files, changes, record);
			const count = changes.reduce((sum, change) => sum + change.count, 0);
			const [first] = paths;
			return {
				status: "ok",
				output: changes.map(({ file, old, fresh }) => shownDiff(ask.runtime.home.secrets, file, old, fresh)).join("\n"),
				error: null,
				...(paths.length === 1 && first !== undefined ? { path: first } : {}),
				...(args.diff === undefined ? { replacements: count } : {}),
				files: changes.map(({ file, old, fresh }, at) => ({
					path: paths[at] ?? file,
					change: !fresh ? "deleted" : old ? "changed" : "created",
					bytes: fresh?.length ?? 0,
				})),
				showing: args.diff === undefined ? `${counted(count, "replacement")} in ${first}` : `${counted(changes.length, "file")} patched`,
			};
		}),
	);
}

function wishesOf({ path, old_string, new_string, replace_all, edits, diff }: PatchArgs, where: FilesAt): Wish[] {
	const forms = [old_string ?? new_string, edits, diff].filter((form) => form !== undefined).length;
	if (forms !== 1)
		throw invalid(
			forms === 0
				? "say what to change: old_string and new_string, or edits, or diff"
				: "give one of old_string and new_string, edits, or diff; not several of them",
		);
	if (diff !== undefined) return diffWishes(parseDiff(diff), path, where);
	if (path === undefined) throw invalid("path is missing: say which file to change");
	if (edits === undefined && (old_string === undefined || new_string === undefined))
		throw invalid(`${old_string === undefined ? "old_string" : "new_string"} is missing; to delete text give an empty new_string`);
	const all: readonly Edit[] = edits ?? [{ old_string: old_string as string, new_string: new_string as string, replace_all }];
	const file = pathIn(where, path);
	return [{ file, kind: "change", change: (text) => replaceAll(text, all, file) }];
}

function replaceAll(text: string, edits: readonly Edit[], file: string): ReturnType<Wish["change"]> {
	const notes: string[] = [];
	let result = text;
	let count = 0;
	for (const [at, edit] of edits.entries()) {
		const name = edits.length > 1 ? `edit ${at + 1}: ` : "";
		try {
			const done = keepingEndings(result, (plain) => replaceIn(plain, edit, file));
			result = done.text;
			count += done.count;
			if (done.fuzzy)
				notes.push(
					`${name}old_string was found only without regard to whitespace, at line ${done.fuzzy[0]}${done.fuzzy[1] > done.fuzzy[0] ? ` to ${done.fuzzy[1]}` : ""}.`,
				);
		} catch (error) {
			if (!(error instanceof HoldfastError) || name === "") throw error;
			throw new HoldfastError(error.code, `${name}${error.message}`, { cause: error });
		}
	}
	return { text: result, count, notes };
}

function diffWishes(diffs: readonly FileDiff[], path: string | undefined, where: FilesAt): Wish[] {
	if (path !== undefined && diffs.length > 1) throw invalid(`the diff is about ${diffs.length} files, and path names one; leave path out`);
	const wishes = diffs.map(({ from, to, hunks }): Wish => {
		const name = path ?? to ?? from;
		if (typeof name !== "string") throw invalid('the diff does not say which file it is about; give path, or lines "--- a/file" and "+++ b/file"');
		const file = pathIn(where, name);
		const kind = to === null ? "delete" : from === null ? "create" : "change";
		return {
			file,
			kind,
			change: (text) => {
				const { text: fresh, notes } = keepingEndings(text, (plain) => applyHunks(plain, hunks, file));
				return { text: fresh, count: hunks.length, notes: wishes.length > 1 ? notes.map((note) => `${file}: ${note}`) : notes };
			},
		};
	});
	const twice = wishes.find(({ file }, at) => wishes.findIndex((other) => other.file === file) !== at);
	if (twice) throw invalid(`the diff has two parts about ${twice.file}; put all hunks of a file under one header`);
	return wishes;
}

async function changed(ask: Ask, files: Files, { file, kind, change }: Wish): Promise<Change> {
	const entry = await files.stat(file);
	if (kind === "create" && entry) throw invalid(`${file} is there already, and the diff would create it; send a diff against what is there`);
	if (kind !== "create" && !entry) throw new Missing(file);
	if (entry && entry.kind !== "file") throw invalid(`${file} is ${entry.kind === "directory" ? "a directory" : "a device, a pipe or a socket"}, not a file`);
	if (entry && entry.size > MOST_BYTES)
		throw invalid(`${file} has ${entry.size} bytes, and ${MOST_BYTES} are the most that can be patched; use a command such as sed`);
	const old = entry && (await files.read(file, 0, MOST_BYTES + 1));
	if (old && isBinary(old)) throw invalid(`${file} is not text`);
	const { text, back } = toBytesText(old ?? Buffer.alloc(0));
	const { text: result, count, notes } = change(text);
	const fresh = back(result);
	if (kind === "delete") {
		if (result !== "") throw invalid(`the diff deletes ${file}, but not all of its lines; read it again`);
		return { file, old, fresh: undefined, count };
	}
	refuseMask(decode(fresh), old ? decode(old) : "", file);
	ask.notes.push(...notes);
	return { file, old, fresh, count };
}

/** Writes every draft beside its target before the first rename; undoes the renames if one fails. */
async function putAll(ask: Ask, files: Files, changes: readonly Change[], record: (bytes: number, files: readonly FileEffect[]) => void): Promise<string[]> {
	const drafts = [];
	const undo: (() => Promise<unknown>)[] = [];
	try {
		for (const { file, old, fresh } of changes)
			drafts.push(fresh && (await files.draft(file, fresh, { expect: old ? sha(old) : null, ...(ask.signal ? { signal: ask.signal } : {}) })));
		const removals = changes.map(({ file, fresh }) => (fresh || !ask.record ? undefined : removalOf(files, file)));
		record(
			changes.reduce((sum, { fresh }) => sum + (fresh?.length ?? 0), 0),
			drafts.map((draft, at) => draft?.at ?? removals[at] ?? null),
		);
		const paths: string[] = [];
		for (const [at, { file, old }] of changes.entries()) {
			const draft = drafts[at];
			if (draft) {
				const { path, notes, made } = await draft.commit();
				paths.push(path);
				undo.push(() => (old ? files.write(path, old) : files.remove(path)));
				ask.notes.push(...notes, ...(made === undefined ? [] : [`The directory ${made} was not there and was made.`]));
			} else {
				if (old && (await files.hash(file)) !== sha(old))
					throw new HoldfastError("CONFLICT", `${file} was changed by another program meanwhile; nothing was changed by this`);
				const removal = removals[at];
				if (removal) {
					await files.rename(file, removal.temp);
					ask.afterRecord.push(() => void files.discard(removal.temp));
				} else await files.remove(file);
				paths.push(file);
				undo.push(() => (removal ? files.rename(removal.temp, file).then(() => files.discard(removal.temp)) : files.write(file, old as Buffer)));
			}
		}
		return paths;
	} catch (error) {
		for (const back of undo.reverse()) await back();
		throw error;
	} finally {
		for (const draft of drafts) await draft?.drop();
	}
}

/**
 * Returns where to move a file that a call with an id removes. The file stays there until the call's end is on record, so that `find` can tell whether
 * it was removed.
 */
function removalOf(files: Files, file: string): NonNullable<FileEffect> | undefined {
	const identity = files.near ? identityOf(file) : undefined;
	return identity === undefined ? undefined : { temp: path.join(path.dirname(file), temporaryName()), target: file, identity, removes: true };
}

const sha = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const turns = new WeakMap<Files, Promise<unknown>>();

/** Runs edits one after the other, so that concurrent calls do not overwrite each other. */
function inTurn<T>(files: Files, act: () => Promise<T>): Promise<T> {
	const result = (turns.get(files) ?? Promise.resolve()).then(act);
	turns.set(
		files,
		result.catch(() => {}), // a failed edit does not fail the next one
	);
	return result;
}

const invalid = (sentence: string): HoldfastError => new HoldfastError("INVALID", `${sentence}; nothing was changed`);
