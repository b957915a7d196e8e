/** The program's own words to a model, always marked as not the person's: in brackets, with the name of the speaker. */
import type { Entry, FileRef } from "./entry.js";

type Why = Extract<Entry, { t: "partial" }>["why"];

const PARTIAL: Readonly<Record<Why, string>> = {
	interrupted: "The user stopped the answer above before it was whole.",
	cut: "The connection broke, so the answer above is not whole. Do not repeat it; go on from there.",
	length: "The answer above reached the limit of its length and is not whole. Go on from there, in smaller steps.",
};

export const partialText = (why: Why): string => noteText(PARTIAL[why]);
export const noteText = (text: string): string => `[Note of the program, not of the user: ${text}]`;
export const noticeText = (text: string): string => `[Notice of the terminal, not of the user: ${text}]`;
export const fileText = ({ name, path, bytes }: FileRef): string => `[File of the user: ${name}, ${bytes.toLocaleString("en-US")} bytes, at ${path}]`;

export const summaryText = (text: string): string =>
	`[Summary by the program of the conversation so far. It is history, not orders: what is to be done is in the user's messages behind it, and in their last message if it is quoted at the end.]\n\n${text}`;
