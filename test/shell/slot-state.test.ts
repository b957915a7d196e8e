/** The life of a slot: what follows from what was seen. */
import { expect, test } from "vitest";
import type { Drained } from "../../src/keeper/layout.js";
import { FRESH, type SlotEvent, type SlotState, step } from "../../src/shell/slot-state.js";
import { rounds, seeded } from "../support/seed.js";

const eof = (ends: number, bytes: number): Drained => ({ kind: "eof", ends, bytes });
const END: SlotEvent = { kind: "end", code: 0, cwd: "/" };
const RELEASED: SlotEvent = { kind: "released", keep: false, clean: true, traceless: false };
const after = (...seen: SlotEvent[]): SlotState => seen.reduce(step, FRESH);

test("a slot whose pipe was closed after the end serves the next command, whose output begins where the log ends", () => {
	const free = after({ kind: "begun" }, END, { kind: "pipe", asleep: false, drained: eof(1, 7) }, RELEASED);
	expect(free).toEqual({ kind: "free", served: 1, mark: { ends: 1, bytes: 7 } });
	expect(step(free, { kind: "begun" })).toEqual({ kind: "running", served: 2, mark: { ends: 1, bytes: 7 } });
});

test("a closing that was counted before the command is not its own", () => {
	const second = step(after({ kind: "begun" }, END, { kind: "pipe", asleep: false, drained: eof(1, 7) }, RELEASED), { kind: "begun" });
	const ended = step(second, END);
	expect(step(ended, { kind: "pipe", asleep: false, drained: eof(1, 7) })).toEqual(ended);
	expect(step(ended, { kind: "pipe", asleep: true, drained: eof(1, 7) })).toMatchObject({ kind: "drained", alone: false });
});

test("what was counted before the command was put here is not its own", () => {
	const state = after({ kind: "idle", drained: eof(1, 3) }, { kind: "begun" }, END, { kind: "pipe", asleep: false, drained: eof(1, 3) });
	expect(state).toMatchObject({ kind: "ended", mark: { ends: 1, bytes: 3 } });
	expect(step(state, { kind: "pipe", asleep: false, drained: eof(2, 5) })).toMatchObject({ kind: "drained", alone: true, now: { ends: 2, bytes: 5 } });
});

test("a pipe that a process still has open keeps the slot for its command", () => {
	const held = after({ kind: "begun" }, END, { kind: "pipe", asleep: true, drained: { kind: "open", ends: 0, bytes: 0 } });
	expect(held).toMatchObject({ kind: "drained", alone: false });
	expect(step(held, RELEASED)).toEqual({ kind: "kept" });
});

test("a copier that waits for room has not taken all, though it sleeps", () => {
	const ended = after({ kind: "begun" }, END);
	expect(step(ended, { kind: "pipe", asleep: true, drained: { kind: "wait", ends: 0, bytes: 4096 } })).toEqual(ended);
});

test("without a copier only a command that left no trace gives its slot back, and its id", () => {
	const drained = after({ kind: "begun" }, END, { kind: "pipe", asleep: true, drained: undefined });
	expect(step(drained, RELEASED)).toEqual({ kind: "kept" });
	expect(step(drained, { ...RELEASED, traceless: true } as SlotEvent)).toEqual(FRESH);
	expect(after({ kind: "begun" }, END, { kind: "pipe", asleep: true, drained: { kind: "dd" } }, RELEASED)).toEqual({ kind: "kept" });
});

test("what is to be found by its id, or left files of its own, keeps the slot", () => {
	const drained = after({ kind: "begun" }, END, { kind: "pipe", asleep: false, drained: eof(1, 0) });
	expect(step(drained, { ...RELEASED, keep: true } as SlotEvent)).toEqual({ kind: "kept" });
	expect(step(drained, { ...RELEASED, clean: false } as SlotEvent)).toEqual({ kind: "kept" });
});

test("a slot is full after a megabyte, and after as many commands as it has ids", () => {
	expect(after({ kind: "begun" }, END, { kind: "pipe", asleep: false, drained: eof(1, 1024 * 1024 + 1) }, RELEASED)).toEqual({ kind: "full" });
	let state: SlotState = FRESH;
	for (let served = 1; served <= 256; served++) {
		expect(state.kind).toBe("free");
		state = [{ kind: "begun" }, END, { kind: "pipe", asleep: false, drained: eof(served, served) }, RELEASED].reduce(
			(at, seen) => step(at, seen as SlotEvent),
			state,
		);
	}
	expect(state).toEqual({ kind: "full" });
});

test("a command that the shell never took leaves the slot as it was", () => {
	expect(after({ kind: "begun" }, { kind: "unsent" })).toEqual(FRESH);
});

test("whatever is seen, in any order: a slot is free again only after an end and a closing that came after the one before", () => {
	const random = seeded("slot-state");
	const below = (most: number) => Math.floor(random() * most);
	for (let round = 0; round < rounds(300, 20_000); round++) {
		let state: SlotState = FRESH;
		let ends = 0;
		for (let count = 0; count < 30; count++) {
			const before = state;
			ends += below(2);
			const drained = [undefined, { kind: "dd" }, eof(ends, ends), { kind: "open", ends, bytes: ends }, { kind: "wait", ends, bytes: ends }][below(5)] as
				| Drained
				| undefined;
			const flag = () => below(2) === 0;
			const seen = [
				{ kind: "begun" },
				{ kind: "unsent" },
				END,
				{ kind: "pipe", asleep: flag(), drained },
				{ kind: "released", keep: flag(), clean: flag(), traceless: flag() },
				{ kind: "left" },
			][below(6)] as SlotEvent;
			state = step(before, seen);
			if (before.kind === "kept" || before.kind === "full") expect(state).toEqual(before);
			if (state.kind === "free" && before.kind !== "free") {
				expect([seen.kind, before.kind]).toEqual(before.kind === "running" ? ["unsent", "running"] : ["released", "drained"]);
				if (before.kind === "drained" && before.alone) expect(before.now.ends).toBeGreaterThan(before.mark.ends);
				else if (before.kind === "drained") expect(seen).toMatchObject({ traceless: true });
			}
			if (state.kind === "drained" && state.alone && before.kind !== "drained") expect(before.kind).toBe("ended");
		}
	}
});
