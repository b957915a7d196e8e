#!/usr/bin/env node
/** `holdfast-agent …`: finds the command, runs it, and turns what went wrong into a sentence and an exit code. */
import { parseArgs } from "node:util";
import { isEndedUnread, Output } from "./output.js";
import { type Call, COMMANDS, type Command, commandNamed, parseOptions } from "./table.js";

const OK = 0;
const FAILED = 1;
const USAGE = 2;

class UsageError extends Error {
	readonly code = "INVALID";
}

async function main(argv: readonly string[]): Promise<number> {
	const { command, name, rest } = chosen(argv);
	const json = rest.includes("--json") && command?.options.json?.type === "boolean";
	const out = new Output({ json });
	try {
		if (name === "help" || (command === undefined && rest.some((word) => word === "--help" || word === "-h"))) {
			const { commandHelp, overview } = await import("./help.js");
			const topic = rest.find((word) => !word.startsWith("-"));
			out.line(topic === undefined ? overview(out) : commandHelp(await known(topic), out));
			return OK;
		}
		if (name === "version") {
			out.line(await version());
			return OK;
		}
		const found = command ?? (await known(name));
		const { values, words } = parsed(found, rest);
		if (values.help) {
			out.line((await import("./help.js")).commandHelp(found, out));
			return OK;
		}
		return await (await found.load()).run({ values, words, out });
	} catch (error) {
		out.error((error as { syscall?: unknown }).syscall === "uv_cwd" ? new Error("the directory that this was started in is gone; cd to another one") : error);
		if (process.env.HOLDFAST_AGENT_DEBUG && error instanceof Error) process.stderr.write(`${error.stack}\n`);
		return exitCodeOf(error);
	}
}

/** Without a command it is the chat; with -q or -f one message. */
function chosen(argv: readonly string[]): { command: Command | undefined; name: string; rest: readonly string[] } {
	const [first] = argv;
	if (first === "--help" || first === "-h" || first === "help") return { command: undefined, name: "help", rest: argv.slice(1) };
	if (first === "--version" || first === "-V" || first === "version") return { command: undefined, name: "version", rest: argv.slice(1) };
	if (first !== undefined && !first.startsWith("-")) return { command: commandNamed(first), name: first, rest: argv.slice(1) };
	const name = argv.some((word) => /^-[qf]/.test(word)) ? "once" : "chat";
	return { command: commandNamed(name), name, rest: argv };
}

async function known(name: string): Promise<Command> {
	const command = commandNamed(name);
	if (command) return command;
	const { nearNames } = await import("../base/index.js");
	const names = [...COMMANDS.map((one) => one.name), "help", "version"];
	const near = nearNames(name, names);
	if (/\s/.test(name)) throw new UsageError("a message goes behind -q: holdfast-agent -q TEXT; see `holdfast-agent help`");
	throw new UsageError(`there is no command "${name}"; ${near.length > 0 ? `did you mean ${near.join(" or ")}?` : "`holdfast-agent help` lists them"}`);
}

function parsed(command: Command, argv: readonly string[]): Pick<Call, "values" | "words"> {
	const help = `see \`holdfast-agent help ${command.name}\``;
	try {
		const { values, positionals } = parseArgs({ args: [...argv], options: parseOptions(command), allowPositionals: true, strict: true });
		const extra = positionals.slice(command.words.most);
		if (extra.length > 0 && !values.help)
			throw new UsageError(`"${extra.join(" ")}" is not expected${command.words.what ? `, only ${command.words.what}` : ""}`);
		return { values: values as Call["values"], words: positionals };
	} catch (error) {
		throw new UsageError(`${explained((error as Error).message)}; ${help}`, { cause: error });
	}
}

/** Node's words, in one clause. */
function explained(message: string): string {
	const ambiguous = /Option '([^']+)' argument is ambiguous/.exec(message)?.[1];
	if (ambiguous) return `a value that begins with a dash is written as ${/--[\w-]+/.exec(ambiguous)?.[0] ?? "--OPTION"}=VALUE, or right behind a short option`;
	return (message.split("\n")[0] as string)
		.replace(/\. To specify a positional.*/, "")
		.replace(/^Unknown option '([^']+)'/, "there is no option $1")
		.replace(/^Option '(?:-\w, )?(--?\S+) <value>' argument missing/, "$1 takes a value")
		.replace(/^Option '(?:-\w, )?(--[^']+)' does not take an argument/, "$1 takes no value");
}

function exitCodeOf(error: unknown): number {
	const code = (error as { readonly code?: unknown }).code;
	if (code === "INVALID" || code === "CONFIG" || (error as Error).name === "ToolsetError") return USAGE;
	return code === "ABORTED" ? 130 : FAILED;
}

async function version(): Promise<string> {
	const { readFileSync } = await import("node:fs");
	const own = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
	return `holdfast-agent ${own.version}`;
}

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
	if (isEndedUnread()) return;
	// `holdfast-agent sessions | head` has what it wants; an answer that nobody reads was not given.
	if (error.code === "EPIPE" && chosen(process.argv.slice(2)).name !== "once") process.exit(OK);
	process.stderr.write(`holdfast-agent: cannot write to stdout: ${error.message}\n`);
	process.exit(FAILED);
});

process.stderr.on("error", () => {}); // there is nobody left to tell

process.exitCode = await main(process.argv.slice(2));
