/** Sizes, rates, shares and times as people write them: 512M, 10M/s, 150%, 10m. What cannot be read is undefined. */

const TIMES: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZES: Readonly<Record<string, number>> = { "": 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

/** Milliseconds. */
export const parseAge = (text: string): number | undefined => quantity(text, TIMES);

/** Seconds, of a time with its unit or a plain number of seconds. */
export function parseSeconds(text: string): number | undefined {
	const ms = parseAge(text);
	if (ms !== undefined) return ms / 1000;
	return /^\d*\.?\d+$/.test(text.trim()) ? Number(text) : undefined;
}

/** Bytes. */
export const parseSize = (text: string): number | undefined => quantity(text.toUpperCase().replace(/I?B$/, ""), SIZES);

/** Bytes a second. */
export const parseRate = (text: string): number | undefined => parseSize(text.replace(/\/s$/i, ""));

/** 1 for 100%. */
export function parseShare(text: string): number | undefined {
	const match = /^(\d+(?:\.\d+)?)%$/.exec(text.trim());
	return match ? Number(match[1]) / 100 : undefined;
}

function quantity(text: string, units: Readonly<Record<string, number>>): number | undefined {
	const match = /^(\d+(?:\.\d+)?)([a-zA-Z]{0,2})$/.exec(text.trim());
	const unit = match ? units[match[2] as string] : undefined;
	return match && unit !== undefined ? Math.floor(Number(match[1]) * unit) : undefined;
}

/** 1 file, 2 files. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** The largest unit that leaves a short number: 512 MiB. */
export function sizeText(bytes: number): string {
	const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
	let unit = 0;
	for (let left = bytes; left >= 1024 && unit < units.length - 1; left /= 1024) unit++;
	return unit === 0 ? counted(bytes, "byte") : `${Math.round((bytes / 1024 ** unit) * 10) / 10} ${units[unit]}`;
}

export function timeText(seconds: number): string {
	if (seconds < 120) return `${seconds} s`;
	if (seconds < 7200) return `${Math.round(seconds / 6) / 10} min`;
	return `${Math.round(seconds / 360) / 10} h`;
}
