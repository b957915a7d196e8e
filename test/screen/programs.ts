/** Programs on a terminal, for the tests of this room. */

import { type LiveScreen, readScreen, type ScreenView, untilWaiting } from "../../src/screen/index.js";
import { tempDir } from "../support/home.js";
import type { Process, Runtime, SpawnOptions } from "../support/internal.js";
import { which } from "./cases.mjs";

export { which };

/** For the name of a test that needs a program: empty, or why it is skipped. */
export const missing = (name: string): string => (which(name) ? "" : ` (skipped: ${name} is not installed)`);

/** On a terminal, in an empty directory that is also its home: no settings of whoever runs the tests. */
export function onTerminal(runtime: Runtime, command: string, options: Partial<SpawnOptions> = {}): Promise<Process> {
	const dir = tempDir("program");
	return runtime.spawn({ command, terminal: { cols: 80, rows: 24 }, cwd: dir, env: { HOME: dir, ...options.env }, ...options });
}

/** The screen once the program has settled down to wait for input. */
export async function screenWhenWaiting(process: Process): Promise<ScreenView> {
	const { matched } = await untilWaiting(process, { timeout: 100_000 });
	if (matched !== "input") throw new Error(`it never waited for input (${matched})`);
	return readScreen(process);
}

/** The screen once its log has this in it. */
export async function screenWith(process: Process, pattern: string): Promise<ScreenView> {
	const { matched } = await process.wait({ until: { pattern }, timeout: 100_000 });
	if (matched !== "pattern") throw new Error(`it never printed ${pattern}`);
	return readScreen(process);
}

/** Look again and again until the screen is as wanted. */
export async function lookUntil(live: LiveScreen, holds: (view: ScreenView) => boolean): Promise<ScreenView> {
	for (let tries = 0; tries < 2_000; tries++) {
		const view = await live.read();
		if (holds(view)) return view;
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	throw new Error("the screen never was as wanted");
}
