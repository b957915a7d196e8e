import { createHash, randomBytes } from "node:crypto";

/** `proc_` and 12 hex digits. */
export const newId = (): string => `proc_${randomBytes(6).toString("hex")}`;

export const isId = (text: string): boolean => /^proc_[0-9a-f]{12}$/.test(text);

/** What a person or a model may write for an id: with or without `proc_`, 4 or more digits of it. */
export function idPrefix(text: string): string | undefined {
	const digits = text
		.trim()
		.toLowerCase()
		.replace(/^proc_/, "");
	return /^[0-9a-f]{4,12}$/.test(digits) ? digits : undefined;
}

let last: { readonly task: string | undefined; readonly key: string } = { task: undefined, key: "" }; // mostly it is the same one again

/** A task's name may hold anything; as a part of a file name it is 12 hex digits. */
export function taskKey(task: string): string {
	if (task !== last.task) last = { task, key: createHash("sha256").update(task).digest("hex").slice(0, 12) };
	return last.key;
}
