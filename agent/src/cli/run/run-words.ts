/** A run in words: what happens, how episodes ended, and the numbers at the end. */
import type { Outcome } from "../../episode/index.js";
import { type Interval, type RunNumbers, rewardOf } from "../../report/index.js";
import { isClean, type Proof, proofWords, type RunEvent } from "../../run/index.js";
import type { Output } from "../output.js";

/** Undefined: nothing that a person has to be told. */
export function eventLine(out: Output, event: RunEvent, episodes: number): string | undefined {
	switch (event.type) {
		case "recovered":
			return `episode ${event.index}, attempt ${event.attempt}: its program was gone; ended ${event.ended.join(", ") || "nothing"}`;
		case "stopped":
			return `episode ${event.index}, attempt ${event.attempt}: stopped; ended ${event.ended.join(", ") || "nothing"}${event.gone ? "" : out.style("red", ", and something is left")}`;
		case "result":
			return resultLine(out, event, episodes);
		case "requeued":
			return `episode ${event.index}: taken back, and is made again`;
		case "rescored": {
			const before = outcomeText(out, event.before);
			if (event.problem !== undefined) return `episode ${event.index}: cannot be scored again and stays ${before}: ${event.problem}`;
			return `episode ${event.index}: was ${before}, is ${outcomeText(out, event.outcome)}`;
		}
		case "paused":
			return "paused: nothing starts; what runs goes on";
		case "continued":
			return "goes on";
		case "concurrency":
			return `${event.concurrency} episodes at a time from now on`;
		case "held":
			return out.style("yellow", `nothing starts: ${event.why}; it goes on by itself when there is room`);
		case "room":
			return "there is room again: episodes start";
		case "note":
			return event.text;
		case "start":
		case "proof":
			return undefined;
	}
}

export function resultLine(
	out: Output,
	{ index, key, attempt, again, outcome, seconds, ended }: Extract<RunEvent, { type: "result" }>,
	episodes: number,
): string {
	const which = `${String(index).padStart(String(episodes).length)}  ${key}${attempt > 1 ? ` (attempt ${attempt})` : ""}`;
	const left = ended.filter((line) => line.startsWith("proc_")).length;
	return `${which}  ${outcomeText(out, outcome)}  ${seconds} s${left > 0 ? `, ${left} left processes ended` : ""}${again ? ", is tried again" : ""}`;
}

export function outcomeText(out: Output, outcome: Outcome): string {
	if (outcome.kind === "error") return out.style("red", `error (${outcome.of}, ${outcome.code}): ${outcome.words}`);
	const end = outcome.end === "finished" ? "" : ` (${outcome.end})`;
	if (outcome.kind === "recorded") return `recorded${end}`;
	const reward = rewardOf(outcome);
	return out.style(reward === 1 ? "green" : "yellow", `${reward}${end}${outcome.score.tamperable === undefined ? "" : " (tamperable)"}`);
}

export function printSummary(out: Output, numbers: RunNumbers, proof?: Proof): void {
	const { episodes, done, scored, recorded, errors, mean, solved, solvedOfAll, passAt, tokens, cost, tools, repeated, leftovers, notGone, wall } = numbers;
	const failed = Object.entries(errors).map(([of, count]) => `${count} ${of}`);
	out.line();
	out.line(
		`${done} of ${episodes} done: ${scored} scored, ${recorded} recorded, ${failed.length > 0 ? `errors ${failed.join(", ")}` : "no errors"}; ${repeated} repeated attempts`,
	);
	if (mean && solved && solvedOfAll) {
		out.line(`solved ${share(solved)}, with errors as 0: ${percent(solvedOfAll.value)}`);
		out.line(`reward ${mean.value.toFixed(3)} (95 %: ${mean.low.toFixed(3)} to ${mean.high.toFixed(3)})`);
	}
	if (passAt.length > 1) out.line(passAt.map(({ k, rate }) => `pass@${k} ${percent(rate)}`).join(", "));
	out.line(`${tokens.input} tokens in, ${tokens.output} out${cost === null ? "" : `, ${cost.toFixed(4)} USD`}`);
	if (wall) out.line(`an episode took ${ageText(wall.p50)} (half of them at most), ${ageText(wall.p90)} (nine of ten)`);
	for (const { tool, count, failure } of tools) out.line(`  ${tool}: ${count} calls, ${failure} failed`);
	if (leftovers > 0) out.line(`${leftovers} episodes had processes left, which were ended`);
	if (notGone > 0) out.line(out.style("red", `of ${notGone} episodes something could not be ended`));
	if (proof)
		out.line(
			proofWords(proof)
				.map((line) => out.style(isClean(proof) ? "green" : "red", line))
				.join("\n"),
		);
}

export const percent = (rate: number): string => `${(rate * 100).toFixed(1)} %`;
const share = ({ value, low, high }: Interval): string => `${percent(value)} (95 %: ${percent(low)} to ${percent(high)})`;

export function ageText(seconds: number): string {
	if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`;
	if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
	return `${Math.floor(seconds / 3_600)} h ${Math.round((seconds % 3_600) / 60)} min`;
}
