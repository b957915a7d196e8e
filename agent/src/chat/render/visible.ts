/** Text of others (a model, a program, a file), made safe for a terminal: nothing in it moves the cursor, colours, or turns the direction of reading. */
import { stripVTControlCharacters } from "node:util";

const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const TAB = "    ";

export function visible(text: string): string {
	return stripVTControlCharacters(text).replace(/\r\n?/g, "\n").replace(CONTROLS, "").replaceAll("\t", TAB);
}

/** The same in one line of at most `room` characters; `…` says that more was there. */
export function oneLine(text: string, room: number): string {
	const line = visible(text.slice(0, room * 4 + 100))
		.replace(/\s+/g, " ")
		.trim();
	return line.length <= room ? line : `${line.slice(0, Math.max(0, room - 1))}…`;
}
