/** One process in the list. */
import type { ProcessItem } from "../../../src/doors/http/schemas.js";
import { now } from "../state/clock.js";
import { isRunning, isWaiting, nameOf } from "../state/processes.js";
import { href } from "../state/route.js";
import { ago, bytes, duration } from "../ui/format.js";
import { Glyph, StatusWords } from "../ui/status.js";

export const ListRow = ({ process, current }: { process: ProcessItem; current: boolean }) => (
	<li>
		<a class="row" href={href(["p", process.session_id])} aria-current={current ? "page" : undefined}>
			<Glyph process={process} />
			<span class="row-name mono">{nameOf(process)}</span>
			<span class="row-time">
				<Uptime process={process} />
			</span>
			<span class="row-last mono">{(isRunning(process) && process.note) || process.last_line || " "}</span>
			<span class="row-meta">
				<StatusWords process={process} />
				{isWaiting(process) && <span class="quiet">{process.task}</span>}
				{process.keyboard && <span class="hand">person typing</span>}
				<Use process={process} />
			</span>
		</a>
	</li>
);

/** Counted here, so that the server need not say so every second. */
export const secondsOf = (process: ProcessItem, at: number): number =>
	((process.ended_at ? Date.parse(process.ended_at) : at) - Date.parse(process.started_at)) / 1_000;

const Uptime = ({ process }: { process: ProcessItem }) => (
	<>{isRunning(process) ? duration(secondsOf(process, now.value)) : process.ended_at ? ago((now.value - Date.parse(process.ended_at)) / 1_000) : "–"}</>
);

const Use = ({ process }: { process: ProcessItem }) => {
	if (!process.resources || isWaiting(process)) return null;
	const { cpu_percent, memory_bytes } = process.resources;
	return (
		<span class="use">
			{cpu_percent !== null && <span>{Math.round(cpu_percent)}% cpu</span>}
			<span>{bytes(memory_bytes)}</span>
		</span>
	);
};
