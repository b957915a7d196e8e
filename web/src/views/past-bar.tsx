/** The position in the log, when that is not the end. */
import type { TerminalView } from "../terminal/view.js";
import { Button } from "../ui/button.js";
import { bytes } from "../ui/format.js";
import { tell } from "../ui/toasts.js";

export function PastBar({ view }: { view: TerminalView }) {
	const history = view.history.value;
	if (!history) return null;
	const { start, end, first, total } = history.shown.value;
	return (
		<div class="past" role="status">
			<span>
				Older output: {bytes(start)} to {bytes(end)} of {bytes(total)}
				{first > 0 && `; the first ${bytes(first)} are gone`}
			</span>
			<input
				type="range"
				aria-label="Place in the log"
				aria-valuetext={`${bytes(start)} of ${bytes(total)}`}
				min={first}
				max={Math.max(first, total)}
				step={Math.max(1, Math.round((total - first) / 500))}
				value={start}
				onChange={(event) => tell(history.at(Number(event.currentTarget.value)))}
			/>
			<Button icon="down" onClick={() => view.leaveHistory()}>
				Back to now
			</Button>
		</div>
	);
}
