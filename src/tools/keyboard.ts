/** While a person holds the keyboard of a process, an agent may only look at it. */
import { HoldfastError } from "../base/index.js";
import { handBackLost } from "../notices/index.js";
import { keyboardOf, type Process } from "../process/index.js";
import type { Ask } from "./ask.js";
import type { Action } from "./input.js";

const LOOKING: readonly Action[] = ["poll", "log", "wait", "screen"];

/** Throws for an action that changes something; else notes who holds the keyboard. */
export function heedKeyboard(ask: Ask, process: Process, action: Action): void {
	handBackLost(ask.runtime.home, process);
	const holder = keyboardOf(process);
	if (!holder) return;
	const held = `${holder.who} has taken the keyboard of ${process.id}`;
	if (LOOKING.includes(action)) ask.notes.push(`${held}: look, but leave it alone until you are told that it is yours again.`);
	else
		throw new HoldfastError(
			"KEYBOARD",
			`${held}, so nothing was done to it (${action}); you are told when it is yours again, and until then poll, log, wait and screen show what happens; do not try to get around this`,
		);
}
