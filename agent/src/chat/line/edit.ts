/** Editing one line of input, which may have line breaks in it. The keys are those of readline. */
import { letters } from "../render/width.js";
import type { Key } from "./keys.js";

export interface Draft {
	readonly text: string;
	/** In characters of the text. */
	readonly cursor: number;
	/** The text that was last killed, for Ctrl-Y. */
	readonly killed: string;
}

export const emptyDraft: Draft = { text: "", cursor: 0, killed: "" };

export const draftOf = (text: string): Draft => ({ ...emptyDraft, text, cursor: text.length });

/** Returns the draft after a key, or undefined if the key is not one for editing. */
export function edited(draft: Draft, key: Key): Draft | undefined {
	const { text, cursor } = draft;
	switch (key.name) {
		case "text":
			return insert(draft, key.text ?? "");
		case "ctrl+j":
		case "shift+enter":
			return insert(draft, "\n");
		case "backspace":
			return removed(draft, before(text, cursor), cursor);
		case "delete":
		case "ctrl+d":
			return removed(draft, cursor, after(text, cursor));
		case "left":
		case "ctrl+b":
			return at(draft, before(text, cursor));
		case "right":
		case "ctrl+f":
			return at(draft, after(text, cursor));
		case "ctrl+left":
		case "alt+left":
		case "alt+b":
			return at(draft, wordBefore(text, cursor));
		case "ctrl+right":
		case "alt+right":
		case "alt+f":
			return at(draft, wordAfter(text, cursor));
		case "home":
		case "ctrl+a":
			return at(draft, lineStart(text, cursor));
		case "end":
		case "ctrl+e":
			return at(draft, lineEnd(text, cursor));
		case "ctrl+k":
			return killed(draft, cursor, lineEnd(text, cursor) === cursor ? after(text, cursor) : lineEnd(text, cursor));
		case "ctrl+u":
			return killed(draft, lineStart(text, cursor), cursor);
		case "ctrl+w":
			return killed(draft, spaceBefore(text, cursor), cursor);
		case "alt+backspace":
			return killed(draft, wordBefore(text, cursor), cursor);
		case "alt+d":
			return killed(draft, cursor, wordAfter(text, cursor));
		case "ctrl+y":
			return insert(draft, draft.killed);
		case "ctrl+t":
			return swapped(draft);
		default:
			return undefined;
	}
}

/** The same column in the line above or below; undefined if there is none. */
export function moved(draft: Draft, lines: -1 | 1): Draft | undefined {
	const start = lineStart(draft.text, draft.cursor);
	const column = draft.cursor - start;
	const to = lines < 0 ? start - 1 : lineEnd(draft.text, draft.cursor) + 1;
	if (to < 0 || to > draft.text.length) return undefined;
	const first = lineStart(draft.text, to);
	return at(draft, Math.min(first + column, lineEnd(draft.text, to)));
}

export function insert(draft: Draft, text: string): Draft {
	return { ...draft, text: draft.text.slice(0, draft.cursor) + text + draft.text.slice(draft.cursor), cursor: draft.cursor + text.length };
}

/** Puts something in the place of what is between `from` and the cursor. */
export function replaceBefore(draft: Draft, from: number, text: string): Draft {
	return { ...draft, text: draft.text.slice(0, from) + text + draft.text.slice(draft.cursor), cursor: from + text.length };
}

const at = (draft: Draft, cursor: number): Draft => ({ ...draft, cursor });

function removed(draft: Draft, from: number, to: number): Draft {
	return { ...draft, text: draft.text.slice(0, from) + draft.text.slice(to), cursor: from };
}

function killed(draft: Draft, from: number, to: number): Draft {
	return from === to ? draft : { ...removed(draft, from, to), killed: draft.text.slice(from, to) };
}

/** The two letters around the cursor; at the end of the text the last two. */
function swapped(draft: Draft): Draft {
	const end = draft.cursor === draft.text.length ? draft.cursor : after(draft.text, draft.cursor);
	const middle = before(draft.text, end);
	const start = before(draft.text, middle);
	const text = draft.text.slice(0, start) + draft.text.slice(middle, end) + draft.text.slice(start, middle) + draft.text.slice(end);
	return start === middle ? draft : { ...draft, text, cursor: end };
}

/** A letter can have many characters; only its neighbourhood is looked at. */
const NEAR = 64;
const before = (text: string, cursor: number): number => cursor - (letters(text.slice(Math.max(0, cursor - NEAR), cursor)).at(-1)?.length ?? 0);
const after = (text: string, cursor: number): number => cursor + (letters(text.slice(cursor, cursor + NEAR))[0]?.length ?? 0);

const lineStart = (text: string, cursor: number): number => (cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1);
const lineEnd = (text: string, cursor: number): number => {
	const end = text.indexOf("\n", cursor);
	return end < 0 ? text.length : end;
};

const wordBefore = (text: string, cursor: number): number => cursor - (/[\p{L}\p{N}_]*[^\p{L}\p{N}_]*$/u.exec(text.slice(0, cursor))?.[0].length ?? 0);
const wordAfter = (text: string, cursor: number): number => cursor + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0);
const spaceBefore = (text: string, cursor: number): number => cursor - (/\S*\s*$/.exec(text.slice(0, cursor))?.[0].length ?? 0);
