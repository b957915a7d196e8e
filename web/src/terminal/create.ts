/** An xterm.js that shows what a program prints and lets nothing of it out: no clipboard, no answers, no window, links only on a click. */
import "@xterm/xterm/css/xterm.css";
import { SearchAddon } from "@xterm/addon-search";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { type ITerminalInitOnlyOptions, type ITerminalOptions, Terminal } from "@xterm/xterm";
import { harden } from "../../../src/screen/harden.js";
import { widenEmoji } from "../../../src/screen/widths.js";
import { coloursOf, FONT } from "./colours.js";
import { openLink } from "./links.js";
import { paintWithWebgl } from "./webgl.js";

export interface Pane {
	readonly terminal: Terminal;
	readonly search: SearchAddon;
	dispose(): void;
}

export function createPane(parent: HTMLElement, options: ITerminalOptions & ITerminalInitOnlyOptions & { mode: "light" | "dark" }): Pane {
	const { mode, ...rest } = options;
	const terminal = new Terminal({
		fontFamily: FONT,
		fontSize: 13,
		lineHeight: 1.15,
		cursorBlink: false,
		scrollback: 5_000,
		allowProposedApi: true, // widths of emoji, and marks for what a search finds
		minimumContrastRatio: 4.5,
		rescaleOverlappingGlyphs: true,
		macOptionClickForcesSelection: true,
		logLevel: "off",
		linkHandler: { activate: (_event, url) => openLink(url), allowNonHttpProtocols: false },
		theme: coloursOf(mode),
		...rest,
	});
	// The server's emulator is the same library with the same corrections: both must show the same.
	const bare = terminal as unknown as Parameters<typeof harden>[0];
	harden(bare);
	widenEmoji(bare);
	withhold(terminal);
	const search = new SearchAddon({ highlightLimit: 500 });
	terminal.loadAddon(search);
	terminal.loadAddon(new WebLinksAddon((_event, url) => openLink(url)));
	terminal.open(parent);
	paintWithWebgl(terminal);
	return { terminal, search, dispose: () => dispose(terminal) };
}

/** A frame that xterm.js has queued before may ask for the size of a cell afterwards, and the disposed renderer has none: it gets the last one. */
function dispose(terminal: Terminal): void {
	const { _renderService: service } = (terminal as unknown as { _core: { _renderService?: { dimensions: unknown } } })._core;
	const dimensions = service?.dimensions;
	terminal.dispose();
	if (service) Object.defineProperty(service, "dimensions", { value: dimensions, configurable: true });
}

/** When the program asks its terminal something, the server answers, once for all viewers. From here come only keys, clicks and pastes. */
function withhold(terminal: Terminal): void {
	const { coreService } = (terminal as unknown as { _core: { coreService: { triggerDataEvent(data: string, byUser?: boolean): void } } })._core;
	const trigger = coreService.triggerDataEvent.bind(coreService);
	coreService.triggerDataEvent = (data, byUser) => {
		if (byUser) trigger(data, true);
	};
}
