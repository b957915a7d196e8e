/** Which terminals are on show, whose keyboard is ours, and whose shall be as soon as it is shown. */

/** A terminal on show. */
export interface OnShow {
	/** undefined: this terminal's keyboard can be taken. Else why not. */
	readonly notToTake: string | undefined;
	readonly host: HTMLElement;
	takeKeyboard(): void;
}

const onShow = new Set<OnShow>();
const held = new Set<OnShow>();
const wanted = new Set<string>();

export function show(terminal: OnShow): () => void {
	onShow.add(terminal);
	return () => {
		onShow.delete(terminal);
		held.delete(terminal);
	};
}

export function hold(terminal: OnShow, has: boolean): void {
	if (has) held.add(terminal);
	else held.delete(terminal);
}

/** While a terminal has the keyboard every key is meant for it. */
export const isTyping = (): boolean => held.size > 0;

/** A person who starts a process by hand has its keyboard. */
export const takeWhenShown = (id: string): unknown => wanted.add(id);
export const wasStartedHere = (id: string): boolean => wanted.delete(id);

/** Returns the terminal with the focus, else the first on show. */
export function shownTerminal(): OnShow | undefined {
	const all = [...onShow];
	return all.find(({ host }) => host.closest("article")?.contains(document.activeElement)) ?? all[0];
}
