/** Sizes and ages as options of the command line. */
import { HoldfastError } from "../../base/errors.js";
import { parseAge, parseSize } from "../../base/quantity.js";

/** Milliseconds. */
export const ageOption = (text: string, option: string): number => orRefuse(parseAge(text), text, option, "30m, 12h or 7d");

/** Bytes. */
export const sizeOption = (text: string, option: string): number => orRefuse(parseSize(text), text, option, "500M or 16G");

function orRefuse(value: number | undefined, text: string, option: string, example: string): number {
	if (value === undefined) throw new HoldfastError("INVALID", `${option} takes for example ${example}, not "${text}"`);
	return value;
}
