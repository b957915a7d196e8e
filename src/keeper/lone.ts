/**
 * Decides which program leads the foreground of a terminal. `bash -c 'cd /src && timeout 20 python3'` becomes timeout, which then leads the process
 * group, as from a prompt. As a child of bash it would create its own group, in the background of the terminal, and its child would be stopped at the
 * first read. Our bash evaluates text from a file, and so never replaces itself; this file says where that is safe.
 */

const SPACE = String.raw`[ \t]+`;
const QUOTED = String.raw`'[^']*'|"(?:[^"\\$\x60]|\$\w|\$\{\w+\})*"`;
const ARGUMENT = String.raw`(?:[\w@%+=:,./~*?^-]|\$\w|\$\{\w+\}|${QUOTED})+`;
const ARGUMENTS = `(?:${SPACE}${ARGUMENT})*`;
const BEFORE = String.raw`\s*(?:(?:cd|export)${ARGUMENTS}[ \t]*&&\s*)*`;
const LONE = new RegExp(`^(${BEFORE})[\\w./+-]+${ARGUMENTS}\\s*$`);

/** Returns where a final plain command begins, preceded only by `cd` and `export`; undefined for any other text. */
export function loneAt(text: string): number | undefined {
	const before = LONE.exec(text)?.[1];
	return before !== undefined && /^[\x20-\x7e\s]*$/.test(before) ? before.length : undefined; // bash counts characters in an unknown locale
}
