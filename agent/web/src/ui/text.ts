/** Text of others (a model, a program, another person) for people's eyes: nothing in it can pass for something else. */

/** Characters that control a terminal or the direction of reading, and tags that no one can see: shown as what they are. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e0fff}]/gu;
/** In code also those that some languages need in words. */
const HIDDEN_IN_CODE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u115f\u1160\u2028\u2029\u2060-\u2069\u3164\uffa0]|\p{Cf}/gu;

export const shownText = (text: string): string => text.replace(/\r\n?/g, "\n").replace(HIDDEN, escaped);
export const shownCode = (text: string): string => text.replace(/\r\n/g, "\n").replace(HIDDEN_IN_CODE, escaped);

function escaped(char: string): string {
	const hex = (char.codePointAt(0) as number).toString(16).padStart(4, "0");
	return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`;
}

/** In one line of at most so many characters. */
export function oneLine(text: string, most: number): string {
	const line = shownCode(
		text
			.slice(0, most * 4)
			.replace(/\s+/g, " ")
			.trim(),
	);
	return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** The few entities that models write; a parser that makes no HTML leaves them as they are. */
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", "#39": "'", "#x27": "'" };
export const decoded = (text: string): string => text.replace(/&(#?\w{2,6});/g, (all, name: string) => ENTITIES[name.toLowerCase()] ?? all);

/** Where a link of a model may lead: to a page, or to a mail program. Undefined: nowhere, it is shown as text. */
export function safeHref(href: string): string | undefined {
	const text = decoded(href).trim();
	if (!/^(?:https?:\/\/|mailto:)/i.test(text) || /[\u0000-\u0020\u007f]/.test(text)) return undefined;
	return URL.canParse(text) ? new URL(text).href : undefined;
}
