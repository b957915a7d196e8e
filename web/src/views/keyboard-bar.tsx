/** The holder of the keyboard, always in sight, with buttons to take it and to hand it back. */
import { useEffect, useState } from "preact/hooks";
import type { ProcessItem } from "../../../src/doors/http/schemas.js";
import { isRunning } from "../state/processes.js";
import { fitting } from "../state/settings.js";
import type { TerminalView } from "../terminal/view.js";
import { Button } from "../ui/button.js";
import { clock } from "../ui/format.js";

export function KeyboardBar({ view, process, owner }: { view: TerminalView; process: ProcessItem; owner: boolean }) {
	const { live } = view;
	const { keyboard, mine } = live.hands.value;
	const state = live.socket.state.value;
	const knocked = useKnock(view);
	if (state.phase === "over") return <p class="hands bad">{state.why}</p>;
	if (state.phase !== "live")
		return (
			<p class="hands lost" role="status">
				{state.phase === "lost" ? "Not connected: what is on the screen may be old, and nothing is sent. Trying again …" : "Connecting …"}
			</p>
		);
	if (!isRunning(process) || live.ended.value) return null;
	if (mine) return <Mine view={view} pty={process.pty} />;
	const refused = live.refused.value;
	return (
		<div class={knocked ? "hands knocked" : "hands"} role="status">
			<span class="hands-who">
				{refused ||
					(keyboard
						? `${keyboard.who} has the keyboard, since ${clock(keyboard.since)}.`
						: !live.readOnly.value
							? "Read-only: the keyboard is the agent's."
							: "You may look, not type.")}
			</span>
			{!live.readOnly.value && (owner || !keyboard) && (
				<Button icon="keyboard" kind="primary" label="Key: t" onClick={() => view.takeKeyboard()}>
					{keyboard ? "Take it over" : "Take the keyboard"}
				</Button>
			)}
		</div>
	);
}

const Mine = ({ view, pty }: { view: TerminalView; pty: boolean }) => (
	<div class="hands mine" role="status">
		<span class="hands-who">
			<strong>You have the keyboard.</strong> The agent waits. <span class="quiet wide">Ctrl+F6 leaves the terminal.</span>
		</span>
		{pty && (
			<Button
				icon="fit"
				label="Give the program the size of this window"
				kind="bare"
				pressed={fitting.value === "yes"}
				onClick={() => (fitting.value = fitting.value === "yes" ? "no" : "yes")}
			/>
		)}
		<button type="button" class="button primary" data-after-terminal onClick={() => view.handBack()}>
			Hand it back
		</button>
	</div>
);

/** Lights up for a moment when a viewer types without the keyboard. */
function useKnock(view: TerminalView): boolean {
	const count = view.knocked.value;
	const [seen, setSeen] = useState(count);
	useEffect(() => {
		if (seen === count) return;
		const timer = setTimeout(() => setSeen(count), 1_200);
		return () => clearTimeout(timer);
	}, [count, seen]);
	return seen !== count;
}
