/** Completions of a command line that is being typed: one answer for bash, zsh and fish. */
import { idPrefix } from "../../base/index.js";
import { standing } from "../../process/index.js";
import { type CliCall, COMMON, type Command, commonFor, type OptionSpecs } from "./command.js";
import { commandNamed, GROUPS } from "./commands/index.js";
import { handleOf } from "./look.js";
import { oneLine } from "./output.js";

export interface Candidate {
	readonly value: string;
	readonly help: string;
}

/** `words`: those behind `holdfast`, the last being the one that is typed. Nothing: a file, or something that only the person knows. */
export async function candidates(call: Pick<CliCall, "runtime">, words: readonly string[]): Promise<readonly Candidate[]> {
	const typed = words.at(-1) ?? "";
	const found = await possible(call, words.slice(0, -1), typed);
	return found.filter(({ value }) => value.startsWith(typed));
}

async function possible(call: Pick<CliCall, "runtime">, before: readonly string[], typed: string): Promise<readonly Candidate[]> {
	const [name, ...rest] = before;
	if (name === undefined) return [...COMMANDS, { value: "help", help: "list the commands, or explain one" }, { value: "--version", help: "print the version" }];
	if (name === "help" || name === "man") return rest.length === 0 ? COMMANDS : [];
	if (rest.includes("--") || !COMMANDS.some(({ value }) => value === name)) return [];
	const command = await commandNamed(name);
	const options: OptionSpecs = { ...command.options, ...COMMON };
	const pending = awaitingValue(options, rest.at(-1));
	if (pending !== undefined) return valuesOf(call, command, pending);
	if (typed.startsWith("-"))
		return Object.entries({ ...command.options, ...commonFor(name) })
			.filter(([, { hidden }]) => !hidden)
			.map(([option, { help }]) => ({ value: `--${option}`, help }));
	const positionals = rest.filter((word, index) => !word.startsWith("-") && awaitingValue(options, rest[index - 1]) === undefined);
	return wordsOf(call, command, positionals);
}

const COMMANDS: readonly Candidate[] = Object.values(GROUPS).flatMap((group) =>
	Object.entries(group).map(([value, { summary }]) => ({ value, help: summary })),
);

/** The option that a word is, if the next word is its value. */
function awaitingValue(options: OptionSpecs, word: string | undefined): string | undefined {
	const entry = Object.entries(options).find(([name, { short }]) => word === `--${name}` || (short !== undefined && word === `-${short}`));
	return entry?.[1].type === "string" ? entry[0] : undefined;
}

/** Values of an option: tasks, and what its help lists as choices. */
async function valuesOf(call: Pick<CliCall, "runtime">, command: Command, option: string): Promise<Candidate[]> {
	if (option === "task") return tasks(call);
	const choices = command.options[option]?.choices ?? [];
	return choices.map((value) => ({ value, help: "" }));
}

async function wordsOf(call: Pick<CliCall, "runtime">, { words, usage }: Command, before: readonly string[]): Promise<Candidate[]> {
	if (words && before.length === 0) return words.map((value) => ({ value, help: "" }));
	const takesMany = /^\[?\w+…/.test(usage);
	const place = words ? before.length - 1 : takesMany ? 0 : before.length;
	if (place !== 0) return [];
	if (OF_PROCESSES.test(usage)) return processes(call);
	return /^\[?TASK\b/.test(usage) ? tasks(call) : [];
}

/** Ids of questions and sandboxes are others. */
const OF_PROCESSES = /^(?:ACTION |export )?\[?ID\b/;

/** Returns the running processes, and those that ended recently. */
async function processes({ runtime }: Pick<CliCall, "runtime">): Promise<Candidate[]> {
	const all = (await runtime()).list({ task: null });
	return all.flatMap((process) => {
		const { status, command } = standing(process);
		const help = oneLine(`${status}: ${command}`, 60);
		const handle = handleOf(process.spec);
		return idPrefix(handle) === undefined
			? [{ value: handle, help }]
			: [
					{ value: handle, help },
					{ value: process.id, help },
				];
	});
}

async function tasks({ runtime }: Pick<CliCall, "runtime">): Promise<Candidate[]> {
	const { knownTasks } = await import("../../transcript/index.js");
	return knownTasks(await runtime())
		.filter((name) => /^[\w.:@/-]+$/.test(name))
		.map((value) => ({ value, help: "task" }));
}
