/** Everything about a process that fits into words. */
import { useState } from "preact/hooks";
import { visible } from "../../../src/base/text.js";
import type { ProcessDetail, ProcessItem } from "../../../src/doors/http/schemas.js";
import { now } from "../state/clock.js";
import { pinned } from "../state/list.js";
import { statusWords } from "../state/processes.js";
import { href } from "../state/route.js";
import { Button } from "../ui/button.js";
import { copy } from "../ui/clipboard.js";
import { bytes, clock, duration } from "../ui/format.js";
import { tell } from "../ui/toasts.js";
import { secondsOf } from "./list-row.js";
import { RenameForm } from "./rename-form.js";
import { runAgain } from "./run-again.js";

interface Props {
	readonly detail: ProcessDetail;
	readonly process: ProcessItem;
	readonly owner: boolean;
	readonly onClose: () => void;
}

export function Details({ detail, process, owner, onClose }: Props) {
	const [renaming, setRenaming] = useState(false);
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
		<aside
			class="details"
			aria-label="Details"
			onKeyDown={(event) => {
				if (event.key === "Escape") onClose();
			}}
		>
			<header>
				<h2>Details</h2>
				<Button icon="close" label="Close the details" kind="bare" onClick={onClose} />
			</header>
			<div class="details-command">
				<pre>{visible(detail.full_command)}</pre>
				<Button icon="copy" label="Copy the command" kind="bare" onClick={() => void copy(detail.full_command, "the command")} />
			</div>
			{owner && renaming && <RenameForm process={process} onDone={() => setRenaming(false)} />}
			{owner && !renaming && (
				<div class="actions">
					<Button icon="edit" onClick={() => setRenaming(true)}>
						Rename
					</Button>
					<Button icon="again" onClick={() => tell(runAgain(detail, process.name))}>
						Run again
					</Button>
					<Button icon="pin" pressed={pinned.has(process.session_id)} onClick={() => pinned.toggle(process.session_id)}>
						Pin
					</Button>
				</div>
			)}
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
		</aside>
	);
}
