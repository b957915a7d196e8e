import { spawn } from "node:child_process";
import { once } from "node:events";
import { testRuntime } from "holdfast/testing";
import { expect, it } from "vitest";
import type { Outcome } from "../../src/episode/index.js";
import { type LedgerRow, progressOf } from "../../src/run/ledger.js";
import { isClean, keptIn, prove } from "../../src/run/proof.js";
import { summaryOf, wilson } from "../../src/run/summary.js";
import { atEnd, tempDir } from "../support/dirs.js";

const start = (index: number, attempt = 1): LedgerRow => ({ t: "start", at: "", index, attempt, key: "k", digest: "d", task: `t/${index}.${attempt}` });
const result = (index: number, outcome: Outcome, attempt = 1): LedgerRow => ({
	...{ t: "result", at: "", index, attempt, outcome, conversation: null, seconds: 1, ended: [], gone: true },
	usage: { input: 10, output: 2 },
	tools: [{ tool: "terminal", count: 2, failure: 1 }],
});
const scored = (reward: number): Outcome => ({ kind: "scored", score: { reward, evidence: [] }, end: "finished" });

it("rates are those of a table that was worked out by hand", () => {
	const rows = [start(0), result(0, scored(1)), start(1), result(1, scored(0)), start(2), start(2, 2), result(2, scored(1), 2), start(3)];
	rows.push(result(3, { kind: "error", of: "model", code: "failed", words: "x", again: false }), start(4));
	const summary = summaryOf(6, progressOf(rows));
	expect(summary).toMatchObject({ episodes: 6, done: 4, scored: 3, errors: { model: 1 }, repeated: 1, tokens: { input: 40, output: 8 } });
	expect(summary.mean).toBeCloseTo(2 / 3);
	expect(summary.solvedOfAll).toBe(0.5);
	expect(summary.tools).toEqual([{ tool: "terminal", count: 8, failure: 4 }]);
	expect(wilson(8, 10)).toMatchObject({ low: expect.closeTo(0.4902, 4), high: expect.closeTo(0.9433, 4) });
	expect(summaryOf(1, progressOf([]))).toMatchObject({ mean: null, solved: null, solvedOfAll: null });
});

it("two results for one index are damage", () => {
	expect(() => progressOf([start(0), result(0, scored(1)), result(0, scored(0))])).toThrow(/two results for episode 0/);
});

it("the proof finds a process in the run's folder that no task has; what is kept is no clean end either", async () => {
	const folder = tempDir("proof");
	const runtime = await testRuntime({ warm: 0 });
	atEnd(() => runtime.close());
	expect(isClean(await prove(keptIn(runtime), [folder]))).toBe(true);
	const kept = await runtime.task("leaks").spawn({ command: "sleep 3600" });
	expect(keptIn(runtime)).toEqual([expect.stringContaining(kept.id)]);
	expect(isClean({ control: true, kept: keptIn(runtime), processes: [] })).toBe(false);
	await runtime.endTask("leaks");
	const stray = spawn("sleep", ["3600"], { cwd: folder, stdio: "ignore" });
	atEnd(() => stray.kill("SIGKILL"));
	await once(stray, "spawn");
	const proof = await prove([], [folder], 0);
	expect(proof).toEqual({ control: true, kept: [], processes: [expect.stringContaining(`${stray.pid} sleep 3600`)] });
	expect(isClean(proof)).toBe(false);
	stray.kill("SIGKILL");
	await once(stray, "exit");
});
