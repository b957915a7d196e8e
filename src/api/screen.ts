/** The screens of terminals as the library shows them: `holdfast/screen`. */
import * as z from "zod";
import { aSignal, HoldfastError, parseOptions } from "../base/index.js";
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
export const readScreen = async (process: Process): Promise<ScreenView> => innerScreen(kept(process));

const aTime = z.number().min(0).optional();
const waitingSchema = z.strictObject({ idleMs: aTime });
const untilSchema = z.strictObject({ idleMs: aTime, timeout: aTime, signal: aSignal });

/** Returns what a program on a terminal waits for, as far as the kernel says. */
export const waitingFor = async (process: Process, options: { readonly idleMs?: number } = {}): Promise<Waiting> =>
	innerWaitingFor(kept(process), parseOptions("waitingFor", waitingSchema, options) as typeof options);

/** Waits until a program on a terminal waits for input, or ends. */
export const untilWaiting = async (process: Process, options: UntilWaitingOptions = {}): Promise<UntilWaitingResult> =>
	innerUntilWaiting(kept(process), parseOptions("untilWaiting", untilSchema, options) as UntilWaitingOptions);

function kept(process: Process): Kept {
	if (process instanceof Kept) return process;
	throw new HoldfastError("INVALID", "this takes a process that a runtime of this copy of holdfast has returned");
}
