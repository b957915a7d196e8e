/** The same once more: command, directory, place, task and terminal. The environment is that of what is started in the page. */
import type { ProcessDetail } from "../../../src/doors/http/schemas.js";
import { spawn } from "../api/calls.js";
import { takeWhenShown } from "../state/keyboards.js";
import { freeName } from "../state/processes.js";
import { go } from "../state/route.js";
import { say } from "../ui/toasts.js";

export async function runAgain(detail: ProcessDetail, name: string | undefined): Promise<void> {
	const { argv, full_command, cwd, place, task, pty, cols, rows } = detail;
	const { session_id, notes } = await spawn({
		command: argv ? argv.map(quoted).join(" ") : full_command,
		name: name && freeName(name),
		cwd,
		place,
		task,
		pty,
		...(cols !== null && rows !== null ? { cols, rows } : {}),
	});
	if (pty) takeWhenShown(session_id);
	go(["p", session_id]);
	for (const note of notes) say(note);
}

const quoted = (word: string): string => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
