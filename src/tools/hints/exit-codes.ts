/** Explains an exit code that the output does not make obvious. */
import { byName } from "../../base/index.js";
import type { Simple } from "./lex.js";
import { programOf } from "./words.js";

const NO_MATCH = "1 means that nothing matched, which is not a failure";
const DIFFER = "1 means that they differ, which is not a failure";
const FALSE = "1 means that the condition is false, which is not a failure";

const MEANINGS = byName<Readonly<Record<number, string>>>({
	grep: { 1: NO_MATCH },
	egrep: { 1: NO_MATCH },
	fgrep: { 1: NO_MATCH },
	zgrep: { 1: NO_MATCH },
	rg: { 1: NO_MATCH },
	ag: { 1: NO_MATCH },
	ack: { 1: NO_MATCH },
	pgrep: { 1: NO_MATCH },
	diff: { 1: DIFFER },
	colordiff: { 1: DIFFER },
	cmp: { 1: DIFFER },
	test: { 1: FALSE },
	"[": { 1: FALSE },
	"[[": { 1: FALSE },
	find: { 1: "1 means that some directories could not be read; what was found is right" },
	curl: {
		6: "6 means that the host name could not be resolved",
		7: "7 means that nothing accepts connections there",
		22: "22 means that the server answered with an HTTP error",
		28: "28 means that it took too long",
	},
	timeout: { 124: "124 means that timeout(1) ended it when its time was up" },
	ssh: { 255: "255 means that ssh itself failed, not the command there" },
});

/** Without 130: a command may return that itself, and an interrupted call has its own status. */
const USUALLY: Readonly<Record<number, string>> = {
	126: "126 means that it was found but could not be executed",
	127: "127 means that there is no such command; check the name and PATH",
	132: "132 usually means that it crashed on an illegal instruction (SIGILL)",
	134: "134 usually means that it aborted itself (SIGABRT)",
	136: "136 usually means that it crashed in arithmetic (SIGFPE)",
	137: "137 usually means that it was killed (SIGKILL), most often because memory ran out",
	139: "139 usually means that it crashed (SIGSEGV)",
	141: "141 usually means the reader of its output closed the pipe (SIGPIPE)",
	143: "143 usually means that it was asked to end (SIGTERM)",
};

export function exitCodeHint(commands: readonly Simple[], code: number, signal: string | null): string | undefined {
	if (signal === "SIGKILL") return "It was killed by SIGKILL: by another program, or by the kernel because memory ran out.";
	if (signal !== null) return undefined; // the signal is explanation enough
	const last = commands.at(-1); // also for a pipeline, whose code is that of its last command
	const name = last === undefined ? undefined : programOf(last)?.name;
	const own = name === undefined ? undefined : MEANINGS[name]?.[code];
	if (own !== undefined) {
		const mayBeAnother = commands.at(-2)?.end === "&&" ? `, if it is not of something before it,` : "";
		return `Exit code ${own.replace(/^\d+/, `${code} of ${name}${mayBeAnother}`)}.`;
	}
	const usual = USUALLY[code];
	return usual === undefined ? undefined : `Exit code ${usual}.`;
}
