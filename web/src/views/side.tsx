/** Two to four terminals side by side, each with its own connection and keyboard. */
import { beside, onShowIds } from "../state/side.js";
import { TerminalPage } from "./terminal.js";

export function SidePage() {
	const ids = onShowIds();
	return (
		<div class={`panes of-${ids.length}`}>
			{ids.map((id) => (
				<TerminalPage key={id} id={id} offset={undefined} owner onLeave={() => beside(id)} />
			))}
		</div>
	);
}
