/** `!COMMAND`: the person's own command, in the shell that the agent uses. The rules and approvals of Holdfast apply. */
import { renderResult, type Task, type TerminalResult } from "holdfast";
import { parsePlace } from "../turn/index.js";

export interface OwnCommand {
	readonly command: string;
	/** `!!`: the model is told too. */
	readonly tell: boolean;
}

/** Undefined if the line is no command. */
export function ownCommand(line: string): OwnCommand | undefined {
	const [, marks, command] = /^(!{1,2})\s*(\S.*)$/s.exec(line) ?? [];
	return command === undefined ? undefined : { command, tell: marks === "!!" };
}

export interface RanCommand {
	readonly output: string;
	/** How it ended, and what is to be known about it: in the words for a model, and for the person. */
	readonly how: string;
	readonly told: string;
	readonly directory: string | undefined;
}

export async function runOwn(task: Task, place: string, { command }: OwnCommand, signal: AbortSignal): Promise<RanCommand> {
	const result = await task.terminal({ command }, { signal, place: parsePlace(place), door: "agent chat" });
	const fine = result.status === "exited" && result.exit_code === 0;
	return {
		output: result.output,
		how: fine ? "" : renderResult({ ...result, output: "" }),
		told: fine ? "" : toldOf(result),
		directory: result.cwd,
	};
}

/** Notes for a model name calls of tools, which a person cannot make. */
function toldOf(result: TerminalResult): string {
	const notes = result.note?.split("\n") ?? [];
	const id = result.session_id;
	const lines = [renderResult({ ...result, output: "", note: notes.filter((note) => !/process\(|pty=true/.test(note)).join("\n") || undefined })];
	if (id !== undefined && notes.some((note) => note.includes("process(")))
		lines.push(`It goes on in the background; \`holdfast logs ${id}\` shows what it prints, \`holdfast kill ${id}\` ends it.`);
	if (notes.some((note) => note.includes("pty=true"))) lines.push("Commands here have no terminal: run what draws on one, or asks, in a window of its own.");
	return lines.join("\n");
}

/** Tells the model of a person's own command. */
export const tellText = ({ command }: OwnCommand, { output, how }: RanCommand): string =>
	`I ran this command in your shell:\n\n    ${command.replaceAll("\n", "\n    ")}\n\n${[how, output.trimEnd()].filter(Boolean).join("\n") || "(no output)"}`;
