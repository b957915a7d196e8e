/** Sizes and ages as people write them. */
import { HoldfastError } from "../../base/errors.js";

const AGES: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZES: Record<string, number> = { "": 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

/** Milliseconds. */
export const ageOption = (text: string, option: string): number => quantity(text, AGES, option, "30m, 12h or 7d");

/** Bytes. */
export const sizeOption = (text: string, option: string): number => quantity(text.toUpperCase(), SIZES, option, "500M or 16G");

function quantity(text: string, units: Record<string, number>, option: string, example: string): number {
	const match = /^(\d+(?:\.\d+)?)([a-zA-Z]?)$/.exec(text.trim());
	const unit = match ? units[match[2] as string] : undefined;
	if (!match || unit === undefined) throw new HoldfastError("INVALID", `${option} takes for example ${example}, not "${text}"`);
	return Math.floor(Number(match[1]) * unit);
}
