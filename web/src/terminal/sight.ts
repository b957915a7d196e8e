/**
 * Keeps the cursor in sight where the program's screen is larger than its box: on a phone, or beside other terminals. The box is scrolled by as
 * little as will do, and not at all while a person who has scrolled it looks at something else.
 */
import type { Terminal } from "@xterm/xterm";

export class Sight {
	readonly #stop = new AbortController();
	#elsewhere = false;

	constructor(
		readonly terminal: Terminal,
		readonly box: HTMLElement,
		/** Along its line, too: for a person who types. */
		readonly sideways: () => boolean,
	) {
		const { signal } = this.#stop;
		terminal.onRender(() => this.follow()); // once a frame: a program that draws moves its cursor over all of its screen
		// Only a person's own scrolling counts: the box scrolls by itself when its size changes.
		for (const kind of ["wheel", "touchmove", "pointerup"] as const) box.addEventListener(kind, () => this.#scrolled(), { signal, passive: true });
	}

	dispose(): void {
		this.#stop.abort();
	}

	/** The box has moved by the next frame. Until then it is left alone: output that is drawn meanwhile would take the person back. */
	#scrolled(): void {
		this.#elsewhere = true;
		requestAnimationFrame(() => (this.#elsewhere = this.#missing().down !== 0));
	}

	/** For what a person types: back to where it appears. */
	back(): void {
		this.#elsewhere = false;
		this.follow();
	}

	follow(): void {
		if (this.#elsewhere) return;
		const { down, right } = this.#missing();
		if (down !== 0) this.box.scrollTop += down;
		if (right !== 0 && this.sideways()) this.box.scrollLeft += right;
	}

	/** Returns how far the box would have to be scrolled for the cursor to be in it. */
	#missing(): { down: number; right: number } {
		const screen = this.terminal.element?.querySelector(".xterm-screen")?.getBoundingClientRect();
		const { cols, rows, buffer } = this.terminal;
		const { baseY, viewportY, cursorX, cursorY } = buffer.active;
		if (!screen || viewportY !== baseY) return { down: 0, right: 0 }; // older output is on show
		const box = this.box.getBoundingClientRect();
		const [width, height] = [screen.width / cols, screen.height / rows];
		const below = box.top + this.box.clientHeight - screen.bottom; // nothing is there: the text has become smaller, or the box larger
		return {
			down: below > 0 ? -Math.min(below, this.box.scrollTop) : beyond(screen.top + cursorY * height, height, box.top, this.box.clientHeight),
			right: beyond(screen.left + Math.min(cursorX, cols - 1) * width, width, box.left, this.box.clientWidth),
		};
	}
}

/** Returns how far a stretch is out of a longer one. */
function beyond(start: number, length: number, from: number, room: number): number {
	if (start < from) return start - from;
	return Math.max(0, Math.ceil(start + length - from - room));
}
