/** A terminal in line mode keeps 4095 bytes of each line. The kernel silently drops the rest. */
import { readParts } from "../keeper/index.js";
import type { Process } from "../process/index.js";
import { foregroundOf } from "./foreground.js";
import { modesOf, ttyOf } from "./tty.js";

export const LONGEST_LINE = 4095;
const ENDS = new Set([4, 10, 13]); // Ctrl-D, LF, CR

/** Returns the length in bytes of the longest line in the input, if the terminal would cut it; undefined if nothing is lost. */
export async function cutLine(process: Process, bytes: Uint8Array): Promise<number | undefined> {
	if (bytes.length <= LONGEST_LINE) return undefined;
	const longest = longestLine(bytes);
	return longest > LONGEST_LINE && (await takesLines(process)) ? longest : undefined;
}

function longestLine(bytes: Uint8Array): number {
	let [longest, length] = [0, 0];
	for (const byte of bytes) {
		length = ENDS.has(byte) ? 0 : length + 1;
		if (length > longest) longest = length;
	}
	return longest;
}

async function takesLines({ dir, kernel }: Process): Promise<boolean> {
	const { command, terminal } = readParts(dir);
	const pids = [command, terminal].flatMap((part) => part?.pid ?? []);
	if (pids[0] === undefined) return false;
	const { device } = await foregroundOf(kernel, pids[0]);
	const tty = await ttyOf(kernel, pids, device);
	return (tty && (await modesOf(kernel, tty)))?.canonical ?? false;
}
