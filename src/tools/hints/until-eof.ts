/** Detects programs that read a secret from standard input until EOF: on a terminal EOF would never come, and the secret would be shown. */
import { lex } from "./lex.js";
import { type ProgramCall, programOf } from "./words.js";

/** Returns such a program of the command, in a few words; undefined if there is none. */
export function readsUntilEnd(command: string): string | undefined {
	if (!/--with-token|--password-stdin/.test(command)) return undefined;
	const found = lex(command)
		.map(programOf)
		.find((program) => program !== undefined && asksForPipe(program));
	return found && [found.name, ...found.args.filter((arg) => arg === "--with-token" || arg === "--password-stdin")].join(" … ");
}

const asksForPipe = ({ name, args }: ProgramCall): boolean => args.includes("--password-stdin") || (name === "gh" && args.includes("--with-token"));
