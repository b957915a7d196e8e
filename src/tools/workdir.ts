/**
 * A workdir that was meant for a shell to expand, or that carries a command. It is a path and never expanded, so such a call is a
 * mistake or an attack, whatever directories there are; both are told so, and nothing runs.
 */
const REFUSED: readonly [RegExp, string][] = [
	[/\0/, "a NUL byte"],
	[/\n/, "a newline"],
	[/\r/, "a carriage return"],
	[/[\x01-\x1f\x7f]/, "a control character"],
	[/\$\(/, "a command substitution, $("],
	[/\$\{/, "a variable, ${"],
	[/`/, "a backtick (`)"],
	[/;/, "a semicolon (;)"],
	[/\|/, "a pipe (|)"],
	[/&&/, "two ampersands (&&)"],
	[/</, "a less-than sign (<)"],
	[/>/, "a greater-than sign (>)"],
];

/** Why it is refused, in a sentence; undefined for a path that is to be taken as it is. */
export function refusedWorkdir(workdir: string): string | undefined {
	const found = REFUSED.find(([character]) => character.test(workdir));
	if (!found) return undefined;
	return `workdir contains ${found[1]}, and is a plain path in which nothing is expanded; nothing was run. Give the path itself; to go to a directory of that very name, use cd with quotes in the command`;
}
