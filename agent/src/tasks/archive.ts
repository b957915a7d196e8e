/** Tasks from a tarball: read here, entry by entry, so that nothing is written outside of its folder, and no link leads out of it. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { AgentError, ensureDir } from "../base/index.js";

const BLOCK = 512;
const LARGEST = 2 * 1024 ** 3;

interface ArchiveEntry {
	readonly name: string;
	readonly type: string;
	readonly mode: number;
	readonly target: string;
	readonly content: Buffer;
}

export const isArchive = (file: string): boolean => /\.(tar|tar\.gz|tgz)$/i.test(file);

/** Returns the folder with its files, below `cache`. The same tarball is unpacked once. Throws `INVALID` and the entry's name for what a task must not have. */
export function unpacked(file: string, cache: string): string {
	if (fs.statSync(file).size > LARGEST) throw new AgentError("INVALID", `${file} is larger than 2 GB; unpack it yourself and give the folder`);
	const bytes = fs.readFileSync(file);
	const folder = path.join(cache, createHash("sha256").update(bytes).digest("hex").slice(0, 32));
	if (fs.existsSync(folder)) return folder;
	const entries = [...entriesOf(plain(file, bytes), file)];
	for (const entry of entries) check(entry, file);
	ensureDir(cache);
	const fresh = fs.mkdtempSync(path.join(cache, "unpacking-"));
	try {
		for (const entry of entries) write(fresh, entry, file);
		fs.renameSync(fresh, folder);
	} catch (error) {
		fs.rmSync(fresh, { recursive: true, force: true });
		if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error; // another program was quicker
	}
	return folder;
}

function plain(file: string, bytes: Buffer): Buffer {
	if (bytes.readUInt16BE(0) !== 0x1f8b) return bytes;
	try {
		return gunzipSync(bytes, { maxOutputLength: LARGEST });
	} catch (error) {
		throw new AgentError("INVALID", `${file} cannot be unpacked: ${(error as Error).message}`);
	}
}

function check({ name, type, target }: ArchiveEntry, file: string): void {
	const bad = (what: string): AgentError => new AgentError("INVALID", `${file}: the entry ${JSON.stringify(name)} ${what}; nothing was unpacked`);
	if (path.isAbsolute(name) || name.split("/").includes("..") || name.includes("\0")) throw bad("leads out of the archive");
	if (!["0", "2", "5"].includes(type)) throw bad("is a hard link, a device or something else that is neither file, folder nor symbolic link");
	if (type === "2" && (path.isAbsolute(target) || path.posix.normalize(path.posix.join(path.posix.dirname(name), target)).startsWith("..")))
		throw bad(`is a link out of the archive, to ${JSON.stringify(target)}`);
}

function write(root: string, { name, type, mode, target, content }: ArchiveEntry, file: string): void {
	const at = path.join(root, name);
	// Its parents must be folders: an entry behind a link would be written wherever that leads.
	for (let above = path.dirname(at); above.length > root.length; above = path.dirname(above))
		if (fs.lstatSync(above, { throwIfNoEntry: false })?.isSymbolicLink())
			throw new AgentError("INVALID", `${file}: the entry ${JSON.stringify(name)} is behind a link of the same archive; nothing was unpacked`);
	fs.mkdirSync(type === "5" ? at : path.dirname(at), { recursive: true, mode: 0o700 });
	if (type === "5") return;
	if (at !== root) fs.rmSync(at, { recursive: true, force: true });
	if (type === "2") fs.symlinkSync(target, at);
	else fs.writeFileSync(at, content, { mode: mode & 0o111 ? 0o700 : 0o600, flag: "wx" });
}

/** Yields what a tar archive has: ustar, with the long names of GNU tar and pax. */
function* entriesOf(tar: Buffer, file: string): Generator<ArchiveEntry> {
	let [longName, longTarget]: (string | undefined)[] = [];
	for (let at = 0; at + BLOCK <= tar.length; ) {
		const head = tar.subarray(at, at + BLOCK);
		if (head.every((byte) => byte === 0)) return;
		const size = octal(head, 124, 12);
		if (!Number.isSafeInteger(size) || at + BLOCK + size > tar.length || sumOf(head) !== octal(head, 148, 8))
			throw new AgentError("INVALID", `${file} is no tar archive, or it is cut short at byte ${at}`);
		const content = tar.subarray(at + BLOCK, at + BLOCK + size);
		const type = head[156] === 0 || head[156] === 0x37 ? "0" : String.fromCharCode(head[156] as number);
		at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
		if (type === "g") continue;
		if (type === "L" || type === "K" || type === "x") {
			const pax = type === "x" ? paxOf(content) : undefined;
			longName = pax ? (pax.get("path") ?? longName) : type === "L" ? textOf(content) : longName;
			longTarget = pax ? (pax.get("linkpath") ?? longTarget) : type === "K" ? textOf(content) : longTarget;
			continue;
		}
		const prefix = textOf(head.subarray(257, 262)) === "ustar" && head[263] === 0x30 ? textOf(head.subarray(345, 500)) : "";
		const short = textOf(head.subarray(0, 100));
		yield {
			name: longName ?? (prefix === "" ? short : `${prefix}/${short}`),
			...{ type, mode: octal(head, 100, 8), target: longTarget ?? textOf(head.subarray(157, 257)), content },
		};
		[longName, longTarget] = [undefined, undefined];
	}
}

const textOf = (bytes: Buffer): string => bytes.toString("utf8").replace(/\0[\s\S]*$/, "");
const octal = (head: Buffer, at: number, length: number): number => Number.parseInt(textOf(head.subarray(at, at + length)).trim() || "0", 8);
const sumOf = (head: Buffer): number => head.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);

function paxOf(content: Buffer): Map<string, string> {
	const values = new Map<string, string>();
	for (let at = 0; at < content.length; ) {
		const length = Number.parseInt(content.toString("latin1", at, at + 12), 10);
		if (!(length > 0)) break;
		const [, key = "", value = ""] = /^\d+ ([^=]*)=([\s\S]*)\n$/.exec(content.toString("utf8", at, at + length)) ?? [];
		values.set(key, value);
		at += length;
	}
	return values;
}
