/** Everything about a process that fits into words. */
import { visible } from "../../../src/base/text.js";
import type { ProcessDetail, ProcessItem } from "../../../src/doors/http/schemas.js";
import { now } from "../state/clock.js";
import { statusWords } from "../state/processes.js";
import { href } from "../state/route.js";
import { readable } from "../terminal/view.js";
import { Button } from "../ui/button.js";
import { copy } from "../ui/clipboard.js";
import { bytes, clock, duration } from "../ui/format.js";
import { secondsOf } from "./list-row.js";

export function Details({ detail, process, onReadable }: { detail: ProcessDetail; process: ProcessItem; onReadable: () => void }) {
	const { resources } = process;
	const facts: [string, string | undefined | null][] = [
		["Directory", process.cwd],
		["Place", process.place],
		["Task", process.task],
		["Id", process.session_id],
		["Pid", process.pid?.toString()],
		["State", statusWords(process)],
		["Exit code", process.exit_code?.toString()],
		["Evidence", process.waiting_evidence],
		["Started", new Date(process.started_at).toLocaleString()],
		["Ended", process.ended_at && new Date(process.ended_at).toLocaleString()],
		["Ran", duration(secondsOf(process, now.value))],
		["Last output", process.last_output_at && clock(process.last_output_at)],
		["Terminal", process.pty ? `${detail.cols} × ${detail.rows} at the start` : "none (a pipe)"],
		["Log", `${bytes(process.total_bytes)}${process.first_offset > 0 ? `, the first ${bytes(process.first_offset)} are gone` : ""}`],
		[
			"Uses",
			resources &&
				`${resources.processes} ${resources.processes === 1 ? "process" : "processes"}, ${bytes(resources.memory_bytes)}, ${Math.round(resources.cpu_percent ?? 0)}% of a core`,
		],
		["Note", process.note],
	];
	return (
		<section class="details" aria-label="Details">
			<div class="details-command">
				<pre>{visible(detail.full_command)}</pre>
				<Button icon="copy" label="Copy the command" kind="bare" onClick={() => void copy(detail.full_command, "the command")} />
			</div>
			<dl>
				{facts.map(([name, value]) =>
					value ? (
						<div key={name}>
							<dt>{name}</dt>
							<dd class="mono">{value}</dd>
						</div>
					) : null,
				)}
				{process.parent && (
					<div>
						<dt>Started by</dt>
						<dd class="mono">
							<a href={href(["p", process.parent])}>{process.parent}</a>
						</dd>
					</div>
				)}
			</dl>
			<label class="check">
				<input type="checkbox" checked={readable.value === "yes"} onChange={onReadable} /> Every line as text, for a screen reader
			</label>
		</section>
	);
}
