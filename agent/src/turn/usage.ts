/** Tokens and money of a turn. */
import type { Usage } from "../model/index.js";

export const NO_USAGE: Usage = { input: 0, output: 0 };

export function addUsage(one: Usage, other: Usage): Usage {
	const sum = (part: (usage: Usage) => number | undefined): number | undefined =>
		part(one) === undefined && part(other) === undefined ? undefined : (part(one) ?? 0) + (part(other) ?? 0);
	const [cached, cost] = [sum(({ cached }) => cached), sum(({ cost }) => cost)];
	return {
		input: one.input + other.input,
		output: one.output + other.output,
		...(cached === undefined ? {} : { cached }),
		...(cost === undefined ? {} : { cost }),
		...(one.estimated || other.estimated ? { estimated: true } : {}),
	};
}
