/** Keys that are the page's and not the program's. */
import { tell } from "../ui/toasts.js";
import type { TerminalView } from "./view.js";

/** false: the terminal leaves this key alone. */
export function localKey(event: KeyboardEvent, view: TerminalView): boolean {
	if (event.type !== "keydown") return true;
	const mine = view.live.hands.value.mine && !view.history.value;
	const { key, ctrlKey, shiftKey, metaKey, altKey } = event;
	if (key === "F6" && ctrlKey) return leave(event, view); // the way out for who has no mouse: Tab belongs to the program
	if (key.toLowerCase() === "c" && (ctrlKey || metaKey) && !altKey && view.shown.terminal.hasSelection()) return false; // the browser copies
	if (key === "f" && ctrlKey && shiftKey) return true;
	if (key === "PageUp" && (shiftKey || !mine)) return taken(event, () => tell(view.scroll(-1)));
	if (key === "PageDown" && (shiftKey || !mine)) return taken(event, () => tell(view.scroll(1)));
	if (mine) return true;
	if (view.history.value) {
		if (key === "Escape" || key === "End") return taken(event, () => view.leaveHistory());
		if (key === "Home") return taken(event, () => tell(view.showHistory(view.history.value?.shown.value.first ?? 0)));
	}
	if (key === "ArrowUp") return taken(event, () => view.shown.terminal.scrollLines(-1));
	if (key === "ArrowDown") return taken(event, () => view.shown.terminal.scrollLines(1));
	if (key === "Tab" || ctrlKey || metaKey || altKey || key.length > 1) return false;
	view.knocked.value++; // a letter: the person wants to type
	return false;
}

function taken(event: KeyboardEvent, act: () => void): false {
	event.preventDefault();
	event.stopPropagation();
	act();
	return false;
}

const leave = (event: KeyboardEvent, { host }: TerminalView): false =>
	taken(event, () => {
		host.closest("article")?.querySelector<HTMLElement>("[data-after-terminal]")?.focus();
	});
