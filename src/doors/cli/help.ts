import { packageVersion } from "../../base/index.js";
import { type Command, commonFor } from "./command.js";
import { GROUPS } from "./commands/index.js";
import type { Output } from "./output.js";
import { wrap } from "./wrap.js";

export const version = (): string => `holdfast ${packageVersion()}`;

export const ABOUT =
	"terminals that hold. What you start keeps running, keeps its output and can be\nwritten to, whatever happens to the program that started it.";
export const HANDLES = "A process is named by its id (proc_0123456789ab), by 4 or more of its digits, or by the name it was given.";

export function overview(out: Output): string {
	const group = ([title, commands]: [string, (typeof GROUPS)[string]]) => [
		"",
		out.style("bold", title),
		...Object.entries(commands).map(([name, { summary }]) => `  ${out.style("cyan", name)}${" ".repeat(14 - name.length)}${summary}`),
	];
	const lines = [
		`${out.style("bold", "holdfast")}: ${ABOUT}`,
		"",
		"Usage: holdfast COMMAND [OPTIONS] …",
		...Object.entries(GROUPS).flatMap(group),
		"",
		HANDLES,
		"Every command has --help, and --json for programs.",
	];
	return wrap(lines.join("\n"), out.columns);
}

export async function commandHelp(command: Command, out: Output): Promise<string> {
	const lines = [
		usageOf(command),
		"",
		sentence(command.summary),
		"",
		out.style("bold", "Options"),
		...(await optionsOf(command)).map(({ flags, help }) => `  ${flags.padEnd(24)} ${help}`),
		"",
		command.teach.trim(),
	];
	return wrap(lines.join("\n"), out.columns);
}

export const usageOf = ({ name, usage }: Command): string => `Usage: holdfast ${name} ${usage}`.trimEnd();
export const sentence = (summary: string): string => `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;

/** The options of a command, its own first, as help and man page show them. */
export async function optionsOf(command: Command): Promise<{ flags: string; help: string }[]> {
	const { kinds } = await import("../../places/kinds.js");
	const forms = kinds().map(({ forms: [form], help }) => `${form}${help === undefined ? "" : ` (${help})`}`);
	return Object.entries({ ...command.options, ...Object.fromEntries(Object.entries(commonFor(command.name)).filter(([name]) => !(name in command.options))) })
		.filter(([, { hidden }]) => !hidden)
		.map(([name, { short, value, help }]) => ({
			flags: `${short ? `-${short}, ` : ""}--${name}${value ? ` ${value}` : ""}`,
			help: help.replace("FORMS", forms.join(", ")),
		}));
}
