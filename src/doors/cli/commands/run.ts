import { HoldfastError, ownEnvironment, type ProcessLimitsGiven, utf8 } from "../../../base/index.js";
import {
	checkName,
	describeEnd,
	isOver,
	limitNote,
	missingAtBoot,
	type Process,
	RESTARTS,
	type Runtime,
	type SpawnOptions,
	type Status,
	summary,
} from "../../../process/index.js";
import { type CliCall, type CommandBody, EXIT } from "../command.js";
import { tellOfReach } from "../look.js";
import { secondsOption, sizeOption } from "../quantity.js";
import { feed, session } from "../session.js";
import { writeOut } from "../stream.js";
import { terminalSize } from "../terminal-size.js";

const CAPTURED = 64 * 1024 * 1024;
const LOOK_MS = 150;
const ON_TIMEOUT = ["background", "kill"] as const;
const LOG_FULL = ["ring", "block"] as const;

export const run: CommandBody = {
	name: "run",
	usage: "[--background] [--pty | --no-pty] [--name NAME] [--cwd DIR] [--timeout TIME] -- COMMAND",
	options: {
		background: { type: "boolean", short: "b", help: "return at once with its id; its stdin stays open" },
		pty: { type: "boolean", short: "t", help: "run it on a terminal of its own (default in the foreground of a terminal, which is attached to it)" },
		"no-pty": { type: "boolean", help: "run it without a terminal, also when there is one here" },
		name: { type: "string", value: "NAME", help: "a name for it, which every command takes in place of the id" },
		restart: { type: "string", value: "WHEN", choices: RESTARTS, help: "start it again when it ends: always, or on-failure (--background, --name)" },
		cwd: { type: "string", value: "DIR", help: "where to run it (default: this directory; remote: the place's)" },
		env: {
			type: "string",
			value: "NAMES",
			help: "set a variable (A=1), or pass some on although they look like secrets (A,B); may be repeated",
			multiple: true,
		},
		timeout: { type: "string", value: "TIME", help: "how long to stay with it: 30, 30s, 5m; then it goes on in the background" },
		"on-timeout": { type: "string", value: "WHAT", choices: ON_TIMEOUT, help: "background (default) or kill" },
		"log-limit": { type: "string", value: "SIZE", help: "how much output to keep: 1M, 2G (default 64M, at least 64K)" },
		memory: { type: "string", value: "SIZE", help: "memory limit for it and its children: 512M" },
		cpu: { type: "string", value: "SHARE", help: "this much of a core: 50%, 200%" },
		"cpu-time": { type: "string", value: "TIME", help: "each of its programs may compute for so long: 10m" },
		pids: { type: "string", value: "COUNT", help: "limit on processes and threads" },
		time: { type: "string", value: "TIME", help: "it is killed after this: 30s, 10m, 2h" },
		output: { type: "string", value: "SIZE", help: "it is killed when it has printed this much" },
		"output-rate": { type: "string", value: "RATE", help: "it may print so fast, and waits when it is faster: 10M/s" },
		"file-size": { type: "string", value: "SIZE", help: "no file that it writes may be larger" },
		"log-full": { type: "string", value: "WHAT", choices: LOG_FULL, help: "ring (default): the oldest output goes; block: the writer waits" },
	},
	runs: true,
	starts: true,
	teach: `
One argument is shell text for bash; several are a program and its arguments, run as they are.
In the foreground of your terminal it gets a terminal of its own, and yours is attached to it: Ctrl-] leaves it, and it goes on.
Otherwise (in a pipe, with --background, --json or --no-pty) it has none, unless --pty says so: a program that asks something, or draws on
the screen, wants one. Without one Ctrl-C is passed on to the command, and a second one kills it and everything it started.
--time ends the command; --timeout only ends the waiting for it. Limits that cannot be kept on this machine are refused (\`holdfast doctor\`).
--restart starts it again with the same id and log, on this machine, 1 s after it has ended; one that ends within 10 s of its start waits
longer each time and is given up after 5 restarts in a row. \`holdfast ps\` counts the restarts; \`holdfast kill\` ends it and the restarting, and so does the signal TERM.
At boot the service of \`holdfast serve --install\` starts those again that ran when the machine went down, each with its command, directory and environment
(without secrets).
Whatever happens to this program, the command goes on: \`holdfast ps\`, \`holdfast logs\`, \`holdfast attach\`.

Exit code: the command's own (128+n after signal n); 124 when --timeout was reached, 125 when nothing could be started.

Examples
  holdfast run -- 'npm test 2>&1 | tail -50'
  holdfast run --background --name web -- npm run dev
  holdfast run --background --name worker --restart on-failure -- ./worker
  holdfast run --background --pty -- vim notes.txt
  holdfast run --memory 512M --time 10m -- npm test`,
	async run(call) {
		const { values, words, out } = call;
		const [first, ...more] = words;
		if (first === undefined) throw new HoldfastError("INVALID", "give a command after --, as in: holdfast run -- 'make test'");
		const seconds = secondsOption(call, "timeout");
		const onTimeout = oneOf(call, "on-timeout", ON_TIMEOUT) ?? "background";
		if (values.background && seconds !== undefined)
			throw new HoldfastError("INVALID", "--timeout says how long to stay with a foreground command; with --background use `holdfast wait --timeout`");
		const restart = oneOf(call, "restart", RESTARTS);
		if (restart && (!values.background || values.name === undefined))
			throw new HoldfastError("INVALID", "--restart is for a process in the background that has a name: give --background and --name NAME, too");
		const limit = sizeOption(call, "log-limit");
		const full = oneOf(call, "log-full", LOG_FULL);
		if (values.pty && values["no-pty"]) throw new HoldfastError("INVALID", "give --pty or --no-pty, not both");
		// A person at a terminal gets what the command itself would do there.
		const person = !values.background && !values["no-pty"] && !out.json && process.stdin.isTTY && process.stdout.isTTY;
		const options: SpawnOptions = {
			command: more.length === 0 ? first : [...words],
			...(typeof values.cwd === "string" ? { cwd: values.cwd } : {}),
			...(typeof values.name === "string" ? { name: values.name } : {}),
			...(restart ? { restart } : {}),
			...(values.pty || person ? { terminal: process.stdout.isTTY ? terminalSize() : true } : {}),
			...(Array.isArray(values.env) ? { env: variables(values.env) } : {}),
			log: { ...(limit === undefined ? {} : { limit }), ...(full === undefined ? {} : { full }) },
			limits: limitsFrom(call),
		};
		const runtime = await call.runtime();
		if (options.name !== undefined) checkName(runtime, options.name);
		// Ctrl-C during the start is for the command too.
		let early = false;
		const remember = () => {
			early = true;
		};
		process.on("SIGINT", remember);
		const started = await runtime
			.spawn(options)
			.catch((error: unknown) => (person && !values.pty ? withoutTerminal(call, runtime, options, error) : Promise.reject(error)))
			.catch(inOurWords)
			.finally(() => process.off("SIGINT", remember));
		out.tell();
		if (early) await started.signal("SIGINT");
		const missing = restart ? missingAtBoot(runtime.home, started.id) : [];
		if (missing.length > 0)
			out.remark(
				`secrets are not written down: at boot it is started without ${missing.join(", ")}, unless the service has ${missing.length === 1 ? "it" : "them"} (docs/remote.md)`,
			);
		if (values.background) {
			if (out.json) out.data(summary(started));
			else out.line(started.id);
			if (process.stderr.isTTY) await sayIfOver(call, started);
			return EXIT.ok;
		}
		return foreground(call, started, seconds, onTimeout);
	},
};

/** Runs the command without a terminal on a machine that can make none, since none was asked for. */
function withoutTerminal({ out }: CliCall, runtime: Runtime, { terminal: _, ...options }: SpawnOptions, error: unknown): Promise<Process> {
	if (!(error instanceof HoldfastError) || error.code !== "NO_TERMINAL") throw error;
	out.remark(`it runs without a terminal: ${error.message}`);
	return runtime.spawn(options);
}

/** Tells a person of a command that has ended already, for instance because its program is missing. A script that starts many does not wait for that. */
async function sayIfOver({ out }: CliCall, started: Process): Promise<void> {
	const { status } = await started.wait({ timeout: LOOK_MS });
	if (!isOver(status)) return;
	const { first, end } = started.log.bounds();
	const printed = started.secrets.redact(utf8(started.read(Math.max(first, end - 1000), 1000).bytes)).trim();
	out.note(`it has ended already: ${describeEnd(status)}${printed === "" ? "" : `\n${printed}`}`);
}

async function foreground(call: CliCall, started: Process, seconds: number | undefined, onTimeout: "background" | "kill"): Promise<number> {
	const over = new AbortController();
	const timer = seconds === undefined ? undefined : setTimeout(() => over.abort("timeout"), Math.min(seconds * 1000, 2 ** 31 - 1));
	const onSignals = passSignals(call, started);
	const unseen = () => {
		if (!isOver(started.status())) call.out.note(`holdfast: nothing reads its output any more; ${started.id} goes on, \`holdfast kill\` ends it`);
	};
	process.stdout.prependListener("error", unseen); // main ends us then: `holdfast run -- yes | head`
	const interactive = started.spec.terminal && process.stdin.isTTY && process.stdout.isTTY;
	try {
		if (interactive) {
			if ((await session(started, { signal: over.signal, from: 0, out: call.out })) === "detached") return EXIT.ok;
		} else {
			const stopFeeding = feed(started, call.out.remark.bind(call.out));
			const untell = tellOfReach(call, started);
			try {
				const parts: Buffer[] = [];
				for await (const slice of started.follow({ signal: over.signal })) {
					if (call.out.json) parts.push(slice.bytes);
					else await writeOut(slice.bytes);
				}
				if (call.out.json && !over.signal.aborted) call.out.data({ ...summary(started), output: started.secrets.redact(utf8(Buffer.concat(parts))) });
			} finally {
				stopFeeding();
				untell();
			}
		}
	} finally {
		clearTimeout(timer);
		onSignals();
		process.stdout.off("error", unseen);
	}
	const status = started.status();
	if (!isOver(status)) return timedOut(call, started, seconds as number, onTimeout);
	return exitCode(status, call);
}

async function timedOut(call: CliCall, started: Process, seconds: number, onTimeout: "background" | "kill"): Promise<number> {
	if (onTimeout === "kill") await started.kill();
	const what = onTimeout === "kill" ? "it was killed" : `it goes on in the background as ${started.id}`;
	if (call.out.json)
		call.out.data({
			...summary(started),
			output: started.secrets.redact(utf8(started.read(0, CAPTURED).bytes), { cut: true }),
			timed_out: true,
			note: `not finished after ${seconds} s; ${what}`,
		});
	else call.out.note(`holdfast: not finished after ${seconds} s; ${what}`);
	return EXIT.timeout;
}

const LIMITS = ["memory", "cpu", "cpu-time", "pids", "time", "output", "output-rate", "file-size"] as const;

/** Returns the limits as they are written: `spawn` parses them, and refuses what it cannot read (`inOurWords`). */
function limitsFrom({ values }: CliCall): ProcessLimitsGiven {
	return Object.fromEntries(LIMITS.filter((name) => values[name] !== undefined).map((name) => [name.replace("-", "_"), values[name]]));
}

/** An error about a limit names the option, not the field of the library. */
function inOurWords(error: unknown): never {
	if (!(error instanceof HoldfastError) || error.code !== "INVALID") throw error;
	const message = error.message.replace(/^spawn: limits\.(\w+)/, (_, name: string) => `--${name.replace("_", "-")}`);
	throw new HoldfastError("INVALID", message, { cause: error });
}

function exitCode(status: Extract<Status, { status: "exited" | "killed" | "lost" | "error" }>, call: CliCall): number {
	if (status.status === "lost" || status.status === "error") {
		call.out.note(`holdfast: ${status.reason}`);
		return EXIT.notStarted;
	}
	if (status.limit && !call.out.json) call.out.note(`holdfast: ${limitNote(status.limit)}`);
	return status.exitCode;
}

/** Most commands have ended by then. */
const INTERRUPT_MS = 1_000;

/** Ctrl-C goes to the command, the second kills its tree, and a third one, or one that cannot reach it, ends us; a hang-up or TERM only ends us. */
function passSignals(call: CliCall, started: Process): () => void {
	let interrupts = 0;
	let patience: NodeJS.Timeout | undefined;
	const unreached = (error: unknown) => {
		if (error instanceof HoldfastError && error.code === "UNREACHABLE") leave(` (nothing could be sent to it: ${error.message})`);
		// else it has just ended: the end is on its way to us
	};
	const interrupt = () => {
		interrupts++;
		if (started.unreachable !== undefined) leave(`; nothing could be sent to it, ${started.spec.place} cannot be reached`);
		else if (interrupts === 1) {
			started.signal("SIGINT").catch(unreached);
			patience = setTimeout(() => call.out.note("holdfast: it goes on; Ctrl-C again kills it and everything it started"), INTERRUPT_MS).unref();
		} else if (interrupts === 2) {
			clearTimeout(patience);
			call.out.note("holdfast: killing it and everything it started");
			started.kill().catch(unreached);
		} else leave();
	};
	const leave = (why = "") => {
		call.out.note(`holdfast: leaving; ${started.id} goes on${why}`);
		process.exit(EXIT.failed);
	};
	process.on("SIGINT", interrupt);
	const goodbye = () => leave();
	process.on("SIGTERM", goodbye);
	process.on("SIGHUP", goodbye);
	return () => {
		clearTimeout(patience);
		process.off("SIGINT", interrupt);
		process.off("SIGTERM", goodbye);
		process.off("SIGHUP", goodbye);
	};
}

/** `A=1` sets a variable; `A,B` passes on what this program has. */
function variables(given: readonly string[]): Record<string, string> {
	return Object.fromEntries(given.flatMap((text) => (text.includes("=") ? [assigned(text)] : text.split(",").filter(Boolean).map(inherited))));
}

function assigned(text: string): [string, string] {
	const at = text.indexOf("=");
	const name = text.slice(0, at);
	if (!/^[A-Za-z_]\w*$/.test(name)) throw new HoldfastError("INVALID", `--env ${text}: "${name}" is no name for a variable`);
	return [name, text.slice(at + 1)];
}

function inherited(name: string): [string, string] {
	const value = ownEnvironment()[name];
	if (value === undefined) throw new HoldfastError("INVALID", `--env ${name}: there is no such variable here; to set one, give --env ${name}=VALUE`);
	return [name, value];
}

function oneOf<T extends string>(call: CliCall, name: string, choices: readonly T[]): T | undefined {
	const value = call.values[name];
	if (value === undefined) return undefined;
	if (!choices.includes(value as T)) throw new HoldfastError("INVALID", `--${name} takes ${choices.join(" or ")}, not "${String(value)}"`);
	return value as T;
}
