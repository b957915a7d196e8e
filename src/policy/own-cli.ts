import { type Inner, joined } from "./inner.js";
import type { Word } from "./word.js";

/** Our own command line: no rule is about what a person runs with it; what an agent runs with it is decided like any other command. */
export function holdfast(args: readonly Word[]): Inner[] {
	const typed = args.findIndex(({ text }) => /^(?:submit|write|type|keys)$/.test(text));
	if (typed === 0) return args.slice(2).map(({ text }) => ({ script: text }));
	const at = args.findIndex(({ text }) => text === "run" || text === "terminal");
	if (at === -1) return [];
	const dashes = args.findIndex(({ text }) => text === "--");
	// Without dashes a word may be the value of an option, or all of the command.
	if (dashes === -1)
		return args.slice(at + 1).flatMap(({ text }, index) => (text.startsWith("-") ? [] : [{ script: text }, { argv: args.slice(at + 1 + index) }]));
	const rest = args.slice(dashes + 1);
	if (rest.length === 0) return [];
	return rest.length > 1 && args[at]?.text === "run" ? [{ argv: rest }] : [{ script: joined(rest) }];
}
