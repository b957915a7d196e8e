/** Programs that draw on a terminal or ask at one, in a command that has none. */
import { lex, type Simple } from "./lex.js";
import { type Program, programOf } from "./words.js";

const DRAWING = new Set([
	"vim",
	"vi",
	"nvim",
	"view",
	"vimdiff",
	"nano",
	"pico",
	"emacs",
	"top",
	"htop",
	"btop",
	"mc",
	"tmux",
	"screen",
	"fzf",
	"tig",
	"lazygit",
]);
/** Of those, the ones that do not end by themselves without a terminal. */
const STAYING = new Set(["vim", "vi", "nvim", "view", "vimdiff"]);
const BATCH = /^(?:-[a-zA-Z]*[bceEsVh]|\+.*|--(?:batch|version|help|headless|cmd|filter).*)$/;

/** They read their standard input when they are given nothing else. */
const ASKING = /^(?:python[\d.]*|ipython|node|deno|irb|ghci|lua|R|bc|psql|mysql|sqlite3|redis-cli|mongosh|ba?sh|dash|zsh)$/;
const TAKES_DATABASE = /^(?:psql|mysql|sqlite3|redis-cli|mongosh)$/;
const GIVEN = /^(?:-[a-zA-Z]*[cemfp]\b.*|--(?:eval|print|execute|command|file|version|help)\b.*|-V|-h)$/;

/** A program in it draws on a terminal, and would go on without one until it is killed. */
export const staysWithoutTerminal = (command: string): boolean =>
	/vi(?:m|ew)?\b|vimdiff/.test(command) && lex(command).some((_, at, all) => STAYING.has(drawingAt(all, at) ?? ""));

export function noTerminalHint(
	command: string,
	commands: readonly Simple[],
	{ exitCode, output }: { exitCode: number | null; output: string },
): string | undefined {
	const drawing = commands.map((_, at) => drawingAt(commands, at)).find((name) => name !== undefined);
	if (drawing !== undefined && (exitCode === null || exitCode !== 0 || STAYING.has(drawing)))
		return `\`${drawing}\` draws on a terminal, and this command had none: ${exitCode === null ? "kill it, and start it again" : "start it"} with pty=true.`;
	if (command.includes("<") || commands.slice(0, -1).some(({ end }) => end === "|")) return undefined; // they may have been given their input
	const programs = commands.map(programOf).filter((program) => program !== undefined);
	const asking = exitCode === 0 && output.trim() === "" ? programs.find(asks) : undefined;
	if (asking) return `\`${asking.name}\` read its input, which was empty: for a session with it use pty=true, or give it what to run in the command.`;
	if (programs.some(({ name, args }) => name === "read" && !args.some((arg) => arg.startsWith("-u"))))
		return "`read` got the end of its input, since this command had none: use pty=true to be asked, or put the answer into the command.";
	return undefined;
}

function drawingAt(commands: readonly Simple[], at: number): string | undefined {
	const each = commands[at] as Simple;
	const program = programOf(each);
	if (!program || !DRAWING.has(program.name) || each.end === "|" || commands[at - 1]?.end === "|") return undefined;
	return program.args.some((arg) => BATCH.test(arg)) ? undefined : program.name;
}

const asks = ({ name, args }: Program): boolean =>
	ASKING.test(name) && !args.some((arg) => GIVEN.test(arg)) && (TAKES_DATABASE.test(name) || args.every((arg) => arg.startsWith("-")));
