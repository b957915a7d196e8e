/** Keys that a phone does not have. */
import type { TerminalView } from "../terminal/view.js";

const KEYS: readonly [word: string, plain: string, application?: string][] = [
	["Esc", "\x1b"],
	["Tab", "\t"],
	["^C", "\x03"],
	["^D", "\x04"],
	["^Z", "\x1a"],
	["←", "\x1b[D", "\x1bOD"],
	["↑", "\x1b[A", "\x1bOA"],
	["↓", "\x1b[B", "\x1bOB"],
	["→", "\x1b[C", "\x1bOC"],
	["/", "/"],
	["|", "|"],
];
const NAMES: Record<string, string> = { "←": "Left", "↑": "Up", "↓": "Down", "→": "Right", "^C": "Control C", "^D": "Control D", "^Z": "Control Z" };

export function KeyRow({ view }: { view: TerminalView }) {
	if (!view.live.hands.value.mine || !view.detail.pty) return null;
	const press = (plain: string, application = plain) => {
		view.live.type(view.pane.terminal.modes.applicationCursorKeysMode ? application : plain);
		view.pane.terminal.focus();
	};
	return (
		<div class="key-row" role="toolbar" aria-label="Keys">
			{KEYS.map(([word, plain, application]) => (
				<button key={word} type="button" class="button" aria-label={NAMES[word]} onClick={() => press(plain, application)}>
					{word}
				</button>
			))}
		</div>
	);
}
