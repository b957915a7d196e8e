/** Detects programs that draw on a terminal or prompt on one, in a command without a terminal. */
import { lex, type Simple } from "./lex.js";
import { type ProgramCall, programOf } from "./words.js";

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
/** Drawing programs that do not exit without a terminal. */
const STAYING = new Set(["vim", "vi", "nvim", "view", "vimdiff"]);
const BATCH = /^(?:-[a-zA-Z]*[bceEsVh]|\+.*|--(?:batch|version|help|headless|cmd|filter).*)$/;

/** Programs that read their standard input by default. */
const ASKING = /^(?:python[\d.]*|ipython|node|deno|irb|ghci|lua|R|bc|psql|mysql|sqlite3|redis-cli|mongosh|ba?sh|dash|zsh)$/;
const TAKES_DATABASE = /^(?:psql|mysql|sqlite3|redis-cli|mongosh)$/;
const GIVEN = /^(?:-[a-zA-Z]*[cemfp]\b.*|--(?:eval|print|execute|command|file|version|help)\b.*|-V|-h)$/;

/** Returns true if a program in the command draws on a terminal, and would run without one until it is killed. */
export const staysWithoutTerminal = (command: string): boolean =>
	/vi(?:m|ew)?\b|vimdiff/.test(command) && lex(command).some((_, at, all) => STAYING.has(drawingAt(all, at) ?? ""));

/**
 * Returns true if the first output shows that a program draws, for instance an editor opened by another program. Vim prints a warning; others switch
 * to the alternate screen.
 */
export const isDrawing = (printed: string): boolean => /^Vim: Warning: (?:Out|In)put is not /m.test(printed) || printed.includes("\x1b[?1049h");

export function noTerminalHint(
	command: string,
	commands: readonly Simple[],
	{ exitCode, output, draws }: { exitCode: number | null; output: string; draws: boolean },
): string | undefined {
	if (exitCode === NOT_FOUND) return undefined;
	const drawing = commands.map((_, at) => drawingAt(commands, at)).find((name) => name !== undefined);
	const again = exitCode === null ? "kill it, and start it again" : "start it";
	if (drawing !== undefined && (exitCode === null || exitCode !== 0 || STAYING.has(drawing)))
		return `\`${drawing}\` draws on a terminal, and this command had none: ${again} with pty=true.`;
	if (draws && exitCode === null)
		return `It draws on a terminal, as an editor does that another program opens, and this command had none: ${again} with pty=true, or so that it opens none (git commit -m).`;
	if (command.includes("<") || commands.slice(0, -1).some(({ end }) => end === "|")) return undefined; // the input may have been given
	const programs = commands.map(programOf).filter((program) => program !== undefined);
	const asking = exitCode === 0 && output.trim() === "" ? programs.find(asks) : undefined;
	if (asking) return `\`${asking.name}\` read its input, which was empty: for a session with it use pty=true, or give it what to run in the command.`;
	if (programs.some(({ name, args }) => name === "read" && !args.some((arg) => arg.startsWith("-u"))))
		return "`read` got the end of its input, since this command had none: use pty=true to be asked, or put the answer into the command.";
	const asked = exitCode === null ? undefined : PROMPT.exec(output.slice(-LONGEST_PROMPT))?.[0].trim();
	if (asked) return `It asked something (${asked}), and the input of this command was empty: use pty=true to answer, or a flag such as -y.`;
	return undefined;
}

/** A prompt at the end of the output: an unfinished last line, or one followed only by "Abort.". */
const PROMPT = /[^\n]*(?:[:?>\])] |\[[yY]\/[nN]\] ?(?:Abort\.\n)?|\([yY]\/[nN]\) ?)$/;
const LONGEST_PROMPT = 200;
const NOT_FOUND = 127;

function drawingAt(commands: readonly Simple[], at: number): string | undefined {
	const each = commands[at] as Simple;
	const program = programOf(each);
	if (!program || !DRAWING.has(program.name) || each.end === "|" || commands[at - 1]?.end === "|") return undefined;
	return program.args.some((arg) => BATCH.test(arg)) ? undefined : program.name;
}

const asks = ({ name, args }: ProgramCall): boolean =>
	ASKING.test(name) && !args.some((arg) => GIVEN.test(arg)) && (TAKES_DATABASE.test(name) || args.every((arg) => arg.startsWith("-")));
