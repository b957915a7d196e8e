import { createHash, randomBytes } from "node:crypto";

/** How many commands of a shell one directory can serve. */
export const COMMANDS_PER_SLOT = 256;

/**
 * `proc_` and 12 hex digits, of a process that has a directory of its own. The first two follow from the other ten, so that the id of each further command
 * that its directory serves (`commandId`) says which directory that is (`ownerOf`). No two directories share the ten.
 */
export const newId = (): string => ownerOf(`proc_00${randomBytes(5).toString("hex")}`);

/** Returns the id of the command number `count` (0 is the first) in a directory. */
export function commandId(owner: string, count: number): string {
	const first = (Number.parseInt(owner.slice(5, 7), 16) + count) % COMMANDS_PER_SLOT;
	return `proc_${first.toString(16).padStart(2, "0")}${owner.slice(7)}`;
}

/** Returns the id of the directory that a command's id belongs to. Of an id that an earlier version has made this means nothing. */
export function ownerOf(id: string): string {
	const rest = id.slice(7);
	const sum = Buffer.from(rest, "hex").reduce((xor, byte) => xor ^ byte, 0);
	return `proc_${sum.toString(16).padStart(2, "0")}${rest}`;
}

export const isId = (text: string): boolean => /^proc_[0-9a-f]{12}$/.test(text);

/** Parses an id as a person or a model writes it: with or without `proc_`, 4 or more digits. */
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
