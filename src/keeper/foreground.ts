/** A foreground command in the records of its shell: which command the shell took last, and how this one ended. */
import path from "node:path";
import { readStart } from "../base/index.js";
import { readExit } from "./layout.js";
import { type Spec, siblingOf, type Within } from "./spec.js";

/** Returns the end of a process itself. A log that has served another command has the end of that one in it, until the shell takes this one. */
export function ownExit(dir: string, spec: Spec): ReturnType<typeof readExit> {
	const exit = readExit(dir);
	return spec.within && exit?.kind === "exit" && exit.of !== undefined && exit.of !== spec.within.name ? undefined : exit;
}

/** Whether the shell took this command last. */
export const wasTaken = (dir: string, { name, shell }: Within): boolean => takenLast(siblingOf(dir, shell)) === name;

/** Whether the shell took another command last, or none. False also when that cannot be read. */
export function tookAnother(dir: string, { name, shell }: Within): boolean {
	const last = takenLast(siblingOf(dir, shell));
	return last !== undefined && last !== name;
}

/** Returns the name of the command that a shell took last. */
function takenLast(dir: string): string | undefined {
	try {
		return readStart(path.join(dir, "shell", "begun"), 256).split(" ", 1)[0];
	} catch {
		return undefined; // gone; or, in a sandbox, locked by a program in there
	}
}
