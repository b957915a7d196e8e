/** The run: its numbers and a cell for each episode. */
import type { PartHost } from "holdfast/http";
import type { EpisodeCell, RunView } from "../../../src/view/messages.js";
import { Icon } from "../ui/icon.js";
import { Episode } from "./episode.js";
import type { RunStore } from "./store.js";

export interface Around {
	readonly host: PartHost<HTMLElement>;
	readonly store: RunStore;
}

/** In a cell; its title says it in words. */
const SIGNS: Readonly<Record<EpisodeCell["state"], string>> = {
	waits: "·",
	open: "…",
	gone: "?",
	solved: "1",
	part: "",
	failed: "0",
	recorded: "r",
	error: "!",
};

export function RunPage({ host, store }: Around) {
	const run = store.run.value;
	return (
		<div class="run-page">
			{store.problem.value !== undefined && <p class="ag-lost">{store.problem.value}</p>}
			{!run ? (
				<p class="ag-note">Loading …</p>
			) : store.shown.value === undefined ? (
				<Run host={host} store={store} run={run} />
			) : (
				<Episode host={host} store={store} run={run} />
			)}
		</div>
	);
}

function Run({ host, store, run }: Around & { run: RunView }) {
	const rows = new Map<string, EpisodeCell[]>();
	for (const cell of run.cells) rows.set(`${cell.key} ${cell.digest}`, [...(rows.get(`${cell.key} ${cell.digest}`) ?? []), cell]);
	const state = run.runner === null ? "no program runs it" : run.paused ? `paused (pid ${run.runner})` : `runs (pid ${run.runner})`;
	return (
		<div class="run-body">
			<header class="run-head">
				<div>
					<h1>{run.name}</h1>
					<p class="run-facts">
						{[`${run.done} of ${run.cells.length} done`, state, ...run.facts].map((fact) => (
							<span key={fact}>{fact}</span>
						))}
					</p>
				</div>
				{run.done < run.cells.length && (
					<button type="button" class="button" onClick={() => void store.ask({ do: run.paused ? "continue" : "pause" })}>
						{run.paused ? "Go on" : "Pause"}
					</button>
				)}
			</header>
			<progress class="run-progress" max={run.cells.length} value={run.done} aria-label="Episodes done" />
			{run.proof && <p class={run.clean ? "run-proof good" : "run-proof bad"}>{run.proof.join("; ")}</p>}
			<section aria-label="Episodes">
				<h2>Episodes</h2>
				{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
				<div class="run-wide" tabIndex={0}>
					<table class="run-matrix">
						<tbody>
							{[...rows].map(([name, cells]) => (
								<tr key={name}>
									<th scope="row">{cells[0]?.key}</th>
									<td>
										{cells.map((cell) => (
											<a
												key={cell.index}
												class={`run-cell ${cell.state}`}
												href={host.href([String(cell.index)])}
												title={`repeat ${cell.repeat + 1}: ${cell.words}`}
												aria-label={`episode ${cell.index}, ${cell.key}, repeat ${cell.repeat + 1}: ${cell.words}`}
											>
												{cell.state === "part" ? String(Math.round((cell.reward ?? 0) * 100) / 100) : SIGNS[cell.state]}
											</a>
										))}
									</td>
								</tr>
							))}
						</tbody>
					</table>
				</div>
				<p class="ag-note">1 solved · 0 not solved · … under way · r recorded · ! error · ? its program is gone · a dot waits</p>
			</section>
			<section aria-label="Numbers">
				<h2>In numbers</h2>
				<dl class="run-numbers">
					{run.numbers.map(([name, value]) => (
						<div key={name}>
							<dt>{name}</dt>
							<dd>{value}</dd>
						</div>
					))}
				</dl>
			</section>
		</div>
	);
}

export const Back = ({ host }: { host: PartHost<HTMLElement> }) => (
	<a class="button bare icon" href={host.href([])} aria-label="Back to the run">
		<Icon name="back" />
	</a>
);
