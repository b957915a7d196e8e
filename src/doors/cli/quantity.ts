/**
 * Times and sizes as options of the command line, the same forms for all: a time is a number of seconds or has a unit (500ms, 30s, 5m, 12h, 7d),
 * a size is a number of bytes or has one (64K, 512M, 16G). What removes things takes no number without a unit: too much depends on it.
 */
import { HoldfastError, parseAge, parseSeconds, parseSize } from "../../base/index.js";
import type { CliCall } from "./command.js";

/** Seconds, with a fraction if need be. */
export function secondsOption(call: Pick<CliCall, "values">, name: string): number | undefined {
	const text = textOf(call, name);
	if (text === undefined) return undefined;
	const value = parseSeconds(text);
	if (value === undefined || value <= 0)
		throw new HoldfastError("INVALID", `--${name} takes a number of seconds above 0, or a time such as 30s or 5m, not "${text}"`);
	return value;
}

/** Bytes. */
export function sizeOption(call: Pick<CliCall, "values">, name: string): number | undefined {
	const text = textOf(call, name);
	const value = text === undefined ? undefined : parseSize(text);
	if (text !== undefined && value === undefined)
		throw new HoldfastError("INVALID", `--${name} takes a number of bytes, or a size such as 64K, 512M or 16G, not "${text}"`);
	return value;
}

/** Milliseconds, of a time that has a unit. */
export function ageOption(call: Pick<CliCall, "values">, name: string): number | undefined {
	const text = textOf(call, name);
	const value = text === undefined ? undefined : parseAge(text);
	if (text !== undefined && value === undefined) throw withUnit(name, text, "a time with its unit, such as 30m, 12h or 7d");
	return value;
}

/** Bytes, of a size that has a unit. */
export function quotaOption(call: Pick<CliCall, "values">, name: string): number | undefined {
	const text = textOf(call, name);
	const value = text === undefined ? undefined : parseSize(text);
	if (text !== undefined && (value === undefined || /\d\s*$/.test(text))) throw withUnit(name, text, "a size with its unit, such as 500M or 16G");
	return value;
}

/** A time in milliseconds, given as one or as how long ago that is. */
export function sinceOption(call: Pick<CliCall, "values">, name: string): number | undefined {
	const text = textOf(call, name);
	if (text === undefined) return undefined;
	const ago = parseAge(text);
	const time = ago === undefined ? Date.parse(text) : Date.now() - ago;
	if (Number.isNaN(time)) throw new HoldfastError("INVALID", `--${name} takes 10m, 2h, 3d or a time as 2026-01-31T12:00, not "${text}"`);
	return time;
}

const withUnit = (name: string, text: string, what: string): HoldfastError => new HoldfastError("INVALID", `--${name} takes ${what}, not "${text}"`);

function textOf({ values }: Pick<CliCall, "values">, name: string): string | undefined {
	const given = values[name];
	return given === undefined ? undefined : String(given);
}
