/** A run in words: a line for each result, and the numbers at the end. */
import type { Outcome } from "../../episode/index.js";
import { isClean, type Proof, type RunEvent, type RunSummary } from "../../run/index.js";
import type { Output } from "../output.js";

export function resultLine(
	out: Output,
	{ index, key, attempt, again, outcome, seconds, ended }: Extract<RunEvent, { type: "result" }>,
	episodes: number,
): string {
	const which = `${String(index + 1).padStart(String(episodes).length)}/${episodes}  ${key}${attempt > 1 ? ` (attempt ${attempt})` : ""}`;
	const left = ended.filter((line) => line.startsWith("proc_")).length;
	return `${which}  ${outcomeText(out, outcome)}  ${seconds} s${left > 0 ? `, ${left} left processes ended` : ""}${again ? ", is tried again" : ""}`;
}

export function outcomeText(out: Output, outcome: Outcome): string {
	if (outcome.kind === "error") return out.style("red", `error (${outcome.of}, ${outcome.code}): ${outcome.words}`);
	const end = outcome.end === "finished" ? "" : ` (${outcome.end})`;
	if (outcome.kind === "recorded") return `recorded${end}`;
	const { reward, tamperable } = outcome.score;
	return out.style(reward === 1 ? "green" : "yellow", `${reward}${end}${tamperable === undefined ? "" : " (tamperable)"}`);
}

export function printSummary(out: Output, summary: RunSummary, proof?: Proof): void {
	const { episodes, done, scored, recorded, errors, mean, solved, solvedOfAll, tokens, cost, tools, repeated, leftovers, notGone } = summary;
	const failed = Object.entries(errors).map(([of, count]) => `${count} ${of}`);
	out.line();
	out.line(
		`${done} of ${episodes} done: ${scored} scored, ${recorded} recorded, ${failed.length > 0 ? `errors ${failed.join(", ")}` : "no errors"}; ${repeated} repeated attempts`,
	);
	if (mean !== null && solved)
		out.line(
			`reward ${mean.toFixed(3)}, solved ${percent(solved.rate)} (95 %: ${percent(solved.low)} to ${percent(solved.high)}), with errors as 0: ${percent(solvedOfAll ?? 0)}`,
		);
	out.line(`${tokens.input} tokens in, ${tokens.output} out${cost === null ? "" : `, ${cost.toFixed(4)} USD`}`);
	for (const { tool, count, failure } of tools) out.line(`  ${tool}: ${count} calls, ${failure} failed`);
	if (leftovers > 0) out.line(`${leftovers} episodes had processes left, which were ended`);
	if (notGone > 0) out.line(out.style("red", `of ${notGone} episodes something could not be ended`));
	if (!proof) return;
	if (isClean(proof)) out.line(out.style("green", "nothing is left: the look found what was planted for it, and nothing else"));
	else if (!proof.control) out.line(out.style("red", "not proven: the look did not find the process that was planted for it"));
	else for (const line of [...proof.kept, ...proof.processes]) out.line(out.style("red", `left: ${line}`));
}

const percent = (rate: number): string => `${(rate * 100).toFixed(1)} %`;
