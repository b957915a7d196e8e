/**
 * Keys of the page. They work only where they cannot eat what a person types: not in a field, not in a terminal, not while any
 * terminal on show has the keyboard, and not in the middle of a word that is typed at nothing in particular.
 */
import { say } from "../ui/toasts.js";
import { dialog } from "./dialogs.js";
import { isTyping, shownTerminal } from "./keyboards.js";
import { pinned } from "./list.js";
import { beside, onShowIds } from "./side.js";
import { session } from "./start.js";

const FIELDS = "input, textarea, select, dialog, .xterm, [contenteditable]";
const WORD_MS = 1_000;

const KEYS: Record<string, () => boolean> = {
	"/": () => focusOn("#filter"),
	n: () => session.value?.scope === "owner" && open("start"),
	"?": () => open("keys"),
	t: take,
	p: () => withRow((id) => pinned.toggle(id)),
	b: () => withRow(beside),
	j: () => move(1),
	k: () => move(-1),
	ArrowDown: () => move(1),
	ArrowUp: () => move(-1),
};

export function listenForShortcuts(): () => void {
	let typed = -WORD_MS; // when a letter was pressed that is no shortcut: what follows at once belongs to the same word
	const heard = (event: KeyboardEvent) => {
		const { key, timeStamp } = event;
		const target = event.target as HTMLElement;
		if (key.length > 1 && key !== "Shift") typed = -WORD_MS; // Enter, Tab and the like end a word
		if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || dialog.value || isTyping() || target.closest(FIELDS)) return;
		const act = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
		const inWord = key.length === 1 && timeStamp - typed < WORD_MS;
		if (key.length === 1 && (inWord || !act)) typed = timeStamp;
		if (act && !inWord && act()) event.preventDefault();
	};
	addEventListener("keydown", heard);
	return () => removeEventListener("keydown", heard);
}

function open(which: "start" | "keys"): boolean {
	dialog.value = which;
	return true;
}

function focusOn(selector: string): boolean {
	const found = document.querySelector<HTMLElement>(selector);
	found?.focus();
	return found !== null;
}

/** From another person it is taken by the button, which says who that is. */
function take(): boolean {
	const terminal = shownTerminal();
	if (!terminal) return false;
	if (terminal.notToTake === undefined) terminal.takeKeyboard();
	else say(terminal.notToTake);
	return true;
}

/** The row that has the focus, else what is on show. */
function withRow(act: (id: string) => void): boolean {
	const id = (document.activeElement as HTMLElement | null)?.dataset.id ?? onShowIds()[0];
	if (id !== undefined) act(id);
	return id !== undefined;
}

/** To the next row of the list; from elsewhere, to the one that is on show, or the first. */
function move(step: number): boolean {
	const rows = [...document.querySelectorAll<HTMLElement>(".list a.row")].filter((row) => row.offsetParent !== null);
	const at = rows.indexOf(document.activeElement as HTMLElement);
	const current = rows.findIndex((row) => row.ariaCurrent);
	const next = at >= 0 ? rows[at + step] : (rows[current] ?? rows[0]);
	next?.focus();
	return rows.length > 0;
}
