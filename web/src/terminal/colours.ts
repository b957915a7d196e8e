/** The sixteen colours of a terminal, and the rest, on both grounds. */
import type { ITheme } from "@xterm/xterm";

export const FONT = 'ui-monospace, "SF Mono", "JetBrains Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace';

const LIGHT: ITheme = {
	background: "#fbfaf5",
	foreground: "#1d2523",
	cursor: "#0b5f57",
	cursorAccent: "#fbfaf5",
	selectionBackground: "#bcded6",
	selectionInactiveBackground: "#dcd9cd",
	black: "#1d2523",
	red: "#a3231b",
	green: "#1d6b45",
	yellow: "#7d5200",
	blue: "#1f4f9c",
	magenta: "#83307f",
	cyan: "#0a626b",
	white: "#6a716d",
	brightBlack: "#5b625f",
	brightRed: "#bd3328",
	brightGreen: "#257b51",
	brightYellow: "#8f6100",
	brightBlue: "#2a63bd",
	brightMagenta: "#9a3f95",
	brightCyan: "#0d747e",
	brightWhite: "#3a423f",
};

const DARK: ITheme = {
	background: "#0a100f",
	foreground: "#dde6e2",
	cursor: "#6ccfbd",
	cursorAccent: "#0a100f",
	selectionBackground: "#24504a",
	selectionInactiveBackground: "#263330",
	black: "#26322f",
	red: "#f0897b",
	green: "#7fcf9d",
	yellow: "#e9bd6e",
	blue: "#82b1f0",
	magenta: "#d69bd3",
	cyan: "#6ccfd0",
	white: "#cdd6d2",
	brightBlack: "#7d8c87",
	brightRed: "#ffa99d",
	brightGreen: "#a1e3b9",
	brightYellow: "#f6d594",
	brightBlue: "#a8c9fa",
	brightMagenta: "#e8bde6",
	brightCyan: "#9ae5e3",
	brightWhite: "#ffffff",
};

export const coloursOf = (mode: "light" | "dark"): ITheme => (mode === "dark" ? DARK : LIGHT);
