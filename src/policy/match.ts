/** Whether a rule is about a command. */
import path from "node:path";
import { CHECKS } from "./checks.js";
import { hasFlag } from "./flags.js";
import type { Found } from "./found.js";
import { fileWords, globMatches, placesOf } from "./paths.js";
import type { Rule } from "./rule.js";
import type { World } from "./scope.js";
import type { Word } from "./word.js";

export interface Circumstances {
	readonly world: World;
	readonly place: string;
	/** What rules may call the place. */
	readonly names: readonly string[];
	readonly task: string;
	/** The whole command that this is part of. */
	readonly text: string;
}

export function matches({ match }: Pick<Rule, "match">, command: Found, { world, names, task, text }: Circumstances): boolean {
	const any = (globs: readonly string[] | undefined, values: readonly string[]): boolean =>
		!globs || globs.some((glob) => values.some((value) => globMatches(glob, value)));
	return (
		any(match.place, names) &&
		any(match.task, [task]) &&
		any(match.cwd, [world.cwd]) &&
		(!match.text || match.text.includes(text)) &&
		any(match.program, command.names) &&
		(!match.subcommand || match.subcommand.some((wanted) => hasSubcommand(command, wanted))) &&
		(!match.flags || match.flags.every((flag) => hasFlag(command, flag))) &&
		(!match.args || match.args.every((glob) => command.args.some(({ text }) => globMatches(glob, text)))) &&
		(!match.paths || touches(match.paths, fileWords(command), command, world)) &&
		(!match.writes || touches(match.writes, command.writes, command, world)) &&
		(!match.is || CHECKS[match.is](command, world))
	);
}

/** "remote add": the words that are no flags begin with these. */
function hasSubcommand(command: Found, wanted: string): boolean {
	const words = command.args.filter(({ text }) => !text.startsWith("-")).map(({ text }) => text);
	// `git -C dir push`: an option before it may have taken a value.
	const starts = /^-/.test(command.args[0]?.text ?? "") ? [0, 1, 2] : [0];
	const parts = wanted.split(" ");
	return starts.some((start) => parts.every((part, at) => globMatches(part, words[start + at] ?? "")));
}

/** `~` is the home, `.` the working directory; `!` in front: a path that is not in it. */
function touches(globs: readonly string[], words: readonly Word[], command: Found, world: World): boolean {
	const places = words.filter(({ text }) => !text.startsWith("-")).flatMap((word) => placesOf(word, command, world));
	return globs.some((glob) => {
		const not = glob.startsWith("!");
		const pattern = (not ? glob.slice(1) : glob).replace(/^~(?=\/|$)/, world.home).replace(/^\.(?=\/|$)/, world.cwd);
		const absolute = pattern.startsWith("/") || pattern.startsWith("**") ? pattern : path.join(world.cwd, pattern);
		return places.some((place) => place !== null && globMatches(absolute, place) !== not);
	});
}
