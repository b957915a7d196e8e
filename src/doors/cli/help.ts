import { packageVersion } from "../../base/version.js";
import { COMMON, type Command } from "./command.js";
import { GROUPS } from "./commands/index.js";
import type { Output } from "./output.js";
import { wrap } from "./wrap.js";

export const version = (): string => `holdfast ${packageVersion()}`;

export function overview(out: Output): string {
	const group = ([title, commands]: [string, (typeof GROUPS)[string]]) => [
		"",
		out.style("bold", title),
		...Object.entries(commands).map(([name, { summary }]) => `  ${out.style("cyan", name)}${" ".repeat(14 - name.length)}${summary}`),
	];
	const lines = [
		`${out.style("bold", "holdfast")}: terminals that hold. What you start keeps running, keeps its output and can be`,
		"written to, whatever happens to the program that started it.",
		"",
		"Usage: holdfast COMMAND [OPTIONS] …",
		...Object.entries(GROUPS).flatMap(group),
		"",
		"A process is named by its id (proc_0123456789ab) or by 4 or more of its digits.",
		"Every command has --help, and --json for programs.",
	];
	return wrap(lines.join("\n"), out.columns);
}

export function commandHelp(command: Command, out: Output): string {
	const option = ([name, spec]: [string, Command["options"][string]]) =>
		`  ${`${spec.short ? `-${spec.short}, ` : ""}--${name}${spec.value ? ` ${spec.value}` : ""}`.padEnd(24)} ${spec.help}`;
	const lines = [
		`Usage: holdfast ${command.name} ${command.usage}`.trimEnd(),
		"",
		`${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`,
		"",
		out.style("bold", "Options"),
		...Object.entries(command.options)
			.filter(([, { hidden }]) => !hidden)
			.map(option),
		...Object.entries(COMMON)
			.filter(([name]) => !(name in command.options))
			.map(option),
		"",
		command.teach.trim(),
	];
	return wrap(lines.join("\n"), out.columns);
}
