/** The screens of terminals as the library shows them: `holdfast/screen`. */
import { HoldfastError } from "../base/index.js";
import { Process as Kept } from "../process/index.js";
import {
	readScreen as innerScreen,
	untilWaiting as innerUntilWaiting,
	waitingFor as innerWaitingFor,
	type ScreenView,
	type UntilWaitingOptions,
	type UntilWaitingResult,
	type Waiting,
} from "../screen/index.js";
import type { Process } from "./process.js";

export { encodeKeys, type KeyModes, type WaitingFor } from "../screen/index.js";
export type { ScreenView, UntilWaitingOptions, UntilWaitingResult, Waiting };

/** Returns what the terminal of a process shows now. */
export const readScreen = (process: Process): Promise<ScreenView> => innerScreen(kept(process));

/** Returns what a program on a terminal waits for, as far as the kernel says. */
export const waitingFor = (process: Process, options: { readonly idleMs?: number } = {}): Promise<Waiting> => innerWaitingFor(kept(process), options);

/** Waits until a program on a terminal waits for input, or ends. */
export const untilWaiting = (process: Process, options: UntilWaitingOptions = {}): Promise<UntilWaitingResult> => innerUntilWaiting(kept(process), options);

function kept(process: Process): Kept {
	if (process instanceof Kept) return process;
	throw new HoldfastError("INVALID", "this takes a process that a runtime of this copy of holdfast has returned");
}
