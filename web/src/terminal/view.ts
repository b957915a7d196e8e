/** One process on show: its live terminal, the older output behind it, and how keys, sizes and colours get to both. */
import { effect, signal } from "@preact/signals";
import { FitAddon } from "@xterm/addon-fit";
import type { ProcessDetail } from "../../../src/doors/http/schemas.js";
import { log } from "../api/calls.js";
import { hold, type OnShow, show } from "../state/keyboards.js";
import { fitting, fontPixels, readable } from "../state/settings.js";
import { theme } from "../state/theme.js";
import { tell } from "../ui/toasts.js";
import { Bell } from "./bell.js";
import { coloursOf } from "./colours.js";
import { createPane, type Pane } from "./create.js";
import { HeldKeys } from "./held-keys.js";
import { History } from "./history.js";
import { Live } from "./live.js";
import { localKey } from "./local-keys.js";
import { Sight } from "./sight.js";

const LEAST_PX = innerWidth < 720 ? 10 : 8; // smaller than that is not read but guessed; then it scrolls
const SETTLED_MS = 120; // a window that is being dragged has a hundred sizes
const HISTORY_LINES = 100_000;

export class TerminalView implements OnShow {
	readonly live: Live;
	readonly pane: Pane;
	readonly history = signal<History | undefined>(undefined);
	readonly selected = signal(false);
	readonly held = new HeldKeys();
	readonly bell = new Bell();
	/** Typed into a terminal whose keyboard is not ours. */
	readonly knocked = signal(0);
	#past: Pane | undefined;
	readonly #fit = new FitAddon();
	readonly #sight: Sight;
	readonly #undo: (() => void)[] = [];
	#settling = 0;

	constructor(
		readonly detail: ProcessDetail,
		readonly host: HTMLElement,
		readonly pastHost: HTMLElement,
	) {
		const { cols, rows, pty } = detail;
		this.pane = createPane(host, {
			mode: theme.value,
			fontSize: fontPixels(),
			convertEol: !pty,
			cols: cols ?? 80,
			rows: rows ?? 24,
			cursorInactiveStyle: pty ? "outline" : "none",
		});
		const { terminal } = this.pane;
		terminal.loadAddon(this.#fit);
		this.live = new Live(detail, terminal);
		this.#sight = new Sight(terminal, host, () => this.live.hands.value.mine);
		terminal.onData((data) => this.#typed(data, false));
		terminal.onBinary((data) => this.#typed(data, true));
		terminal.onSelectionChange(() => (this.selected.value = terminal.hasSelection()));
		terminal.onBell(() => this.bell.ring(host));
		terminal.attachCustomKeyEventHandler((event) => localKey(event, this));
		const wheel = (event: WheelEvent) => {
			if (event.deltaY < 0 && this.atTop) tell(this.showHistory());
		};
		host.addEventListener("wheel", wheel, { passive: true });
		const observer = new ResizeObserver(() => this.#settle());
		observer.observe(host);
		this.#undo.push(
			show(this),
			() => host.removeEventListener("wheel", wheel),
			() => observer.disconnect(),
			() => clearTimeout(this.#settling),
			() => this.#sight.dispose(),
			effect(() => {
				const colours = coloursOf(theme.value);
				for (const pane of [this.pane, this.#past]) if (pane) pane.terminal.options.theme = colours;
			}),
			effect(() => {
				terminal.options.screenReaderMode = readable.value === "yes";
			}),
			effect(() => {
				const { mine } = this.live.hands.value;
				hold(this, mine);
				terminal.options.disableStdin = !mine || !pty;
				terminal.options.cursorBlink = mine;
				void [this.live.size.value, fitting.value, fontPixels()]; // each of them is a reason to look again
				this.#settle();
			}),
		);
	}

	dispose(): void {
		for (const undo of this.#undo) undo();
		this.live.dispose();
		this.#past?.dispose();
		this.pane.dispose();
	}

	/** The visible pane: the live terminal, or the older output behind it. */
	get shown(): Pane {
		return this.history.value && this.#past ? this.#past : this.pane;
	}

	/** At the oldest line that the live terminal has. */
	get atTop(): boolean {
		const { type, viewportY } = this.pane.terminal.buffer.active;
		return type === "normal" && viewportY === 0;
	}

	get notToTake(): string | undefined {
		const { readOnly, ended, hands } = this.live;
		if (readOnly.value) return "You may look, not type.";
		if (ended.value) return "It has ended: nothing reads what is typed.";
		return hands.value.keyboard && !hands.value.mine ? `${hands.value.keyboard.who} has the keyboard. “Take it over” takes it from them.` : undefined;
	}

	/** Takes it from its holder, whom the button has named. */
	takeKeyboard(): void {
		this.live.take(this.live.hands.value.keyboard !== null);
		this.pane.terminal.focus();
	}

	handBack(): void {
		this.live.release();
	}

	/** Older output, from where one is; or at an offset of the log. */
	async showHistory(offset?: number): Promise<void> {
		if (!this.#past) {
			const { cols, rows } = this.pane.terminal;
			const { fontSize } = this.pane.terminal.options;
			this.#past = createPane(this.pastHost, {
				mode: theme.value,
				convertEol: !this.detail.pty,
				cols,
				rows,
				fontSize,
				scrollback: HISTORY_LINES,
				disableStdin: true,
			});
			this.#past.terminal.attachCustomKeyEventHandler((event) => localKey(event, this));
			this.pastHost.addEventListener("wheel", this.#wheelPast, { passive: true });
		}
		const past = this.#past;
		const history = this.history.value ?? new History(past.terminal, (from, limit) => log(this.detail.session_id, limit, from));
		const { baseY, viewportY } = this.pane.terminal.buffer.active;
		this.history.value = history;
		try {
			await (offset === undefined ? history.fromEnd(baseY - viewportY + 1) : history.at(offset));
			past.terminal.write("\x1b[?25l");
			past.terminal.focus();
		} catch (error) {
			this.leaveHistory();
			throw error;
		}
	}

	leaveHistory(): void {
		if (!this.history.value) return;
		this.pastHost.removeEventListener("wheel", this.#wheelPast);
		this.#past?.dispose();
		this.#past = undefined;
		this.history.value = undefined;
		this.pane.terminal.scrollToBottom();
		this.pane.terminal.focus();
	}

	/** Scroll what is shown; over its edge there is more. */
	async scroll(pages: number): Promise<void> {
		const { terminal } = this.shown;
		const history = this.history.value;
		const before = terminal.buffer.active.viewportY;
		terminal.scrollPages(pages);
		if (terminal.buffer.active.viewportY !== before) return;
		if (pages < 0) await (history ? history.older() : this.atTop && this.showHistory());
		else if (history && !(await history.newer())) this.leaveHistory();
	}

	readonly #wheelPast = (event: WheelEvent): void => {
		const history = this.history.value;
		const { viewportY, baseY } = this.shown.terminal.buffer.active;
		if (!history || history.busy.value) return;
		if (event.deltaY < 0 && viewportY === 0) tell(history.older());
		if (event.deltaY > 0 && viewportY >= baseY) tell(history.newer().then((more) => more || this.leaveHistory()));
	};

	#typed(data: string, bytes: boolean): void {
		const sent = bytes ? data : this.held.with(data);
		if (!this.detail.pty || !this.live.hands.value.mine || !this.live.type(sent, bytes)) this.knocked.value++;
		else this.#sight.back();
	}

	#settle(): void {
		clearTimeout(this.#settling);
		this.#settling = setTimeout(() => this.#arrange(), SETTLED_MS);
	}

	/** The program follows the window, or what it prints is shrunk until it fits. */
	#arrange(): void {
		const { terminal } = this.pane;
		const most = fontPixels();
		const font = terminal.options.fontSize ?? most;
		const room = this.#fit.proposeDimensions();
		if (!room || !Number.isFinite(room.cols) || !Number.isFinite(room.rows)) return;
		if (!this.detail.pty) {
			terminal.options.fontSize = most;
			this.#fit.fit();
			return;
		}
		const size = this.live.size.value;
		if (!size) return;
		if (this.live.hands.value.mine && fitting.value === "yes") {
			if (font !== most) {
				terminal.options.fontSize = most;
				this.#settle();
			} else if (room.cols !== size.cols || room.rows !== size.rows) {
				this.live.resize(room.cols, room.rows);
			}
			return;
		}
		const wanted = Math.min(most, (font * room.cols) / size.cols, (font * room.rows) / size.rows);
		const next = Math.max(LEAST_PX, Math.floor(wanted * 2) / 2);
		if (next !== font) terminal.options.fontSize = next;
		this.#sight.follow();
	}
}
