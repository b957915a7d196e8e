/** Reads a foreground command from the records of its shell: which command the shell took last, and how this one ended. */
import path from "node:path";
import { readStart } from "../base/index.js";
import { readExit } from "./layout.js";
import { type Spec, siblingOf, type Within } from "./spec.js";

/** Returns the end of this process. Until the shell takes its command, a reused directory still holds the end of the previous command. */
export function ownExit(dir: string, spec: Spec): ReturnType<typeof readExit> {
	const exit = readExit(dir);
	return spec.within && exit?.kind === "exit" && exit.of !== undefined && exit.of !== spec.within.name ? undefined : exit;
}

/** Returns true if the shell took this command last. */
export const wasTaken = (dir: string, { name, shell }: Within): boolean => takenLast(siblingOf(dir, shell)) === name;

/** Returns true if the shell took another command last. Returns false if that cannot be read. */
export function tookAnother(dir: string, { name, shell }: Within): boolean {
	const last = takenLast(siblingOf(dir, shell));
	return last !== undefined && last !== name;
}

/** Returns the name of the command that a shell took last. */
function takenLast(dir: string): string | undefined {
	try {
		return readStart(path.join(dir, "shell", "begun"), 256).split(" ", 1)[0];
	} catch {
		return undefined; // removed, or made unreadable by a program in the sandbox
	}
}
