/** `compare A B`: two runs beside each other, pair by pair. */
import path from "node:path";
import { AgentError } from "../../base/index.js";
import { compareRuns, type Flip, type Interval } from "../../report/index.js";
import { readProgress, readRun } from "../../run/index.js";
import type { Output } from "../output.js";
import type { Call } from "../table.js";

const MOST = 50;

export async function run({ words, out }: Call): Promise<number> {
	const [first, second] = words;
	if (first === undefined || second === undefined) throw new AgentError("INVALID", "say which two runs: their folders");
	const [one, other] = [first, second].map((dir) => ({ ...readRun(path.resolve(dir)), progress: readProgress(path.resolve(dir)) }));
	if (!one || !other) return 1;
	const found = compareRuns(one, other);
	if (out.json) {
		out.data(found);
		return 0;
	}
	out.line(`A  ${first}  ${one.manifest.model || one.manifest.agent}`);
	out.line(`B  ${second}  ${other.manifest.model || other.manifest.agent}`);
	out.line();
	out.line(
		`${found.better.length} solved by B alone, ${found.worse.length} by A alone, of ${found.pairs} pairs that both have scored (p = ${found.p.toFixed(3)}, McNemar)`,
	);
	printFlips(out, "B alone", found.better);
	printFlips(out, "A alone", found.worse);
	out.line();
	printChange(out, "reward", found.reward, 3);
	printChange(out, "seconds", found.seconds, 1);
	printChange(out, "tokens", found.tokens, 0);
	printChange(out, "USD", found.cost, 4);
	for (const { key, repeat, first: a, second: b } of found.unscored.slice(0, MOST)) out.line(`not compared: ${key} · ${repeat + 1}: ${a} in A, ${b} in B`);
	printNames(out, "only in A", found.onlyFirst);
	printNames(out, "only in B", found.onlySecond);
	printNames(out, "not the same task in both", found.changed);
	return 0;
}

function printFlips(out: Output, what: string, flips: readonly Flip[]): void {
	for (const { key, repeat, first, second } of flips.slice(0, MOST))
		out.line(`  ${what}: ${key} · ${repeat + 1}  ${first.reward} (episode ${first.index}) → ${second.reward} (episode ${second.index})`);
	if (flips.length > MOST) out.line(`  … and ${flips.length - MOST} more; --json has all`);
}

function printChange(out: Output, what: string, change: Interval | null, digits: number): void {
	if (!change) return;
	const signed = (value: number): string => `${value > 0 ? "+" : ""}${value.toFixed(digits)}`;
	out.line(`B less A, ${what}: ${signed(change.value)} (95 %: ${signed(change.low)} to ${signed(change.high)})`);
}

function printNames(out: Output, what: string, names: readonly string[]): void {
	if (names.length > 0) out.line(`${what}: ${names.slice(0, MOST).join(", ")}${names.length > MOST ? `, and ${names.length - MOST} more` : ""}`);
}
