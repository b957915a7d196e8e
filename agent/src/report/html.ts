/** A run as a page of one file: nothing in it is loaded from elsewhere, and it has no script. */
import { placeName, type RunItem, type RunManifest, type RunProgress } from "../run/index.js";
import type { Interval } from "./estimates.js";
import { numbersOf, type RunNumbers, rewardOf, tasksOf } from "./numbers.js";
import { bars, curve, escaped, histogram } from "./plots.js";

export interface ReportOptions {
	readonly manifest: RunManifest;
	readonly items: readonly RunItem[];
	readonly progress: RunProgress;
	/** The findings of the last look at what is left, in words; undefined: there was none yet. */
	readonly proof?: string | undefined;
}

export function reportHtml(options: ReportOptions): string {
	const { manifest, items, progress, proof } = options;
	const numbers = numbersOf(items, progress);
	const name = `${manifest.model || manifest.agent} on ${manifest.source.split("/").at(-1) ?? ""}`;
	const sections = [
		facts(options, numbers),
		`<section><h2>In numbers</h2>${table(["", ""], [...numbersText(numbers), ["Left after the run", proof ?? "not looked yet: the run is not over"]])}</section>`,
		plots(options, numbers),
		`<section><h2>Tasks</h2>${matrix(items, progress)}</section>`,
		problems(numbers),
		`<section><h2>Episodes</h2>${episodes(items, progress)}</section>`,
	];
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(name)}</title><style>${STYLE}</style></head>
<body><main><h1>${escaped(name)}</h1>${sections.join("\n")}</main></body></html>
`;
}

function facts({ manifest }: ReportOptions, { episodes, done, took }: RunNumbers): string {
	const places = (manifest.pool ?? [{ place: manifest.place }]).map(({ place }) => placeName(place));
	const words = [manifest.id, manifest.created_at, places.join(", "), `${done} of ${episodes} episodes done`, `took ${duration(took)}`];
	return `<p class="facts">${words.map((word) => `<span>${escaped(word)}</span>`).join("")}</p>`;
}

/** Numbers with their names, for people. */
export function numbersText(numbers: RunNumbers): [string, string][] {
	const { mean, solved, solvedOfAll, solvedByAttempts, tokens, cost, wall } = numbers;
	const rows: [string, string | undefined][] = [
		["Solved, errors left out", solved ? share(solved) : undefined],
		["Solved, errors as 0", solvedOfAll ? share(solvedOfAll) : undefined],
		["Mean reward of the tasks", mean ? `${mean.value.toFixed(3)} (95 %: ${mean.low.toFixed(3)} to ${mean.high.toFixed(3)})` : undefined],
		...numbers.passAt.map(({ k, rate }): [string, string] => [`pass@${k}`, percent(rate)]),
		[
			"Solved at the first attempt, and after others",
			solvedByAttempts.repeated === null
				? undefined
				: `${solvedByAttempts.first === null ? "–" : percent(solvedByAttempts.first)}, ${percent(solvedByAttempts.repeated)}`,
		],
		["Scored, recorded, errors", `${numbers.scored}, ${numbers.recorded}, ${numbers.done - numbers.scored - numbers.recorded}`],
		["Attempts that do not count", String(numbers.repeated)],
		[
			"Tokens in (of these cached), out",
			`${count(tokens.input)} (${count(tokens.cached)}), ${count(tokens.output)}${numbers.unknownUsage > 0 ? `; unknown of ${numbers.unknownUsage} attempts` : ""}`,
		],
		["Cost", cost === null ? "no prices are known" : `${cost.toFixed(4)} USD`],
		["Wall time of an episode: half, nine tenths, sum", wall ? spread(wall) : undefined],
		["Episodes that left processes, which were ended", String(numbers.leftovers)],
		["Episodes of which something could not be ended", String(numbers.notGone)],
	];
	return rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

function plots({ items, progress }: ReportOptions, { passAt, tools }: RunNumbers): string {
	const rows = [...progress.results.values()];
	const rewards = tasksOf(items, progress).flatMap((task) =>
		task.rewards.length === 0 ? [] : [task.rewards.reduce((sum, one) => sum + one, 0) / task.rewards.length],
	);
	const figure = (title: string, drawing: string): string => `<figure><figcaption>${escaped(title)}</figcaption>${drawing}</figure>`;
	const drawn = [
		rewards.length > 0
			? figure(
					"Mean reward of the tasks",
					histogram("Mean reward of the tasks", [...rewards], (value) => value.toFixed(2)),
				)
			: "",
		passAt.length > 1
			? figure(
					"Solved within k attempts (pass@k)",
					curve(
						"pass@k",
						passAt.map(({ rate }) => rate),
					),
				)
			: "",
		rows.length > 0
			? figure(
					"Wall time of episodes",
					histogram(
						"Wall time of episodes",
						rows.map(({ seconds }) => seconds),
						duration,
					),
				)
			: "",
		rows.length > 0
			? figure(
					"Tokens of episodes",
					histogram(
						"Tokens of episodes",
						rows.map(({ usage }) => usage.input + usage.output),
						(value) => count(Math.round(value)),
					),
				)
			: "",
		tools.length > 0
			? figure(
					"Calls of tools, failed ones beside",
					bars(
						"Calls of tools",
						tools.map((tool) => ({ name: tool.tool, count: tool.count, bad: tool.failure })),
					),
				)
			: "",
	];
	return `<section class="plots">${drawn.join("")}</section>`;
}

/** A row for each task, a cell for each repeat. */
function matrix(items: readonly RunItem[], progress: RunProgress): string {
	const tasks = new Map<string, RunItem[]>();
	for (const item of items) tasks.set(`${item.key} ${item.digest}`, [...(tasks.get(`${item.key} ${item.digest}`) ?? []), item]);
	const rows = [...tasks.values()].map((repeats) => {
		const cells = repeats.map((item) => {
			const { kind, words } = stateOf(progress, item.index);
			return `<a class="cell ${kind}" href="#e${item.index}" title="${escaped(`${item.key}, repeat ${item.repeat + 1}: ${words}`)}">${escaped(cellText(progress, item.index))}</a>`;
		});
		return `<tr><th scope="row">${escaped(repeats[0]?.key ?? "")}</th><td class="cells">${cells.join("")}</td></tr>`;
	});
	return `<div class="wide"><table class="matrix"><tbody>${rows.join("")}</tbody></table></div>`;
}

function problems({ codes, ends }: RunNumbers): string {
	const listed = (all: Readonly<Record<string, number>>): string[][] => Object.entries(all).map(([name, times]) => [name, String(times)]);
	const errors = Object.keys(codes).length === 0 ? "<p>No errors.</p>" : table(["Error", "Episodes"], listed(codes));
	return `<section><h2>Ends</h2><div class="pair">${table(["Why the agent stopped", "Episodes"], listed(ends))}${errors}</div></section>`;
}

function episodes(items: readonly RunItem[], progress: RunProgress): string {
	const rows = items.map(({ index, key, repeat }) => {
		const result = progress.results.get(index);
		const { kind, words } = stateOf(progress, index);
		const cells = [
			String(index),
			`${key} · ${repeat + 1}`,
			String(progress.attempts.get(index) ?? 0),
			result ? `${result.seconds} s` : "",
			result ? count(result.usage.input + result.usage.output) : "",
		];
		return `<tr id="e${index}">${cells.map((cell) => `<td>${escaped(cell)}</td>`).join("")}<td class="${kind}">${escaped(words)}</td></tr>`;
	});
	const head = ["Index", "Task · repeat", "Attempts", "Time", "Tokens", "Outcome"];
	return `<div class="wide"><table><thead><tr>${head.map((name) => `<th scope="col">${name}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

function stateOf({ results, open }: RunProgress, index: number): { readonly kind: string; readonly words: string } {
	const outcome = results.get(index)?.outcome;
	if (!outcome) return open.has(index) ? { kind: "open", words: "under way, or its program is gone" } : { kind: "open", words: "waits" };
	if (outcome.kind === "error") return { kind: "error", words: `error ${outcome.of}/${outcome.code}: ${outcome.words.slice(0, 300)}` };
	if (outcome.kind === "recorded") return { kind: "recorded", words: `recorded (${outcome.end})` };
	const reward = rewardOf(outcome);
	return {
		kind: reward === 1 ? "solved" : reward > 0 ? "part" : "failed",
		words: `${reward} (${outcome.end})${outcome.score.tamperable ? `; tamperable: ${outcome.score.tamperable}` : ""}`,
	};
}

function cellText({ results }: RunProgress, index: number): string {
	const outcome = results.get(index)?.outcome;
	if (!outcome) return "·";
	return outcome.kind === "error" ? "!" : outcome.kind === "recorded" ? "r" : String(Math.round(rewardOf(outcome) * 100) / 100);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
	const top = head.some((cell) => cell !== "") ? `<thead><tr>${head.map((cell) => `<th scope="col">${escaped(cell)}</th>`).join("")}</tr></thead>` : "";
	const body = rows.map(
		([first = "", ...others]) => `<tr><th scope="row">${escaped(first)}</th>${others.map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`,
	);
	return `<table>${top}<tbody>${body.join("")}</tbody></table>`;
}

export const percent = (rate: number): string => `${(rate * 100).toFixed(1)} %`;
const share = ({ value, low, high }: Interval): string => `${percent(value)} (95 %: ${percent(low)} to ${percent(high)})`;
const count = (value: number): string => value.toLocaleString("en-US");
const spread = ({ p50, p90, total }: { readonly p50: number; readonly p90: number; readonly total: number }): string =>
	`${duration(p50)}, ${duration(p90)}, ${duration(total)}`;

export function duration(seconds: number): string {
	if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`;
	if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
	return `${Math.floor(seconds / 3_600)} h ${Math.round((seconds % 3_600) / 60)} min`;
}

const STYLE = `
:root{color-scheme:light dark;--ground:#fff;--ink:#1b1d21;--quiet:#5b616b;--line:#d9dce1;--bar:#3564c4;--solved:#176f39;--part:#855900;--failed:#b3261e;--error:#7a3ca3}
@media (prefers-color-scheme:dark){:root{--ground:#15171a;--ink:#e6e8eb;--quiet:#a3a9b3;--line:#33373e;--bar:#7fa5f5;--solved:#6fd08f;--part:#e0b450;--failed:#ff9d94;--error:#d3a3f2}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:1.5rem 1rem 4rem}h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}
.facts{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:0;color:var(--quiet)}
table{border-collapse:collapse}th,td{padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;font-weight:400;overflow-wrap:anywhere}
thead th{color:var(--quiet)}.wide{overflow-x:auto}.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1.5rem;margin-top:1.5rem}
figure{margin:0}figcaption{color:var(--quiet)}svg{width:100%;height:auto}svg text{fill:var(--quiet);font-size:11px}svg line{stroke:var(--line)}svg rect,svg circle{fill:var(--bar)}svg rect.bad{fill:var(--failed)}svg polyline{fill:none;stroke:var(--bar);stroke-width:2}
.pair{display:flex;flex-wrap:wrap;gap:1rem 3rem;align-items:flex-start}.cells{display:flex;flex-wrap:wrap;gap:.25rem}.cell{min-width:2.4rem;padding:.1rem .4rem;border:1px solid currentColor;border-radius:.3rem;text-align:center;text-decoration:none}
.open{color:var(--quiet)}.solved{color:var(--solved)}.part{color:var(--part)}.failed{color:var(--failed)}.error{color:var(--error)}.recorded{color:var(--bar)}tr:target{outline:2px solid var(--bar)}`;
