/** Whether a rule is about a command. */
import path from "node:path";
import { CHECKS } from "./checks.js";
import { effectsOf } from "./effects.js";
import { hasFlag } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { fileWords, globMatches, globsMeet, isWithin, namesOf, placesOf } from "./paths.js";
import type { Rule } from "./rule.js";
import type { World } from "./scope.js";
import { SOME, type Word } from "./word.js";

export interface Circumstances {
	readonly world: World;
	readonly contained: boolean;
	/** The names by which rules may refer to the place. */
	readonly names: readonly string[];
	readonly task: string;
	/** The whole command that this is part of. */
	readonly text: string;
}

/** A rule that allows is only about what is certain; others are also about what a program may take for the same, and what a pattern may find. */
export function matches({ match, decision }: Pick<Rule, "match" | "decision">, command: FoundCommand, { world, names, task, text }: Circumstances): boolean {
	const certain = decision === "allow";
	const any = (globs: readonly string[] | undefined, values: readonly string[]): boolean =>
		!globs || globs.some((glob) => values.some((value) => globMatches(glob, value)));
	return (
		any(match.place, names) &&
		any(match.task, [task]) &&
		any(match.cwd, [world.cwd]) &&
		(!match.text || match.text.includes(text)) &&
		any(match.program, command.names) &&
		(!match.subcommand || match.subcommand.some((wanted) => hasSubcommand(command, wanted))) &&
		(!match.flags || match.flags.every((flag) => hasFlag(command, flag) || (!certain && isAbbreviated(command, flag)))) &&
		(!match.args ||
			match.args.every((glob) => command.args.some(({ text }) => (certain ? [text] : valuesIn(text)).some((value) => globMatches(glob, value))))) &&
		(!match.paths || touches(match.paths, fileWords(command), command, world, certain) || (!certain && isBelow(match.paths, command, world))) &&
		(!match.writes || touches(match.writes, command.writes, command, world, certain)) &&
		(!match.is || CHECKS[match.is](command, world))
	);
}

/** "remote add": the words that are no flags begin with these. */
function hasSubcommand(command: FoundCommand, wanted: string): boolean {
	const words = command.args.filter(({ text }) => !text.startsWith("-")).map(({ text }) => text);
	// `git -C dir push`: an option before it may have taken a value.
	const starts = /^-/.test(command.args[0]?.text ?? "") ? [0, 1, 2] : [0];
	const parts = wanted.split(" ");
	return starts.some((start) => parts.every((part, at) => globMatches(part, words[start + at] ?? "")));
}

/** Many programs take any beginning of a long option that only one has. */
const isAbbreviated = (command: FoundCommand, flag: string): boolean =>
	flag
		.split("|")
		.some((wanted) => wanted.startsWith("--") && command.args.some(({ text }) => /^--\w/.test(text) && wanted.startsWith(text.replace(/=.*$/s, ""))));

/** `--context=prod` and `-nprod` hold a value as `--context prod` and `-n prod` do. */
const valuesIn = (text: string): string[] => [
	text,
	...[/^[\w.-]+=(.*)$/s.exec(text)?.[1], /^-\w(.+)$/s.exec(text)?.[1]].filter((value) => value !== undefined),
];

/** `~` is the home, `.` the working directory. */
function absolute(glob: string, world: World): string {
	const pattern = glob.replace(/^~(?=\/|$)/, world.home).replace(/^\.(?=\/|$)/, world.cwd);
	return pattern.startsWith("/") || pattern.startsWith("**") ? pattern : path.join(world.cwd, pattern);
}

/** `!` in front: a path that is not in it. */
function touches(globs: readonly string[], words: readonly Word[], command: FoundCommand, world: World, certain: boolean): boolean {
	const files = words.filter(({ text }) => !text.startsWith("-"));
	const places = files.flatMap((word) => placesOf(word, command, world));
	const names = certain ? places : files.flatMap((word) => namesOf(word, command, world));
	return globs.some((glob) => {
		const not = glob.startsWith("!");
		const pattern = absolute(not ? glob.slice(1) : glob, world);
		return (not ? places : names).some(
			(place) => place !== null && (globMatches(pattern, place) !== not || (!certain && !not && place.includes(SOME) && globsMeet(pattern, place))),
		);
	});
}

/** Whether what it reads or changes with everything below holds such a path: `tar cf x ~`. */
function isBelow(globs: readonly string[], command: FoundCommand, world: World): boolean {
	const trees = effectsOf(command).flatMap(({ deed, tree, file }) => (tree && deed !== "looks" ? placesOf(file, command, world) : []));
	if (trees.length === 0) return false;
	const bases = globs.filter((glob) => !glob.startsWith("!")).map((glob) => absolute(glob, world).replace(/\/[^/]*[*?].*$/s, ""));
	return bases.some((base) => base !== "" && trees.some((place) => place !== null && isWithin(base, place)));
}
