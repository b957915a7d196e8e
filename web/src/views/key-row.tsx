/** Keys that a phone does not have. Ctrl and Alt hold for the next key, from this row or from the phone's own keyboard. */
import type { Signal } from "@preact/signals";
import type { TerminalView } from "../terminal/view.js";
import { say } from "../ui/toasts.js";

const KEYS: readonly [word: string, plain: string, application?: string][] = [
	["Esc", "\x1b"],
	["Tab", "\t"],
	["←", "\x1b[D", "\x1bOD"],
	["↑", "\x1b[A", "\x1bOA"],
	["↓", "\x1b[B", "\x1bOB"],
	["→", "\x1b[C", "\x1bOC"],
	["^C", "\x03"],
	["^D", "\x04"],
	["^Z", "\x1a"],
	["PgUp", "\x1b[5~"],
	["PgDn", "\x1b[6~"],
	["Home", "\x1b[H", "\x1bOH"],
	["End", "\x1b[F", "\x1bOF"],
	["/", "/"],
	["|", "|"],
	["-", "-"],
	["~", "~"],
];
const NAMES: Record<string, string> = {
	...{ "←": "Left", "↑": "Up", "↓": "Down", "→": "Right", "^C": "Control C", "^D": "Control D", "^Z": "Control Z" },
	...{ "-": "Minus", "~": "Tilde" },
};

export function KeyRow({ view }: { view: TerminalView }) {
	if (!view.live.hands.value.mine || !view.detail.pty) return null;
	const press = (plain: string, application = plain) => {
		view.live.type(view.held.with(view.pane.terminal.modes.applicationCursorKeysMode ? application : plain));
		view.pane.terminal.focus();
	};
	return (
		<div class="key-row" role="toolbar" aria-label="Keys">
			<Sticky word="Ctrl" on={view.held.ctrl} view={view} />
			<Sticky word="Alt" on={view.held.alt} view={view} />
			{KEYS.map(([word, plain, application]) => (
				<button key={word} type="button" class="button" aria-label={NAMES[word]} onClick={() => press(plain, application)}>
					{word}
				</button>
			))}
			<button type="button" class="button" onClick={() => void paste(view)}>
				Paste
			</button>
		</div>
	);
}

const Sticky = ({ word, on, view }: { word: string; on: Signal<boolean>; view: TerminalView }) => (
	<button
		type="button"
		class="button"
		aria-pressed={on.value}
		onClick={() => {
			on.value = !on.value;
			view.pane.terminal.focus();
		}}
	>
		{word}
	</button>
);

async function paste(view: TerminalView): Promise<void> {
	try {
		view.pane.terminal.paste(await navigator.clipboard.readText());
		view.pane.terminal.focus();
	} catch {
		say("The browser does not let this page read the clipboard. Long-press the terminal to paste.");
	}
}
