/** `!COMMAND`: the person's own command, in the shell that the agent uses. The rules and approvals of Holdfast apply. */
import { renderResult, type Task } from "holdfast";
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
	/** How it ended, and what is to be known about it. */
	readonly how: string;
	readonly directory: string | undefined;
}

export async function runOwn(task: Task, place: string, { command }: OwnCommand, signal: AbortSignal): Promise<RanCommand> {
	const result = await task.terminal({ command }, { signal, place: parsePlace(place), door: "agent chat" });
	const rendered = renderResult({ ...result, output: "" });
	return { output: result.output, how: result.status === "exited" && result.exit_code === 0 ? "" : rendered, directory: result.cwd };
}

/** What the model reads of it. */
export const tellText = ({ command }: OwnCommand, { output, how }: RanCommand): string =>
	`I ran this command in your shell:\n\n    ${command.replaceAll("\n", "\n    ")}\n\n${[how, output.trimEnd()].filter(Boolean).join("\n") || "(no output)"}`;
