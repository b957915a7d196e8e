/** Folders to copy, and what is in them, to compare. */
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { tempDir } from "./home.js";

/** Names that have broken something somewhere. */
export const HOSTILE = [
	"with space",
	"new\nline",
	"ends in newline\n",
	"'quo\"tes'",
	"-rf",
	"$(touch pwned)",
	"`x`;|&<>*?[a]{b}",
	"\\back\\slash",
	"ünïcödé 日本 🦀",
	"tab\there",
	"x".repeat(255),
	"...",
	"a:b",
	"#c",
	"~",
];

/** Everything below a directory: kinds, permissions, links and contents. */
export function picture(dir: string): Record<string, string> {
	const seen: Record<string, string> = {};
	for (const entry of fs.readdirSync(dir, { recursive: true, withFileTypes: true })) {
		const file = path.join(entry.parentPath, entry.name);
		const mode = (fs.lstatSync(file).mode & 0o777).toString(8);
		const what = entry.isFile()
			? createHash("sha256").update(fs.readFileSync(file)).digest("hex")
			: entry.isSymbolicLink()
				? `-> ${fs.readlinkSync(file)}`
				: "directory";
		seen[path.relative(dir, file)] = entry.isSymbolicLink() ? what : `${mode} ${what}`;
	}
	return seen;
}

/** Every kind of thing that can be copied, under every kind of name. */
export function hostileTree(above = tempDir()): string {
	const dir = path.join(above, "tree");
	fs.mkdirSync(dir);
	for (const [at, name] of HOSTILE.entries()) {
		fs.writeFileSync(path.join(dir, name), randomBytes(at * 100));
		fs.mkdirSync(path.join(dir, `d${name}`.slice(0, 250)));
		fs.writeFileSync(path.join(dir, `d${name}`.slice(0, 250), name), name);
	}
	fs.mkdirSync(path.join(dir, "empty"));
	fs.writeFileSync(path.join(dir, "program"), "#!/bin/sh\n");
	fs.chmodSync(path.join(dir, "program"), 0o755);
	fs.writeFileSync(path.join(dir, "own"), "x");
	fs.chmodSync(path.join(dir, "own"), 0o600);
	fs.writeFileSync(path.join(dir, "big"), randomBytes(700_000));
	fs.symlinkSync("program", path.join(dir, "link"));
	fs.symlinkSync("/nowhere/at all\n", path.join(dir, "broken link"));
	fs.symlinkSync(".", path.join(dir, "circle"));
	fs.mkdirSync(path.join(dir, "locked"));
	fs.writeFileSync(path.join(dir, "locked", "file"), "x");
	fs.chmodSync(path.join(dir, "locked"), 0o555);
	let deep = dir;
	for (let depth = 0; depth < 5; depth++) deep = path.join(deep, `${depth}`.repeat(60));
	fs.mkdirSync(deep, { recursive: true });
	fs.writeFileSync(path.join(deep, "deep"), "deep");
	return dir;
}

/** Many small files in some folders. */
export function manyFiles(count: number, above = tempDir()): string {
	const dir = path.join(above, "many");
	for (let at = 0; at < count; at++) {
		const folder = path.join(dir, `dir ${at % 20}`);
		if (at < 20) fs.mkdirSync(folder, { recursive: true });
		fs.writeFileSync(path.join(folder, `${at}`), `${at} ${"x".repeat((at % 100) * 20)}`);
	}
	return dir;
}

/** A file with so many megabytes that no piece of is like another; its sha256. */
export function largeFile(file: string, megabytes: number): string {
	const piece = randomBytes(1_000_000);
	const hash = createHash("sha256");
	const to = fs.openSync(file, "w");
	for (let at = 0; at < megabytes; at++) {
		piece.writeUInt32LE(at, 0);
		fs.writeSync(to, piece);
		hash.update(piece);
	}
	fs.closeSync(to);
	return hash.digest("hex");
}
