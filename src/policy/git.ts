import type { Found } from "./found.js";

/** What git is told to do, without the options before it (`-C dir`, `-c key=value`). */
export function gitWords(command: Pick<Found, "args">): string[] {
	const texts = command.args.map(({ text }) => text);
	let at = 0;
	while (/^-/.test(texts[at] ?? ""))
		at += /^(-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--super-prefix|--config-env)$/.test(texts[at] as string) ? 2 : 1;
	return texts.slice(at);
}
