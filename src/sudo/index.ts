/**
 * sudo for an agent's commands. They find a `sudo` of ours that tells the real one to ask our askpass program; that one tells us over a
 * socket where it listens; if it is what it says (asker.ts) the password is sent there, and from there goes into its pipe to sudo. So it is
 * in no argument, no environment and no log. Without a listener or a password, sudo fails at once.
 */
import { createHash } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { ensureDir, fromSystem, isAlive, unlinkIfThere } from "../base/index.js";
import type { Runtime } from "../process/index.js";
import { type Asker, askerOf } from "./asker.js";
import { Passwords } from "./passwords.js";
import { findSudo, writePrograms } from "./program.js";

export type { AskPerson } from "./passwords.js";

const LONGEST_SOCKET = 100; // bytes; the kernel takes 107, others 103
const LONGEST_REQUEST = 200;
const SILENT_MS = 60_000; // a person may have to be asked meanwhile
const MOST_AT_ONCE = 64;
const REMEMBERED = 1_000; // sudos that have been given one

export class Sudo {
	readonly passwords: Passwords;
	readonly #runtime: Runtime;
	readonly #given = new Map<string, string>();
	readonly #notes = new Map<string, Set<string>>();
	#server: net.Server | undefined;
	#socket: string | undefined;
	#bin: string | undefined;

	constructor(runtime: Runtime) {
		this.#runtime = runtime;
		this.passwords = new Passwords(() => runtime.config.sudo.passwordFile, runtime.home.secrets);
	}

	/** Starts to answer sudo's requests. Returns the directory that must come first in a shell's PATH; undefined where sudo needs nothing of us. */
	start(): string | undefined {
		try {
			this.#bin ??= this.#listen();
			return this.#bin;
		} catch {
			return undefined; // a full disk, say: sudo is what it is without us
		}
	}

	#listen(): string | undefined {
		const sudo = findSudo();
		if (sudo === undefined) return undefined;
		const root = path.join(this.#runtime.home.root, "sudo");
		const name = `${this.#runtime.self.pid}-${this.#runtime.self.start}.sock`;
		const sockets = Buffer.byteLength(path.join(root, name)) <= LONGEST_SOCKET ? root : shortDir(root);
		ensureDir(root);
		const bin = writePrograms(root, { sudo, sockets });
		this.#socket = path.join(sockets, name);
		unlinkIfThere(this.#socket);
		this.#server = net.createServer((socket) => {
			socket.unref();
			socket.on("error", () => {}); // the asking program is gone
			socket.setTimeout(SILENT_MS, () => socket.destroy());
			this.#serve(socket).catch(() => socket.end("no\n")); // such as a program that has ended meanwhile
		});
		this.#server.maxConnections = MOST_AT_ONCE;
		this.#server.on("error", () => {}); // then sudo fails at once, and says so
		const umask = process.umask(0o177); // bound at once, before anything else runs
		this.#server.listen(this.#socket);
		process.umask(umask);
		this.#server.unref();
		return bin;
	}

	/** Takes the notes for the model on this task's uses of sudo. */
	takeNotes(task: string): string[] {
		const notes = this.#notes.get(task) ?? [];
		this.#notes.delete(task);
		return [...notes];
	}

	forget(task: string): void {
		this.#notes.delete(task);
		this.passwords.forget(task);
	}

	close(): void {
		this.#server?.close();
		if (this.#socket) unlinkIfThere(this.#socket);
	}

	async #serve(socket: net.Socket): Promise<void> {
		socket.setEncoding("latin1");
		let request = "";
		for await (const text of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
			request += text;
			if (request.includes("\n") || request.length > LONGEST_REQUEST) break;
		}
		const [, pid, name] = /^(\d{1,10}) (holdfast-askpass-[\w-]+)\n$/.exec(request) ?? [];
		const asker = pid === undefined || name === undefined ? undefined : askerOf(this.#runtime, Number(pid), name);
		socket.end(asker && (await this.#give(asker)) ? "given\n" : "no\n");
	}

	async #give(asker: Asker): Promise<boolean> {
		const { task, sudo, askpass } = asker;
		const key = `${sudo.pid}.${sudo.start}`;
		const before = this.#given.get(key);
		if (before !== undefined) {
			this.#note(task, this.passwords.drop(task, before)); // it asks again: what it got was wrong
			return false;
		}
		try {
			const password = await this.passwords.of(task);
			if (!isAlive(askpass)) return false;
			this.#remember(key, password);
			await send(asker.name, password);
			return true;
		} catch (error) {
			this.#note(task, `${fromSystem(error, "sudo could not be given its password").message}.`);
			return false;
		}
	}

	#remember(key: string, password: string): void {
		this.#given.set(key, password);
		for (const old of this.#given.keys()) {
			if (this.#given.size <= REMEMBERED) break;
			this.#given.delete(old);
		}
	}

	#note(task: string, text: string): void {
		const notes = this.#notes.get(task) ?? new Set();
		this.#notes.set(task, notes.add(text));
	}
}

function send(name: string, password: string): Promise<void> {
	return new Promise((resolve, reject) => {
		const socket = net.connect(`\0${name}`, () => socket.end(`${name}\n${password}\n`));
		socket.once("error", reject);
		socket.once("close", () => resolve());
		socket.resume();
	});
}

/** Returns a private directory for a home whose path is too long for a socket. */
function shortDir(root: string): string {
	const dir = path.join(os.tmpdir(), `holdfast-${process.getuid?.()}-${createHash("sha256").update(root).digest("hex").slice(0, 12)}`);
	ensureDir(dir);
	const stat = fs.lstatSync(dir);
	if (!stat.isDirectory() || stat.uid !== process.getuid?.() || stat.mode & 0o077) throw new Error(`${dir} is not for its owner alone`);
	return dir;
}
