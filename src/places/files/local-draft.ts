/** A draft of a local file: complete beside its target, then moved there. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import { errno, HoldfastError, identityOf, realPath, unlinkIfThere } from "../../base/index.js";
import { HeldDirectory } from "./held.js";
import { type Content, changedMeanwhile, type Draft, fileError, kindOf, notAFile, piecesOf, stopIf, type WriteOptions } from "./interface.js";
import { discarded, isAbandoned, isTemporary, TEMPORARY_MINUTES, temporaryName } from "./temporary.js";

export async function localDraft(file: string, content: Content, options: WriteOptions): Promise<Draft> {
	let temp: string | undefined;
	try {
		const target = options.replaceLink ? file : followed(file);
		const before = fs.lstatSync(target, { throwIfNoEntry: false });
		if (before && !before.isFile() && !(options.replaceLink && before.isSymbolicLink())) throw notAFile(target, kindOf(before.mode));
		const old = before?.isFile() ? before : undefined;
		const made = await makeDirs(path.dirname(target));
		tidy(path.dirname(target));
		temp = path.join(path.dirname(target), temporaryName());
		const { notes, ...written } = await save(temp, content, { old, ...options });
		const ready = temp;
		return {
			sha256: written.sha256,
			at: { temp: ready, target, identity: identityOf(ready) ?? "" },
			commit: async () => {
				try {
					if (options.expect !== undefined && hashOf(target) !== options.expect) throw changedMeanwhile(target);
					if (fs.lstatSync(target, { throwIfNoEntry: false })?.isDirectory()) throw notAFile(target, "directory");
					fs.renameSync(ready, target);
					discarded(path.basename(ready));
					return { path: target, created: before === undefined, ...written, ...(made === undefined ? {} : { made }), notes };
				} catch (error) {
					throw fileError(error, target);
				}
			},
			drop: async () => forget(ready),
		};
	} catch (error) {
		if (temp !== undefined) forget(temp);
		throw fileError(error, file);
	}
}

function forget(temp: string): void {
	try {
		unlinkIfThere(temp);
	} catch {
		// for example, the file system became read-only: the next writer to this directory removes it
	}
	discarded(path.basename(temp));
}

/** Resolves a symbolic link, even to a target that does not exist yet. The rules check the same path. */
function followed(file: string): string {
	if (!lookAt(file)?.isSymbolicLink()) return file;
	const end = realPath(file);
	if (lookAt(end)?.isSymbolicLink()) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
	return end;
}

function lookAt(file: string): fs.Stats | undefined {
	try {
		return fs.lstatSync(file);
	} catch (error) {
		if (errno(error) === "ENOENT") return undefined;
		throw error;
	}
}

async function save(
	temp: string,
	content: Content,
	{ old, mode, signal, progress }: WriteOptions & { old: fs.Stats | undefined },
): Promise<{ bytes: number; sha256: string; notes: string[] }> {
	const handle = await fsp.open(temp, "wx", old ? 0o600 : 0o666);
	const hash = createHash("sha256");
	let bytes = 0;
	try {
		for await (const piece of piecesOf(content)) {
			stopIf(signal, temp);
			for (let at = 0; at < piece.length; ) at += (await handle.write(piece, at)).bytesWritten;
			hash.update(piece);
			bytes += piece.length;
			progress?.(bytes);
		}
		if ((await handle.stat()).size !== bytes) throw new HoldfastError("INTERNAL", `${temp} came out with another size than was written; nothing was replaced`);
		return { bytes, sha256: hash.digest("hex"), notes: await dress(handle, old, mode) };
	} finally {
		await handle.close();
	}
}

/** Copies owner and permissions of the replaced file. Uses the descriptor: another file may have taken the name by now. */
async function dress(handle: fsp.FileHandle, old: fs.Stats | undefined, mode: number | undefined): Promise<string[]> {
	const notes: string[] = [];
	if (old) {
		const own = await handle.stat();
		if (own.uid !== old.uid || own.gid !== old.gid) {
			try {
				await handle.chown(old.uid, old.gid);
			} catch (error) {
				if (errno(error) !== "EPERM") throw error;
				await handle.chown(own.uid, old.gid).catch(() => {}); // not our group either
				const { uid, gid } = await handle.stat();
				notes.push(`It belonged to user ${old.uid}, group ${old.gid}, and belongs to ${uid}, ${gid} now: only root may give files away.`);
			}
		}
		if (old.nlink > 1) notes.push(`It had ${old.nlink} names (hard links); the others still have the old content.`);
	}
	const wanted = mode ?? (old ? old.mode & 0o7777 : undefined);
	if (wanted !== undefined) await handle.chmod(wanted);
	return notes;
}

function hashOf(file: string): string | null {
	try {
		return createHash("sha256").update(fs.readFileSync(file)).digest("hex");
	} catch (error) {
		if (errno(error) === "ENOENT") return null;
		throw error;
	}
}

/** Removes the drafts of killed programs. */
export function tidy(dir: string): void {
	let held: HeldDirectory | undefined;
	try {
		held = HeldDirectory.open(realPath(dir));
		for (const name of fs.readdirSync(held.self).filter(isTemporary)) {
			const stat = held.stat(name);
			if (stat && (isAbandoned(name) || Date.now() - stat.mtimeMs > TEMPORARY_MINUTES * 60_000)) held.remove(name);
		}
	} catch {
		// another user's directory, or one that can be written to but not read
	} finally {
		held?.close();
	}
}

/** Node's own recursive mkdir never returns below /proc. */
export async function makeDirs(dir: string): Promise<string | undefined> {
	try {
		if (isDirectory(dir)) return undefined;
		const above = await makeDirs(path.dirname(dir));
		await fsp.mkdir(dir).catch((error: unknown) => {
			if (errno(error) !== "EEXIST" || !isDirectory(dir)) throw error; // another program is creating the same
		});
		return above ?? dir;
	} catch (error) {
		if (errno(error) === "EEXIST" || errno(error) === "ENOTDIR")
			throw new HoldfastError("INVALID", `${dir} cannot be made a directory: something of that name is there, or above it`);
		throw fileError(error, dir);
	}
}

const isDirectory = (dir: string): boolean => fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory() ?? false;
