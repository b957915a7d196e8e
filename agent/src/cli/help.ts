/** Help, under 80 columns. It loads nothing but the table. */
import type { Output } from "./output.js";
import { COMMANDS, type Command, HELP, type OptionSpec } from "./table.js";

const GROUPS = ["Talk", "Conversations", "Platforms", "Evaluate", "Settings"] as const;

export function overview(out: Output): string {
	const line = ({ name, shown = name, summary }: Command) => `  ${out.style("cyan", shown)}${" ".repeat(Math.max(2, 19 - shown.length))}${summary}`;
	return [
		`${out.style("bold", "holdfast-agent")}: an agent whose turns survive kill -9`,
		"",
		"Usage: holdfast-agent [COMMAND] [OPTIONS]",
		...GROUPS.flatMap((group) => ["", out.style("bold", group), ...COMMANDS.filter((command) => command.group === group).map(line)]),
		"",
		"holdfast-agent help COMMAND, or --help behind it, says more. Begin with setup.",
	].join("\n");
}

export function commandHelp(command: Command, out: Output): string {
	return [
		`Usage: holdfast-agent ${command.usage}`,
		"",
		`${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`,
		"",
		out.style("bold", "Options"),
		...Object.entries({ ...command.options, ...HELP }).map(([name, spec]) => `  ${flags(name, spec).padEnd(22)} ${spec.help}`),
		"",
		command.teach,
	].join("\n");
}

function flags(name: string, { short, value }: OptionSpec): string {
	const long = name.length > 1 ? `--${name}` : "";
	return `${[short ? `-${short}` : "", long].filter(Boolean).join(", ")}${value ? ` ${value}` : ""}`;
}
