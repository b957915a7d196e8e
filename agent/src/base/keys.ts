/**
 * API keys and tokens: files of mode 0600 in the home, or the output of a command (`pass show openai`). They are read when they are needed, and are never in
 * an environment: what a child inherits, every program below it can read.
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { type Clock, systemClock } from "./clock.js";
import { AgentError, errno, fromSystem } from "./errors.js";
import { writeWhole } from "./files.js";
import type { AgentHome } from "./home.js";

const MOST_BYTES = 64 * 1024;
const COMMAND_MS = 30_000;
/** How long the output of a command counts: it may ask a person for a password, and the key may be one that lasts for an hour. */
const FRESH_MS = 5 * 60_000;
const SHORTEST_MASKED = 8; // shorter ones are words of other texts too

/** Text is the key itself, most likely: the problem says where it belongs, and repeats nothing of it. */
const noKeySchema = z.unknown().refine((value) => typeof value !== "string", {
	message: 'is text, but keys are not kept in the settings; run `holdfast-agent setup key`, or give { "file": NAME } or { "command": [PROGRAM, …] }',
	params: { secret: true },
});

/** `file`: a name in keys/ of the home, or an absolute path. `command`: a program with its arguments, exactly these; no shell. */
export const keySourceSchema = noKeySchema.pipe(
	z.union([z.strictObject({ file: z.string().min(1).max(4_096) }), z.strictObject({ command: z.array(z.string().min(1)).min(1).max(100) })]),
);
export type KeySource = z.infer<typeof keySourceSchema>;

/** The keys that this program has read, for masking them in every text that leaves. */
export class KeyRing {
	readonly #home: AgentHome;
	readonly #clock: Clock;
	readonly #known = new Set<string>();
	readonly #said = new Map<string, { readonly key: string; readonly at: number }>();

	constructor(home: AgentHome, clock: Clock = systemClock) {
		this.#home = home;
		this.#clock = clock;
	}

	/** Returns the key; a command is run again after five minutes. Throws `KEY`, in words that never have the key in them. */
	async read(source: KeySource, signal?: AbortSignal): Promise<string> {
		const key = "file" in source ? this.#fromFile(keyFile(this.#home, source.file)) : await this.#fromCommand(source.command, signal);
		this.#known.add(key);
		return key;
	}

	#fromFile(file: string): string {
		return checkedKey(readKeyFile(file), file);
	}

	async #fromCommand(command: readonly string[], signal: AbortSignal | undefined): Promise<string> {
		const name = JSON.stringify(command);
		const said = this.#said.get(name);
		const age = said ? this.#clock.now() - said.at : FRESH_MS;
		if (said && age >= 0 && age < FRESH_MS) return said.key;
		const key = checkedKey(await runKeyCommand(command, signal), `the output of ${command[0]}`);
		this.#said.set(name, { key, at: this.#clock.now() });
		return key;
	}

	/** Stores a key as keys/NAME and returns where it is. */
	store(name: string, key: string): KeySource {
		if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
			throw new AgentError("INVALID", `"${name}" cannot be the name of a key; use letters, digits, dots, dashes and underscores`);
		const checked = checkedKey(key, "the key");
		try {
			writeWhole(keyFile(this.#home, name), `${checked}\n`, { sync: true });
		} catch (error) {
			throw fromSystem(error, `cannot store the key ${name}`);
		}
		this.#known.add(checked);
		return { file: name };
	}

	/** Masks every key that was read or stored, also where it is written as JSON, in a URL or in base64. */
	readonly redact = (text: string): string => {
		let masked = text;
		for (const key of this.#known) {
			if (key.length < SHORTEST_MASKED) continue;
			for (const form of new Set([key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key), ...base64Forms(key)]))
				masked = masked.replaceAll(form, "…[redacted]");
		}
		return masked;
	};
}

const keyFile = (home: AgentHome, name: string): string => path.resolve(home.keys, name);

/** Refused if another user could have read or changed it. */
function readKeyFile(file: string): string {
	let fd: number;
	try {
		fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
	} catch (error) {
		if (errno(error) === "ENOENT")
			throw new AgentError("KEY", `there is no key file ${file}; run \`holdfast-agent setup key\`, or write the key to it`, { cause: error });
		throw new AgentError("KEY", `the key file ${file} cannot be read (${errno(error)}); check its permissions`, { cause: error });
	}
	try {
		const stat = fs.fstatSync(fd);
		if (!stat.isFile()) throw new AgentError("KEY", `${file} is not a file; put the key, and nothing else, into a file of that name`);
		if (stat.uid !== process.getuid?.()) throw new AgentError("KEY", `the key file ${file} belongs to another user; copy it to one of your own`);
		if (stat.mode & 0o077)
			throw new AgentError("KEY", `the key file ${file} can be read by others; \`chmod 600\` it, and replace the key if others use this machine`);
		if (stat.size > MOST_BYTES) throw new AgentError("KEY", `the key file ${file} has ${stat.size} bytes; it must have the key in it, and nothing else`);
		return fs.readFileSync(fd, "utf8");
	} finally {
		fs.closeSync(fd);
	}
}

/** Its stderr goes to the terminal, where password managers ask; a command that waits for input that never comes is ended. */
function runKeyCommand([program = "", ...args]: readonly string[], signal: AbortSignal | undefined): Promise<string> {
	return new Promise((resolve, reject) => {
		execFile(
			program,
			args,
			{ encoding: "utf8", timeout: COMMAND_MS, maxBuffer: MOST_BYTES, killSignal: "SIGKILL", ...(signal ? { signal } : {}) },
			(error, stdout, stderr) => {
				if (!error) return resolve(stdout);
				if (signal?.aborted) return reject(signal.reason);
				const how = error.killed
					? `did not end within ${COMMAND_MS / 1000} s`
					: errno(error) === "ENOENT"
						? "is not there"
						: typeof error.code === "number"
							? `ended with ${error.code}`
							: `failed (${error.code ?? error.signal})`;
				const said = stderr.trim().split("\n")[0]?.slice(0, 200);
				reject(
					new AgentError(
						"KEY",
						`the key command ${program} ${how}${said ? `: ${said}` : ""}; run it yourself to see why, or change it with \`holdfast-agent setup key\``,
					),
				);
			},
		);
	});
}

/** A key goes into an HTTP header: one line of printable ASCII. */
function checkedKey(text: string, where: string): string {
	const key = text.trim();
	if (key === "") throw new AgentError("KEY", `${where} is empty; put the key there`);
	if (/[\r\n]/.test(key)) throw new AgentError("KEY", `${where} has more than one line; it must have the key in it, and nothing else`);
	if (!/^[\x21-\x7e]+$/.test(key)) throw new AgentError("KEY", `${where} has spaces or characters in it that no key has; copy the key again`);
	return key;
}

/** The text in base64, wherever in a longer text it begins: without the digits at its ends that depend on the neighbours. */
function base64Forms(key: string): string[] {
	return [0, 1, 2].map((shift) => {
		const digits = Buffer.from(" ".repeat(shift) + key, "utf8")
			.toString("base64")
			.replace(/=+$/, "");
		return digits.slice(shift === 0 ? 0 : shift + 1, -1);
	});
}
