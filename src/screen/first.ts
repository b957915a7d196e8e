/**
 * The first screen for a new viewer. Usually exact. For a long log without a recent snapshot, only the last part is drawn at first, because replaying
 * all of it takes seconds; `corrected` does that in the background.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Process, Sizes } from "../process/index.js";
import { Emulator, type Rendered } from "./emulator.js";
import { type Frozen, LiveScreen } from "./screen.js";
import { loadSnapshot } from "./snapshot.js";

export interface FirstScreen extends Frozen {
	/** The screen may be wrong; this is its content, for comparison. */
	readonly approximate?: Rendered;
}

const REPLAY_BYTES = 1024 * 1024;
const TAIL_BYTES = 48 * 1024;
const STEP_BYTES = 512 * 1024;
const TRIES = 5;

/** Returns the first screen; or, if it has no text at this moment, the offset from which to send the log itself. */
export async function firstScreen(process: Process): Promise<FirstScreen | { readonly from: number }> {
	const { first, end } = process.log.bounds();
	const snapshot = loadSnapshot(process.dir);
	const start = snapshot && snapshot.offset >= first && snapshot.offset <= end ? snapshot.offset : first;
	if (end - start > REPLAY_BYTES) return approximate(process, end);
	return (await exact(process)) ?? { from: start === first ? first : Math.max(first, end - TAIL_BYTES) };
}

/** Replays the whole log. Returns the exact screen; undefined if it equals the one shown, or on abort. */
export async function corrected(process: Process, shown: FirstScreen, signal: AbortSignal): Promise<FirstScreen | undefined> {
	const live = new LiveScreen(process);
	try {
		const from = loadSnapshot(process.dir)?.offset ?? process.log.bounds().first;
		for (let upTo = Math.min(from + STEP_BYTES, shown.offset); ; upTo = Math.min(upTo + STEP_BYTES, shown.offset)) {
			const began = performance.now();
			const view = await live.read({ upTo });
			if (signal.aborted) return undefined;
			if (upTo >= shown.offset) {
				const { offset: _, ...rendered } = view;
				if (JSON.stringify(rendered) === JSON.stringify(shown.approximate)) return undefined;
				break;
			}
			await sleep(2 * (performance.now() - began)); // leaves most of the time to other work
		}
		return await frozen(live);
	} finally {
		live.dispose();
	}
}

async function exact(process: Process): Promise<Frozen | undefined> {
	const live = new LiveScreen(process);
	try {
		return await frozen(live);
	} finally {
		live.dispose();
	}
}

/** Retries a few times: in the middle of a sequence there is no text for the state. */
async function frozen(live: LiveScreen): Promise<Frozen | undefined> {
	for (let tries = 0; tries < TRIES; tries++) {
		await live.read();
		const found = await live.freeze();
		if (found) return found;
		await sleep(20);
	}
	return undefined;
}

/** Feeds the last part of the log, from the start of a line, to a fresh terminal. */
async function approximate(process: Process, end: number): Promise<FirstScreen | { readonly from: number }> {
	const slice = process.read(end - TAIL_BYTES, TAIL_BYTES);
	const line = slice.bytes.indexOf(10) + 1;
	const size = new Sizes(process.dir).next().findLast(({ offset }) => offset <= slice.next) ?? process.spec.terminal ?? { cols: 80, rows: 24 };
	const emulator = new Emulator(size);
	try {
		await emulator.write(slice.bytes.subarray(line));
		const state = await emulator.freeze({ untried: true });
		const rendered = emulator.render();
		if (state === undefined) return { from: slice.offset + line };
		return { offset: slice.next, cols: rendered.cols, rows: rendered.rows, title: rendered.title, state, approximate: rendered };
	} finally {
		emulator.dispose();
	}
}
