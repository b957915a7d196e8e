/** Names of people, chats and files are data of strangers: one line, no control characters, no path. */

const LONGEST_NAME = 80;
const LONGEST_FILE_NAME = 120;

/** Control characters, line separators, and the marks that turn the direction of text around. */
const HARMFUL = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g;

/** Returns the name on one line, at most 80 characters, or undefined if nothing of it is left. */
export function cleanName(name: string | undefined): string | undefined {
	const clean = (name ?? "").replace(HARMFUL, " ").replace(/\s+/g, " ").trim();
	return clean === "" ? undefined : cut(clean, LONGEST_NAME);
}

/** Returns a name without directories, leading dots and control characters. What is left of `../../x` is `x`. */
export function cleanFileName(name: string | undefined): string {
	const last = (name ?? "").replace(HARMFUL, "").split(/[/\\]/).at(-1) ?? "";
	const clean = last.replace(/[<>:"|?*]/g, "_").replace(/^[.\s]+|\s+$/g, "");
	if (clean === "") return "file";
	const [, ending = ""] = /(\.[A-Za-z0-9]{1,10})$/.exec(clean) ?? [];
	return clean.length <= LONGEST_FILE_NAME ? clean : `${cut(clean, LONGEST_FILE_NAME - ending.length)}${ending}`;
}

const cut = (text: string, size: number): string => text.slice(0, size).replace(/[\ud800-\udbff]$/, "");
