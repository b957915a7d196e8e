/** A host on this machine: a real remote end, reached through pipes instead of a network. Which sh it has can be chosen. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Host, Started, Stream } from "../../src/places/host.js";
import { BOOT, Link, type LinkStreamOptions } from "../../src/places/link/link.js";
import { atEnd, tempDir } from "./home.js";

export type Shell = "dash" | "bash" | "busybox";
export const SHELLS: readonly Shell[] = ["dash", "bash", "busybox"];

export interface ShellHostOptions {
	readonly shell?: Shell;
	/** Its home; without it, an empty one. */
	readonly home?: string;
	readonly env?: Readonly<Record<string, string>>;
	/** What its login shell runs instead of the command; `$1` is the command. */
	readonly login?: string;
}

export class ShellHost implements Host {
	readonly address: string;
	readonly home: string;
	readonly streams: (Stream & { readonly child: ChildProcess })[] = [];
	/** How often it was asked to start. */
	starts = 0;
	/** What `start` does; a test may replace it. */
	starting: () => Promise<Started> = async () => ({ notes: [] });
	whySilent: () => Promise<string | undefined> = async () => undefined;
	readonly #path: string;
	readonly #options: ShellHostOptions;

	constructor(options: ShellHostOptions = {}) {
		this.#options = options;
		this.address = `shell://${options.shell ?? "dash"}`;
		this.home = options.home ?? tempDir("far");
		this.#path = pathFor(options.shell ?? "dash");
		atEnd(async () => {
			for (const stream of this.streams) stream.close();
			await Promise.all(this.streams.map((stream) => stream.ended));
		});
	}

	async start(): Promise<Started> {
		this.starts++;
		return await this.starting();
	}

	async open(command: string): Promise<Stream & { readonly child: ChildProcess }> {
		const { PATH: _path, LC_ALL: _locale, XDG_STATE_HOME: _state, ...inherited } = process.env;
		const env = { ...inherited, HOME: this.home, PATH: this.#path, ...this.#options.env };
		const argv = this.#options.login ? ["-c", this.#options.login, "login", command] : ["-c", command];
		const child = spawn(path.join(this.#path.split(":")[0] as string, "sh"), argv, { env, cwd: this.home, stdio: ["pipe", "pipe", "pipe"] });
		let errors = "";
		child.stderr.on("data", (chunk) => {
			errors = `${errors}${chunk}`.slice(-4096);
		});
		const ended = new Promise<string>((resolve) => {
			child.on("error", (error) => resolve(error.message));
			child.on("exit", (code, signal) => setImmediate(() => resolve(`its shell ended (${signal ?? code})${errors ? `: ${errors.trim()}` : ""}`)));
		});
		const stream = {
			child,
			input: child.stdin,
			output: child.stdout,
			ended,
			// as a network does it: the shell there finds out by itself
			close: () => {
				for (const end of [child.stdin, child.stdout, child.stderr]) end.destroy();
			},
			hold: (on: boolean) => {
				const ends = [child.stdin, child.stdout, child.stderr].filter((end) => !end.destroyed) as unknown as { ref(): void; unref(): void }[];
				for (const handle of [child, ...ends]) on ? handle.ref() : handle.unref();
			},
		};
		this.streams.push(stream);
		return stream;
	}

	async stop(): Promise<readonly string[]> {
		return [];
	}
}

/** A link to it, closed when the test is over. */
export async function linkTo(host: ShellHost, options: Partial<LinkStreamOptions> = {}): Promise<Link> {
	const link = await Link.open(await host.open(BOOT), { dir: "", name: "box", ...options });
	atEnd(() => link.close());
	return link;
}

/** Where its programs are: first a directory in which `sh` is that shell; of busybox nothing else. */
function pathFor(shell: Shell): string {
	const bin = tempDir(`bin-${shell}`);
	if (shell === "busybox") {
		execFileSync("busybox", ["--install", "-s", bin]);
		return bin;
	}
	fs.symlinkSync(fs.existsSync(`/usr/bin/${shell}`) ? `/usr/bin/${shell}` : `/bin/${shell}`, path.join(bin, "sh"));
	return `${bin}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`;
}
