/** The control socket: where it is, and whether the connection behind it answers. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { ensureDir, HoldfastError, unlinkIfThere } from "../../base/index.js";
import type { SshSettings } from "./options.js";

/** The longest path of a socket: every system has 104 bytes, of which ssh needs 17 for a temporary name beside it, and one for the end. */
const LONGEST = 104 - 17 - 1;

/** The socket's name is made of all that decides where a connection leads and as which user: only programs with the same settings share it. */
export function socketFile(settings: SshSettings, home: string, env: NodeJS.ProcessEnv = process.env): string {
	const { dir: _, connectTimeout: __, options = {}, ...rest } = settings;
	const sorted = (record: object) => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
	const name = createHash("sha256")
		.update(JSON.stringify([sorted(rest), sorted(options)]))
		.digest("hex")
		.slice(0, 16);
	const uid = process.getuid?.() ?? 0;
	const run = env.XDG_RUNTIME_DIR && path.isAbsolute(env.XDG_RUNTIME_DIR) ? [path.join(env.XDG_RUNTIME_DIR, "holdfast-ssh")] : [];
	const problems: string[] = [];
	for (const dir of [path.join(home, "ssh"), ...run, path.join(os.tmpdir(), `holdfast-ssh-${uid}`)]) {
		const file = path.join(dir, name);
		const problem = Buffer.byteLength(file) > LONGEST ? "too long for a socket" : file.includes("${") ? "has ${ in it" : privateDir(dir, uid);
		if (problem === undefined) return file;
		problems.push(`${dir}: ${problem}`);
	}
	throw new HoldfastError("HOME", `there is no directory for the control socket of ssh (${problems.join("; ")}); choose a shorter home with HOLDFAST_HOME`);
}

/** Makes the directory if need be. Returns what is wrong with it: in /tmp another user could have made it first. */
function privateDir(dir: string, uid: number): string | undefined {
	try {
		ensureDir(dir);
		const stat = fs.lstatSync(dir);
		if (!stat.isDirectory() || stat.uid !== uid) return "belongs to another user";
		if (stat.mode & 0o077) fs.chmodSync(dir, 0o700);
		return undefined;
	} catch (error) {
		return (error as Error).message;
	}
}

/** Which socket it is: one that was removed and made again is another. */
export function socketIdentity(file: string): string | undefined {
	const stat = fs.lstatSync(file, { throwIfNoEntry: false, bigint: true });
	return stat && `${stat.dev}:${stat.ino}:${stat.ctimeNs}`;
}

export type ControlState = "alive" | "stuck" | "gone";

/** A live ssh greets each client that connects (PROTOCOL.mux); a stopped or hanging one does not. */
export function askMaster(file: string, ms: number): Promise<ControlState> {
	return new Promise((resolve) => {
		const socket = net.connect(file);
		const tell = (answer: ControlState) => {
			clearTimeout(late);
			socket.destroy();
			resolve(answer);
		};
		const late = setTimeout(() => tell("stuck"), ms);
		socket.once("data", () => tell("alive"));
		socket.once("error", ({ code }: NodeJS.ErrnoException) => tell(code === "EAGAIN" ? "stuck" : "gone")); // EAGAIN: its queue is full
		socket.once("end", () => tell("gone"));
	});
}

/** New callers no longer find that connection; those that use it keep it, and it ends by its own timers. Does nothing if another connection has taken its place. */
export function retire(file: string, identity: string | undefined): void {
	if (identity !== undefined && socketIdentity(file) === identity) unlinkIfThere(file);
}
