/**
 * The life of a slot, as a tagged union with a pure step. `slot.ts` looks and acts; what follows from what was seen is decided here.
 *
 *   free ──begun──▶ running ──end──▶ ended ──pipe──▶ drained ──released──▶ free       the pipe is no process's, so the log goes on with the next command
 *                      │                                  ├───────────────▶ kept       something may still print, or the log is to be found by its id
 *                      ├──unsent──▶ free                  └───────────────▶ full       it has served enough
 *                      └──left─────▶ kept                                              no caller waits for its end any longer
 */
import { COMMANDS_PER_SLOT } from "../base/index.js";
import type { Drained } from "../keeper/index.js";

/** A slot serves so many bytes, so that those of a big command are not crowded out of the ring by those before it. */
const FULL_BYTES = 1024 * 1024;

/** How often its pipe was closed by the last writer, and how long its log is. */
interface Mark {
	readonly ends: number;
	readonly bytes: number;
}

export type SlotState =
	/** The slot waits for a command. */
	| { readonly kind: "free"; readonly served: number; readonly mark: Mark }
	/** A command was put here; the shell has it, or is about to get it. */
	| { readonly kind: "running"; readonly served: number; readonly mark: Mark }
	/** The shell has recorded the end. What was printed before may be in the pipe still. */
	| { readonly kind: "ended"; readonly served: number; readonly mark: Mark; readonly code: number; readonly cwd: string }
	/** All of that is in the log. `alone`: after the end no process had the pipe open, so nothing can be printed there any more. */
	| {
			readonly kind: "drained";
			readonly served: number;
			readonly mark: Mark;
			readonly code: number;
			readonly cwd: string;
			readonly alone: false;
	  }
	| {
			readonly kind: "drained";
			readonly served: number;
			readonly mark: Mark;
			readonly code: number;
			readonly cwd: string;
			readonly alone: true;
			/** The command's part of the log is from `mark.bytes` up to here. */
			readonly now: Mark;
	  }
	/** The slot belongs to its command for good. */
	| { readonly kind: "kept" }
	/** The slot serves no more commands; those it has served stay readable. */
	| { readonly kind: "full" };

export type SlotEvent =
	/** A look at a free slot, before a command is put there: what was counted until now is not the command's. */
	| { readonly kind: "idle"; readonly drained: Drained | undefined }
	| { readonly kind: "begun" }
	/** The shell never took the command, which is certain. */
	| { readonly kind: "unsent" }
	| { readonly kind: "end"; readonly code: number; readonly cwd: string }
	/**
	 * A look at the pipe's copier: first whether it sleeps, then what it says. `drained` is undefined where the copier is a dd, which cannot say that it has seen
	 * an end and go on.
	 */
	| { readonly kind: "pipe"; readonly asleep: boolean; readonly drained: Drained | undefined }
	/**
	 * The caller has read the output. `clean`: nothing in the directory is of this command alone (a cursor, a mark of a kill, a limit that was met). `traceless`: it
	 * has printed nothing and started nothing, so it has left no trace here, and its id goes to the next one.
	 */
	| { readonly kind: "released"; readonly keep: boolean; readonly clean: boolean; readonly traceless: boolean }
	/** No caller waits for the command any longer. */
	| { readonly kind: "left" };

export const FRESH: SlotState = { kind: "free", served: 0, mark: { ends: 0, bytes: 0 } };

/** Returns the state after something was seen. What cannot follow changes nothing. */
export function step(state: SlotState, seen: SlotEvent): SlotState {
	if (state.kind === "kept" || state.kind === "full") return state;
	switch (seen.kind) {
		case "idle":
			if (state.kind !== "free" || !seen.drained || seen.drained.kind === "dd") return state;
			return { ...state, mark: { ends: seen.drained.ends, bytes: seen.drained.bytes } };
		case "begun":
			return state.kind === "free" ? { kind: "running", served: state.served + 1, mark: state.mark } : state;
		case "unsent":
			return state.kind === "running" ? { kind: "free", served: state.served - 1, mark: state.mark } : state;
		case "end":
			return state.kind === "running" ? { kind: "ended", served: state.served, mark: state.mark, code: seen.code, cwd: seen.cwd } : state;
		case "pipe":
			return state.kind === "ended" ? afterLook(state, seen) : state;
		case "released":
			return state.kind === "drained" ? afterRelease(state, seen) : { kind: "kept" };
		case "left":
			return { kind: "kept" };
	}
}

/**
 * bash closes its own copy of the pipe before it records the end. That wakes the copier, so one that sleeps afterwards has taken all there was: either it has counted
 * the closing, or another process has the pipe open.
 */
function afterLook(state: Extract<SlotState, { kind: "ended" }>, { asleep, drained }: Extract<SlotEvent, { kind: "pipe" }>): SlotState {
	if (drained && drained.kind !== "dd" && drained.ends > state.mark.ends && drained.kind === "eof")
		return { ...state, kind: "drained", alone: true, now: { ends: drained.ends, bytes: drained.bytes } };
	return asleep && drained?.kind !== "wait" ? { ...state, kind: "drained", alone: false } : state;
}

function afterRelease(state: Extract<SlotState, { kind: "drained" }>, { keep, clean, traceless }: Extract<SlotEvent, { kind: "released" }>): SlotState {
	if (keep || !clean) return { kind: "kept" };
	if (!state.alone) return traceless ? { kind: "free", served: state.served - 1, mark: state.mark } : { kind: "kept" };
	return state.served >= COMMANDS_PER_SLOT || state.now.bytes > FULL_BYTES ? { kind: "full" } : { kind: "free", served: state.served, mark: state.now };
}
