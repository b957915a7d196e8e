/**
 * The audit of each task: one JSON line for everything, appended with a single write, so that any number of programs
 * write to it at once. When a file has grown to its limit it becomes the older one, and the one before that goes.
 */
import fs from "node:fs";
import path from "node:path";
import { errno, fromSystem, type Home, statIfThere, taskKey, unlinkIfThere } from "../base/index.js";
import type { Redactor } from "../base/secrets/index.js";
import type { AuditNews } from "./event.js";

export const LIMIT_BYTES = 8 * 1024 * 1024;
const COMMAND_CHARS = 4_000; // of a command in a line
const OPEN_FILES = 16;
const LOCK_MS = 10_000;

export const auditFile = (home: Home, task: string): string => path.join(home.audit, `${taskKey(task)}.jsonl`);
export const olderFile = (file: string): string => file.replace(/\.jsonl$/, ".old.jsonl");

interface Open {
	readonly fd: number;
	readonly ino: number;
}

export class Audit {
	readonly #home: Home;
	readonly #limit: number;
	readonly #open = new Map<string, Open>();
	readonly #waiting: { readonly file: string; readonly line: string }[] = [];

	constructor(home: Home, options: { limit?: number } = {}) {
		this.#home = home;
		this.#limit = options.limit ?? LIMIT_BYTES;
	}

	/** Returns false on a full disk, so that a command can still make room. Throws when it cannot be written for another reason: what is not on record is not to be done. */
	record(task: string, news: AuditNews): boolean {
		const file = auditFile(this.#home, task);
		const before = this.#waiting.every((waiting) => waiting.file === file) ? this.#waiting.splice(0).map(({ line }) => line) : [];
		this.#write(); // what was before comes before
		try {
			fs.writeSync(this.#fileOf(file), before.join("") + lineOf(this.#home.secrets, task, news));
			return true;
		} catch (error) {
			if (errno(error) === "ENOSPC" || errno(error) === "EDQUOT") return false;
			throw fromSystem(error, "the audit could not be written, so nothing was run");
		}
	}

	/** Notes something that has happened already. It is written a moment later, and a failure does not change the result. */
	note(task: string, news: AuditNews): void {
		if (this.#waiting.length === 0) setImmediate(() => this.#write());
		this.#waiting.push({ file: auditFile(this.#home, task), line: lineOf(this.#home.secrets, task, news) });
	}

	#write(): void {
		for (const { file, line } of this.#waiting.splice(0)) {
			try {
				fs.writeSync(this.#fileOf(file), line);
			} catch {
				// a full disk, or a home that is gone; the end of a kept process is worked out from its record
			}
		}
	}

	/** Writes one line at once, for programs that write no other. */
	static note(home: Home, task: string, news: AuditNews): void {
		const audit = new Audit(home);
		audit.note(task, news);
		audit.close();
	}

	/** Closes the file of a task; the next line opens it again. */
	forget(task: string): void {
		this.#write();
		this.#closeFile(auditFile(this.#home, task));
	}

	close(): void {
		this.#write();
		for (const file of this.#open.keys()) this.#closeFile(file);
	}

	#closeFile(file: string): void {
		const open = this.#open.get(file);
		this.#open.delete(file);
		if (open) fs.closeSync(open.fd);
	}

	/** The file is looked at each time: another program may have put it aside. */
	#fileOf(file: string): number {
		const stat = fs.statSync(file, { throwIfNoEntry: false });
		if (stat && stat.size >= this.#limit) putAside(file, this.#limit);
		const open = this.#open.get(file);
		if (open && stat?.ino === open.ino && stat.size < this.#limit) return open.fd;
		const fd = fs.openSync(file, "a", 0o600);
		if (open) fs.closeSync(open.fd); // not before: should there be no other, it stays in the list
		this.#open.delete(file);
		this.#open.set(file, { fd, ino: fs.fstatSync(fd).ino });
		for (const oldest of this.#open.keys()) {
			if (this.#open.size <= OPEN_FILES) break;
			this.#closeFile(oldest);
		}
		return fd;
	}
}

/** Rotates the file under a lock, and only while it is too large: else a second program would replace what the first has put aside. */
function putAside(file: string, limit: number): void {
	const lock = `${file}.lock`;
	try {
		fs.closeSync(fs.openSync(lock, "wx", 0o600));
	} catch (error) {
		if (errno(error) !== "EEXIST") throw error;
		if (Date.now() - (statIfThere(lock)?.mtimeMs ?? Date.now()) > LOCK_MS) unlinkIfThere(lock); // of a killed program; the next line tries again
		return;
	}
	try {
		if ((statIfThere(file)?.size ?? 0) >= limit) fs.renameSync(file, olderFile(file));
	} finally {
		unlinkIfThere(lock);
	}
}

/** Names of our own making. */
const OWN = new Set(["event", "run", "session_id"]);

/** Masks secrets in what a person or a model typed. Field by field: this runs twice for every command, and copies of objects cost as much as all the rest. */
function lineOf(secrets: Redactor, task: string, news: AuditNews): string {
	return secrets.withMasking(() => maskedLine(secrets, task, news));
}

function maskedLine(secrets: Redactor, task: string, news: AuditNews): string {
	const line: Record<string, unknown> = { at: new Date().toISOString(), task };
	for (const name in news) {
		const value = news[name as keyof AuditNews];
		line[name] = OWN.has(name) ? value : secrets.redactAll(name === "command" && typeof value === "string" ? shortened(secrets, value) : value);
	}
	return `${JSON.stringify(line)}\n`;
}

function shortened(secrets: Redactor, command: string): string {
	if (command.length <= COMMAND_CHARS) return command;
	return `${secrets.redact(command.slice(0, COMMAND_CHARS), { cut: true })}… (${command.length} characters in all)`;
}
