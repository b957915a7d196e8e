/** What README and docs name of the command line exists, and every command teaches. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type Command, commonFor, parseCall } from "../../src/doors/cli/command.js";
import { commandNamed, GROUPS } from "../../src/doors/cli/commands/index.js";
import { optionsOf } from "../../src/doors/cli/help.js";

const allCommands = () => Promise.all(Object.values(GROUPS).flatMap((group) => Object.keys(group).map(commandNamed)));

const PAGES = [
	"README.md",
	"CHANGELOG.md",
	...fs
		.readdirSync("docs")
		.filter((name) => name.endsWith(".md"))
		.map((name) => path.join("docs", name)),
];
/** `holdfast COMMAND …` where it is code: in backquotes, or at the start of an indented line, behind a prompt, `;`, `&&` or `|`. */
const CALLS = /(?:`|^ {2,}|\$ |; |&& |\| )(?:npx )?holdfast ([a-z][a-z-]*)((?:[^`\n#|;]|\n(?= {6,}))*)/gm;

test("every command and option that README and docs name exists", async () => {
	const commands = new Map((await allCommands()).map((command) => [command.name, command]));
	const wrong: string[] = [];
	let calls = 0;
	for (const page of PAGES)
		for (const [, name = "", rest = ""] of fs.readFileSync(page, "utf8").matchAll(CALLS)) {
			calls++;
			if (name === "help" || name === "version") continue;
			const command = commands.get(name);
			if (command) wrong.push(...unknownIn(command, rest).map((option) => `${page}: holdfast ${name} has no ${option}`));
			else wrong.push(`${page}: there is no holdfast ${name}`);
		}
	expect(wrong).toEqual([]);
	expect(calls).toBeGreaterThan(50);
});

test("every command has a help with an example that it could be called with", async () => {
	for (const command of await allCommands()) {
		const [, examples = ""] = /^Examples?\n([\s\S]*)$/m.exec(command.teach) ?? [];
		const own = examples.split("\n").filter((line) => new RegExp(`holdfast ${command.name}\\b`).test(line));
		expect(own.length, command.name).toBeGreaterThan(0);
		for (const line of own) expect(unknownIn(command, line.slice(line.indexOf(`holdfast ${command.name}`))), line).toEqual([]);
	}
});

test("a help lists only options that mean something to its command; the others are taken all the same", async () => {
	const flagsOf = async (name: string) => (await optionsOf(await commandNamed(name))).map(({ flags }) => /--\S+/.exec(flags)?.[0]);
	expect(await flagsOf("demo")).toEqual(["--help"]);
	expect(await flagsOf("attach")).toEqual(["--read-only", "--home", "--task", "--help"]);
	expect(await flagsOf("prune")).toEqual(["--older-than", "--quota", "--dry-run", "--json", "--home", "--help"]);
	expect(await flagsOf("terminal")).toEqual(expect.arrayContaining(["--json", "--home", "--task", "--place", "--help"]));
	for (const command of await allCommands()) expect(() => parseCall(command, ["--json", "--home=/x", "--task=x", "--place=x"]), command.name).not.toThrow();
});

/** Options in its own words, before `--`; a pipe leads to another program. */
function unknownIn({ name, options }: Command, text: string): string[] {
	const own = (text.split(/ -- | \| /)[0] as string).replace(/'[^']*'|"[^"]*"/g, "");
	const known = Object.entries({ ...options, ...commonFor(name) }).flatMap(([name, { short }]) => [`--${name}`, ...(short ? [`-${short}`] : [])]);
	return [...own.matchAll(/(?<![\w-])(--[a-z][a-z-]*|-[a-z])\b/g)].map(([, option = ""]) => option).filter((option) => !known.includes(option));
}
