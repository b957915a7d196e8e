import { HoldfastError } from "../../../base/index.js";
import { redactScreen } from "../../../base/secrets/index.js";
import { isOver, mustBeFree } from "../../../process/index.js";
import { type CliCall, type CommandBody, EXIT, oneWord } from "../command.js";
import { processOf } from "../look.js";

export const screen: CommandBody = {
	name: "screen",
	usage: "ID",
	options: {},
	teach: `
The text as a person at the terminal would see it, worked out from the log. With --json: {session_id, screen, cursor: {row, col},
alt_screen, cols, rows, waiting_for, waiting_evidence}; waiting_for is line, password (echo is off), keys, idle, or null.

Example
  holdfast screen 3f2a`,
	async run(call) {
		await show(call, oneWord(call, "the id of one process"));
		return EXIT.ok;
	},
};

export const keys: CommandBody = {
	name: "keys",
	usage: "ID KEYS",
	options: {},
	teach: `
Text is typed as it is. Keys: <ENTER> <ESC> <TAB> <SHIFT+TAB> <BACKSPACE> <DELETE> <UP> <DOWN> <LEFT> <RIGHT> <HOME> <END>
<PAGEUP> <PAGEDOWN> <INSERT> <F1>…<F12> <CTRL+C> <ALT+x>; << types a <. An unknown key is refused, and nothing is typed.
The screen is shown when the program waits for input again, has ended, or after 5 seconds.

Example
  holdfast keys 3f2a '<ESC>:wq<ENTER>'`,
	async run(call) {
		const [id, text, ...more] = call.words;
		if (id === undefined || text === undefined || more.length > 0) throw new HoldfastError("INVALID", "give the id of a process and the keys, in quotes");
		const { encodeKeys, readScreen, untilWaiting } = await import("../../../screen/index.js");
		const process = await processOf(call, id);
		mustBeFree(process);
		if (!process.spec.terminal) throw new HoldfastError("NO_TERMINAL", `${process.id} has no terminal; \`holdfast submit\` writes a line to it`);
		const { modes } = await readScreen(process);
		await process.write(encodeKeys(text, modes));
		await untilWaiting(process, { timeout: 5_000 });
		await show(call, id);
		return EXIT.ok;
	},
};

async function show(call: CliCall, id: string): Promise<void> {
	const { readScreen, waitingFor } = await import("../../../screen/index.js");
	const process = await processOf(call, id);
	if (!process.spec.terminal) throw new HoldfastError("NO_TERMINAL", `${process.id} has no terminal; \`holdfast logs\` shows its output`);
	const seen = await readScreen(process);
	const view = { ...seen, screen: redactScreen(process.secrets, seen.screen, seen.cols) };
	const waiting = isOver(process.status()) ? { waiting: false as const } : await waitingFor(process).catch(unknown);
	const found = waiting.waiting
		? { waiting_for: waiting.waiting_for, waiting_evidence: waiting.waiting_evidence }
		: { waiting_for: null, waiting_evidence: null };
	if (call.out.json) {
		const { screen, cursor, alt_screen, cols, rows } = view;
		call.out.data({ session_id: process.id, screen, cursor, alt_screen, cols, rows, ...found });
		return;
	}
	call.out.line(view.screen);
	if (found.waiting_for)
		call.out.note(`(waits for ${found.waiting_for === "line" ? "a line" : found.waiting_for === "password" ? "a password" : found.waiting_for})`);
}

/** The machine cannot be asked; a remark has said so. */
function unknown(error: unknown): { waiting: false } {
	if (error instanceof HoldfastError && error.code === "UNREACHABLE") return { waiting: false };
	throw error;
}
