/**
 * Which program leads the foreground of a terminal. `bash -c 'cd /src && timeout 20 python3'` becomes timeout, which then leads the process group, as
 * it does from a prompt. As a child of bash it would make a group of its own, in the background of the terminal, and what it runs would be
 * stopped at its first read. Our bash evaluates a text that it reads from a file, where it never replaces itself; so we say where that is safe.
 */

const SPACE = String.raw`[ \t]+`;
const QUOTED = String.raw`'[^']*'|"(?:[^"\\$\x60]|\$\w|\$\{\w+\})*"`;
const ARGUMENT = String.raw`(?:[\w@%+=:,./~*?^-]|\$\w|\$\{\w+\}|${QUOTED})+`;
const ARGUMENTS = `(?:${SPACE}${ARGUMENT})*`;
const BEFORE = String.raw`\s*(?:(?:cd|export)${ARGUMENTS}[ \t]*&&\s*)*`;
const LONE = new RegExp(`^(${BEFORE})[\\w./+-]+${ARGUMENTS}\\s*$`);

/** Where a plain command begins with which the text ends, nothing but `cd` and `export` before it; undefined for all other texts. */
export function loneAt(text: string): number | undefined {
	const before = LONE.exec(text)?.[1];
	return before !== undefined && /^[\x20-\x7e\s]*$/.test(before) ? before.length : undefined; // bash counts characters, in a locale that we do not know
}
