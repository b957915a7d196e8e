/** How text is shown: on which width, and whether colours may be used. */
export interface Look {
	readonly columns: number;
	readonly colour: boolean;
}

/** On and off. Not `styleText` of node:util: newer versions of it look at the terminal and at NO_COLOR by themselves. */
const STYLES = {
	bold: [1, 22],
	dim: [2, 22],
	italic: [3, 23],
	underline: [4, 24],
	strikethrough: [9, 29],
	red: [31, 39],
	green: [32, 39],
	yellow: [33, 39],
	magenta: [35, 39],
	cyan: [36, 39],
} as const;
export type Style = keyof typeof STYLES;

/** A stream that shows text: `process.stdout`, or another. */
export interface Screen {
	readonly isTTY?: boolean | undefined;
	readonly columns?: number | undefined;
}

const UNKNOWN_COLUMNS = 80;
const NARROWEST = 20;

export function lookOf(stream: Screen, env: NodeJS.ProcessEnv = process.env): Look {
	return { columns: Math.max(NARROWEST, stream.columns || UNKNOWN_COLUMNS), colour: hasColour(stream, env) };
}

/** NO_COLOR counts when it is set and not empty (no-color.org). */
export function hasColour(stream: Screen, env: NodeJS.ProcessEnv = process.env): boolean {
	return stream.isTTY === true && !env.NO_COLOR && !isDumb(env);
}

/** A terminal that cannot move its cursor: text can only be added to it. */
export const isDumb = (env: NodeJS.ProcessEnv = process.env): boolean => env.TERM === "dumb" || env.TERM === "" || env.TERM === undefined;

export function paint(look: Pick<Look, "colour">, style: Style | readonly Style[], text: string): string {
	if (!look.colour || text === "") return text;
	const styles = typeof style === "string" ? [style] : style;
	return styles.reduceRight((inner, name) => `\u001b[${STYLES[name][0]}m${inner}\u001b[${STYLES[name][1]}m`, text);
}
