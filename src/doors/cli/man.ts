/** Manual pages, from what the help is made of: `holdfast(1)` with the commands, and `holdfast-COMMAND(1)` for each. */
import { packageVersion } from "../../base/index.js";
import type { Command } from "./command.js";
import { commandNamed, GROUPS } from "./commands/index.js";
import { ABOUT, HANDLES, optionsOf, sentence, usageOf } from "./help.js";

const COMMANDS = Object.values(GROUPS).flatMap((group) => Object.keys(group));

/** Every page by the name of its file. */
export async function manPages(): Promise<Map<string, string>> {
	const pages = new Map([["holdfast.1", overviewPage()]]);
	for (const name of COMMANDS) pages.set(`holdfast-${name}.1`, await commandPage(await commandNamed(name)));
	return pages;
}

export function overviewPage(): string {
	const groups = Object.entries(GROUPS).flatMap(([title, commands]) => [
		`.SS ${text(title)}`,
		...Object.entries(commands).flatMap(([name, { summary }]) => [".TP", `\\fBholdfast\\-${text(name)}\\fR(1)`, text(summary)]),
	]);
	return page("holdfast", [
		".SH NAME",
		"holdfast \\- terminals that hold",
		".SH SYNOPSIS",
		".B holdfast",
		"[\\fICOMMAND\\fR [\\fIOPTIONS\\fR]]",
		".SH DESCRIPTION",
		text(`Holdfast: ${ABOUT}`),
		".PP",
		"Alone on a terminal, it shows what runs, what waits and what to do next.",
		text(HANDLES),
		".SH COMMANDS",
		...groups,
		".SH FILES",
		".TP",
		"\\fI$HOLDFAST_HOME\\fR, else \\fI~/.local/state/holdfast\\fR",
		"All state: processes with their output, questions, records.",
	]);
}

export async function commandPage(command: Command): Promise<string> {
	const [prose = "", examples] = command.teach.trim().split(/^Examples?\n/m);
	const name = `holdfast-${command.name}`;
	return page(name, [
		".SH NAME",
		`${text(name)} \\- ${text(command.summary)}`,
		".SH SYNOPSIS",
		text(usageOf(command).replace("Usage: ", "")),
		".SH DESCRIPTION",
		text(sentence(command.summary)),
		...(prose.trim() === "" ? [] : [".PP", ...proseOf(prose.trim())]),
		".SH OPTIONS",
		...(await optionsOf(command)).flatMap(({ flags, help }) => [".TP", `\\fB${text(flags)}\\fR`, text(help)]),
		...(examples === undefined ? [] : [".SH EXAMPLES", ".nf", ...examples.trimEnd().split("\n").map(text), ".fi"]),
		".SH SEE ALSO",
		"\\fBholdfast\\fR(1)",
	]);
}

const page = (name: string, lines: readonly string[]): string =>
	`${[`.TH ${text(name.toUpperCase())} 1 "" "holdfast ${packageVersion()}" "Holdfast"`, ".nh", ".ad l", ...lines].join("\n")}\n`;

/** Indented lines stay as they are; the others are filled. */
function proseOf(prose: string): string[] {
	let open = false;
	const lines: string[] = [];
	for (const line of prose.split("\n")) {
		const whole = line.startsWith(" ");
		if (whole !== open) lines.push(whole ? ".nf" : ".fi");
		open = whole;
		lines.push(line.trim() === "" ? ".PP" : text(line));
	}
	return open ? [...lines, ".fi"] : lines;
}

/** Escapes text for roff: a line that begins with a dot or quote would be a request, and a plain dash is a hyphen that cannot be copied. */
function text(given: string): string {
	return given
		.replaceAll("\\", "\\e")
		.replaceAll("-", "\\-")
		.replaceAll("'", "\\(aq")
		.replaceAll("`", "\\(ga")
		.replaceAll("^", "\\(ha")
		.replaceAll("~", "\\(ti")
		.replaceAll(/^([.'])/gm, "\\&$1");
}
