/** Options of a command and their values, for tables of programs. */
import { byName } from "../base/index.js";
import type { Word } from "./word.js";

type WithArgs = { readonly args: readonly Word[] };

/** The values of an option: the next word (`next`), or what is behind it in the same word (`glued`, its first group). */
export const valuesOf = ({ args }: WithArgs, next: RegExp, glued?: RegExp): Word[] =>
	args.flatMap((one, at) => {
		const value = glued?.exec(one.text)?.[1];
		if (value !== undefined) return [{ ...one, text: value }];
		return next.test(one.text) && args[at + 1] ? [args[at + 1] as Word] : [];
	});

/** The arguments that are neither options nor the values of those that `valued` names. */
export function operands({ args }: WithArgs, valued?: RegExp): Word[] {
	const end = args.findIndex(({ text }) => text === "--");
	return args.filter((one, at) => {
		if (end !== -1 && at >= end) return at > end;
		return !one.text.startsWith("-") && !(at > 0 && valued?.test(args[at - 1]?.text ?? ""));
	});
}

/** The directory that a program is told to work in before it looks at its other words: `tar -C ~ notes`. */
export function directoryOption(names: readonly string[], command: WithArgs): Word | undefined {
	const options = names.map((name) => DIRECTORY_OPTIONS[name]).find(Boolean);
	return options && valuesOf(command, options.next, options.glued).at(-1);
}

const dashC = { next: /^(?:-[a-zA-Z]*C|--directory)$/, glued: /^(?:--directory=|-C)(.+)$/s };
const DIRECTORY_OPTIONS = byName<{ next: RegExp; glued: RegExp }>({
	tar: dashC,
	bsdtar: dashC,
	git: dashC,
	make: dashC,
	ninja: dashC,
	pnpm: { next: /^(?:-C|--dir)$/, glued: /^--dir=(.+)$/s },
	npm: { next: /^--prefix$/, glued: /^--prefix=(.+)$/s },
	env: { next: /^(?:-C|--chdir)$/, glued: /^--chdir=(.+)$/s },
	sudo: { next: /^(?:-D|--chdir)$/, glued: /^--chdir=(.+)$/s },
});
