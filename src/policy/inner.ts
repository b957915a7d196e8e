/** A command that another command runs. */
import type { Word } from "./word.js";

export type Inner =
	/** Another program: functions and aliases of the shell do not count for it. `cwd`: where it is told to run. */
	| { readonly argv: readonly Word[]; readonly remote?: boolean; readonly cwd?: Word | undefined; readonly keyword?: true }
	/** Text for a shell. `zero` is its `$0`; `fed`: it reads what the command prints. */
	| { readonly script: string; readonly remote?: boolean; readonly positional?: readonly string[]; readonly zero?: string | undefined; readonly fed?: true }
	/** Text of another language. */
	| { readonly code: string }
	/** The program runs text that it reads, and the text is not known. */
	| "unknown-script";

/** The values of an option that takes them as the next word. */
export const after = (args: readonly Word[], flag: RegExp): string[] =>
	args.flatMap(({ text }, at) => (flag.test(text) && args[at + 1] ? [(args[at + 1] as Word).text] : []));

/** Returns what a pattern captures in each of the words. */
export const behind = (args: readonly Word[], pattern: RegExp): string[] => args.flatMap(({ text }) => (pattern.exec(text)?.[1] ?? []) as string[]);

export const joined = (args: readonly Word[], by = " "): string => args.map(({ text }) => text).join(by);

export const scripts = (texts: readonly string[]): Inner[] => texts.map((script) => ({ script }));

/** A program that another one starts by itself: what a file does that only its path names is not known. */
export const hidden = (texts: readonly string[]): Inner[] =>
	texts.flatMap((script): Inner[] => {
		const program = script.trim().split(/\s/, 1)[0] ?? "";
		return /\/(?!usr\/bin\/)/.test(program.replace(/^(?:\/usr)?\/bin\//, "")) || /^(?:ba|da|z|k|fi)?sh$/.test(program)
			? ["unknown-script", { script }]
			: [{ script }];
	});
