/** Runs scripts through a shell that is a local program: `sh`, or a shell inside a sandbox. */
import { spawn } from "node:child_process";
import { HoldfastError, onlyThese, shellQuote } from "../../base/index.js";
import { codeIn, problem, type ScriptOptions, type ScriptResult } from "./interface.js";
import type { RemoteEnd } from "./remote.js";

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const BLOCK = 1024 * 1024;
const LIMIT = 64 * 1024 * 1024;

/** Runs a script. `shell`: the words before `-c`. Drops stderr unless the shell fails without any output. */
export function runHere(
	shell: readonly string[],
	script: string,
	args: readonly string[],
	options: ScriptOptions & { env?: NodeJS.ProcessEnv } = {},
): Promise<ScriptResult> {
	const { cwd, input, signal, limit = LIMIT, env } = options;
	const [program, ...words] = shell;
	return new Promise((resolve, reject) => {
		const child = spawn(program as string, [...words, "-c", script, "sh", ...args], {
			env: env ?? { PATH: process.env.PATH ?? PATH, HOME: process.env.HOME, LC_ALL: "C" },
			stdio: onlyThese(input === undefined ? "ignore" : "pipe", "pipe", "pipe"),
			detached: true, // so that its children can be killed too
			...(cwd === undefined ? {} : { cwd }),
		});
		const pieces: Buffer[] = [];
		let size = 0;
		let cut = false;
		let said = "";
		const end = () => {
			try {
				process.kill(-(child.pid as number), "SIGKILL");
			} catch {
				// it has ended
			}
		};
		const interrupt = () => end();
		child.stdout?.on("data", (piece: Buffer) => {
			const room = limit - size;
			if (piece.length > room) {
				cut = true;
				pieces.push(piece.subarray(0, room));
				size = limit;
				end();
			} else {
				pieces.push(piece);
				size += piece.length;
			}
		});
		child.stderr?.setEncoding("utf8").on("data", (text: string) => {
			said = (said + text).slice(0, 4096);
		});
		if (signal?.aborted) end();
		signal?.addEventListener("abort", interrupt);
		child.stdin?.on("error", () => {}); // it may not read its input
		child.stdin?.end(input);
		child.on("error", (error) => {
			signal?.removeEventListener("abort", interrupt);
			reject(new HoldfastError("START_FAILED", `a shell could not be started: ${error.message}`, { cause: error }));
		});
		child.on("close", (code, killed) => {
			signal?.removeEventListener("abort", interrupt);
			if (signal?.aborted) reject(new HoldfastError("ABORTED", "interrupted"));
			else {
				const output = Buffer.concat(pieces);
				const words = said === "" && killed !== null ? `it was ended by ${killed}` : said;
				resolve({ status: code ?? 128, output: output.length === 0 && code !== 0 ? Buffer.from(words) : output, cut, words });
			}
		});
	});
}

/** Returns a remote end that is a local shell, started for each request. */
export function commandEnd(shell: () => readonly string[], env?: NodeJS.ProcessEnv): RemoteEnd {
	const run: RemoteEnd["run"] = (script, options = {}) => runHere(shell(), script, [], { ...options, cwd: "/", ...(env ? { env } : {}) });
	const bytesOf = async (file: string, script: string, options: ScriptOptions): Promise<Buffer> => {
		const { status, output, words = "" } = await run(`set -- ${shellQuote(file)}; ${script}`, options);
		if (status !== 0) throw problem(codeIn(words), words, file);
		return output;
	};
	let written: Promise<unknown> = Promise.resolve();
	return {
		run,
		read: (file, offset, max) => {
			const whole = offset % BLOCK === 0; // busybox tail would read everything before the offset
			const from = whole ? `dd bs=${BLOCK} skip=${offset / BLOCK} count=${Math.ceil(max / BLOCK)} if="$1" 2>/dev/null` : `tail -c +${offset + 1} <"$1"`;
			return bytesOf(file, `[ -f "$1" ] && [ -r "$1" ] || exit; ${from} | head -c ${max}`, { limit: max });
		},
		// Appends each piece to the previous one, so the file holds exactly what was written.
		write: async (file, offset, bytes) => {
			const one = written.then(() => bytesOf(file, `n=$(wc -c <"$1") && [ "$n" -eq ${offset} ] && cat >>"$1"`, { input: bytes }));
			written = one.catch(() => {});
			await one;
		},
	};
}
