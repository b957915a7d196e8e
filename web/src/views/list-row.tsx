/** A process in the list. */
import type { ProcessItem } from "../../../src/doors/http/schemas.js";
import { now } from "../state/clock.js";
import { pinned } from "../state/list.js";
import { isRunning, isWaiting, nameOf } from "../state/processes.js";
import { href } from "../state/route.js";
import { beside, onShowIds } from "../state/side.js";
import { ago, bytes, duration } from "../ui/format.js";
import { Icon, type IconName } from "../ui/icon.js";
import { Glyph, StatusWords } from "../ui/status.js";

export const ListRow = ({ process, current }: { process: ProcessItem; current: boolean }) => (
	<li class="row-item">
		<a
			class="row"
			data-id={process.session_id}
			href={href(["p", process.session_id])}
			aria-current={current ? "page" : undefined}
			onClick={current ? (event) => intoTerminal(event, process.session_id) : undefined}
		>
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
		<span class="row-acts">
			<RowButton icon="pin" label={`Pin ${nameOf(process)}`} pressed={pinned.has(process.session_id)} onClick={() => pinned.toggle(process.session_id)} />
			<RowButton
				icon="beside"
				label={`Show ${nameOf(process)} beside`}
				pressed={onShowIds().includes(process.session_id)}
				onClick={() => beside(process.session_id)}
			/>
		</span>
	</li>
);

/** Buttons for the pointer. By keyboard it is `p` and `b`: Tab would have to pass two for each row. */
const RowButton = ({ icon, label, pressed, onClick }: { icon: IconName; label: string; pressed: boolean; onClick: () => void }) => (
	<button type="button" tabIndex={-1} class="row-act" aria-label={label} title={label} aria-pressed={pressed} onClick={onClick}>
		<Icon name={icon} />
	</button>
);

/** A row that is on show already gets the focus instead of being opened again. */
function intoTerminal(event: MouseEvent, id: string): void {
	const terminal = document.querySelector<HTMLElement>(`article[data-id="${CSS.escape(id)}"] .screen:not(.away) .xterm-helper-textarea`);
	if (!terminal || event.ctrlKey || event.metaKey || event.shiftKey) return; // its recording is on show, or it is wanted in another tab
	event.preventDefault();
	terminal.focus();
}

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
