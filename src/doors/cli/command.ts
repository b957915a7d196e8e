/** The interface of a CLI command: its call, its action, and its help. */
import { type ParseArgsConfig, parseArgs } from "node:util";
import { HoldfastError } from "../../base/index.js";
import type { Runtime } from "../../process/index.js";
import type { AgentRuntime } from "../../tools/index.js";
import type { Output } from "./output.js";

export type OptionSpecs = Record<
	string,
	{ type: "string" | "boolean"; short?: string; help: string; value?: string; multiple?: true; hidden?: true; choices?: readonly string[] }
>;

/** A command with its line in the overview (`commands/index.ts`). */
export interface Command extends CommandBody {
	readonly summary: string;
}

export interface CommandBody {
	readonly name: string;
	/** After the name, in the usage line. */
	readonly usage: string;
	/** The possible first words, where there are only a few. */
	readonly words?: readonly string[];
	/** More to know, and examples, for `--help`. */
	readonly teach: string;
	readonly options: OptionSpecs;
	/** The command's words are a program with options of its own, so none of ours may come behind the first. */
	readonly runs?: true;
	/** The command starts processes, so it may make a home; and what the place says about that is shown. */
	readonly starts?: true;
	/** Resolves with the exit code. */
	run(call: CliCall): Promise<number>;
}

export type Values = Readonly<Record<string, string | boolean | string[] | undefined>>;

export interface CliCall {
	readonly values: Values;
	readonly words: readonly string[];
	readonly out: Output;
	/** The runtime on the chosen home; opened when first asked for. */
	runtime(): Promise<Runtime>;
	/** The same with the tools of an agent. */
	agent(): Promise<AgentRuntime>;
}

export const COMMON: OptionSpecs = {
	json: { type: "boolean", help: "print JSON, stable and documented in docs/cli.md" },
	home: { type: "string", value: "DIR", help: "use this home instead of $HOLDFAST_HOME or ~/.local/state/holdfast" },
	task: { type: "string", value: "NAME", help: "whose processes: a conversation, an episode, a project (default: default)" },
	place: {
		type: "string",
		value: "PLACE",
		help: "where commands run: FORMS, or a name from config.json (docs/places.md)", // help.ts has the forms
	},
	help: { type: "boolean", short: "h", help: "show this help" },
};

const OF_ALL_TASKS = ["completion", "demo", "doctor", "man", "prune", "sandboxes", "tasks"];
const WITH_PLACE = ["cp", "doctor", "mcp", "patch", "policy", "read-file", "run", "search-files", "serve", "setup", "shell", "terminal", "write-file"];

/** Returns the common options that mean something to a command. It accepts the others too, so that a script can give every command the same ones. */
export function commonFor(command: string): OptionSpecs {
	const without: Record<string, boolean> = {
		json: ["attach", "demo", "shell"].includes(command),
		home: ["completion", "demo", "man"].includes(command),
		task: OF_ALL_TASKS.includes(command),
		place: !WITH_PLACE.includes(command),
	};
	return Object.fromEntries(Object.entries(COMMON).filter(([name]) => !without[name]));
}

export const EXIT = { ok: 0, failed: 1, usage: 2, notFound: 3, timeout: 124, notStarted: 125, interrupted: 130 } as const;

/** Parses the arguments up to `--`; the rest is left as it is. */
export function parseCall(command: Command, argv: readonly string[]): { values: Values; words: string[] } {
	const specs = { ...command.options, ...COMMON };
	const options: ParseArgsConfig["options"] = {};
	for (const [name, spec] of Object.entries(specs))
		options[name] = { type: spec.type, ...(spec.short ? { short: spec.short } : {}), ...(spec.multiple ? { multiple: true } : {}) };
	try {
		const { values, positionals, tokens } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true, tokens: true });
		const first = tokens.find(({ kind }) => kind === "positional")?.index ?? argv.length;
		const late = command.runs && tokens.find(({ kind, index }) => kind === "option" && index > first);
		if (late) throw new Error(`ambiguous option ${argv[late.index]}`);
		return { values: values as Values, words: positionals };
	} catch (error) {
		const whose = command.usage.includes("-- COMMAND") ? "; options of the command itself go behind --, ours before it" : "";
		throw new HoldfastError("INVALID", `${explain((error as Error).message)}${whose}; see \`holdfast ${command.name} --help\``, { cause: error });
	}
}

/** Node's words, in one line. */
function explain(message: string): string {
	const ambiguous = /Option '([^']+)' argument is ambiguous/
		.exec(message)?.[1]
		?.replace(/.*(--\S+).*/, "$1")
		.split(" ")[0];
	if (ambiguous) return `a value that begins with a dash has to be written as ${ambiguous}=VALUE`;
	return (message.split("\n")[0] as string)
		.replace(/\. To specify a positional.*/, "")
		.replace(/^Unknown option '([^']+)'/, "there is no option $1")
		.replace(/^Option '(?:-\w, )?(--\S+) <value>' argument missing/, "$1 takes a value")
		.replace(/^Option '(?:-\w, )?(--[^']+)' does not take an argument/, "$1 takes no value");
}

/** A whole number given as an option. */
export function numberOption(call: CliCall, name: string, limits: { min: number; max?: number }): number | undefined {
	const text = call.values[name];
	if (text === undefined) return undefined;
	const value = Number(text);
	if (typeof text !== "string" || text.trim() === "" || !Number.isInteger(value) || value < limits.min || value > (limits.max ?? Number.MAX_SAFE_INTEGER))
		throw new HoldfastError(
			"INVALID",
			`--${name} takes a whole number ${limits.max === undefined ? `of at least ${limits.min}` : `from ${limits.min} to ${limits.max}`}, not "${String(text)}"`,
		);
	return value;
}

/** Throws INVALID if words were given to a command that takes none. */
export function noWords(call: CliCall): void {
	if (call.words.length > 0) throw new HoldfastError("INVALID", `"${call.words.join(" ")}" is not expected here`);
}

export function oneWord(call: CliCall, what: string): string {
	const [word, ...more] = call.words;
	if (word === undefined) throw new HoldfastError("INVALID", `give ${what}; \`holdfast ps\` lists the processes there are`);
	if (more.length > 0) throw new HoldfastError("INVALID", `only ${what} is expected, not also "${more.join(" ")}"`);
	return word;
}
