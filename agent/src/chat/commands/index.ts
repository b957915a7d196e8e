/** The table of slash commands. */
import { AgentError, nearNames } from "../../base/index.js";
import type { CommandContext, SlashCommand } from "./command.js";
import { CONVERSATION } from "./conversation.js";
import { PROCESSES } from "./processes.js";
import { TOOLS } from "./tools.js";
import { TURN } from "./turn.js";

export type { CommandContext, SlashCommand } from "./command.js";

const HELP: SlashCommand = { name: "help", usage: "", summary: "this list", group: "conversation", run: () => helpText() };

const QUIT: SlashCommand = {
	name: "quit",
	usage: "",
	summary: "leave; nothing ends",
	group: "conversation",
	run({ leave }) {
		if (!leave) return "This chat cannot be left from here.";
		leave();
		return undefined;
	},
};

export const SLASH_COMMANDS: readonly SlashCommand[] = [HELP, ...CONVERSATION, ...TURN, ...TOOLS, ...PROCESSES, QUIT];

/** Undefined: the text is a message. `//x` says "/x" to the model; a path is no command. */
export function slashCommand(text: string): { readonly command: SlashCommand; readonly rest: string } | undefined {
	const [, name, rest = ""] = /^\/([a-z]+)(?:\s+(.*))?$/is.exec(text.trim()) ?? [];
	if (name === undefined) return undefined;
	const command = SLASH_COMMANDS.find((one) => one.name === name.toLowerCase());
	if (command) return { command, rest: rest.trim() };
	const near = nearNames(
		name,
		SLASH_COMMANDS.map((one) => one.name),
	).map((one) => `/${one}`);
	throw new AgentError("INVALID", `there is no command /${name}; ${near.length > 0 ? `did you mean ${near.join(" or ")}?` : "/help lists them"}`);
}

export async function runSlash(text: string, context: CommandContext): Promise<{ readonly said: string | undefined } | undefined> {
	const found = slashCommand(text);
	return found && { said: (await found.command.run(context, found.rest)) ?? undefined };
}

function helpText(): string {
	const groups = [...new Set(SLASH_COMMANDS.map(({ group }) => group))];
	const line = ({ name, usage, summary }: SlashCommand) => `  /${`${name} ${usage}`.trim().padEnd(21)}  ${summary}`;
	return [
		...groups.flatMap((group) => [`${group}`, ...SLASH_COMMANDS.filter((one) => one.group === group).map(line)]),
		"keys",
		"  Enter                   send; while it works: tell it right away",
		"  Alt+Enter               send after it is done",
		"  Esc, Ctrl-C             interrupt; Ctrl-C twice leaves",
		"  Ctrl-J, \\ at the end    break the line",
		"  Up, Ctrl-R              take a waiting message back; history; search it",
		"  !COMMAND, !!COMMAND     run it in the agent's shell; and show it the output",
	].join("\n");
}
