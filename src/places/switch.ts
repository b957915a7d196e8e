/** The dead man's switch: what ends a task's own machine when no program gives a sign of life any more. switch.sh says how. */
import fs from "node:fs";
import { asset } from "../base/index.js";

/** The exit code of a switch that ends because its machine was unused. */
export const SWITCH_EXIT = 75;

let text: string | undefined;

/** Returns its text, without comments: all programs on the machine see it in a list of processes. */
export function switchScript(): string {
	text ??= fs.readFileSync(asset("places/switch.sh"), "utf8").replace(/^\s*#.*\n/gm, "");
	return text;
}

/** Returns it as a command. `seconds`: 0 for never. `end`: shell text in place of its own end. */
export const switchCommand = (dir: string, seconds: number, end?: string): string[] => [
	"sh",
	"-c",
	switchScript(),
	"holdfast",
	dir,
	String(seconds),
	...(end === undefined ? [] : [end]),
];
