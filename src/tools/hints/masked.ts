/** Detects an exit code 0 that belongs to `tail` while the output shows a failed build. */
import type { Simple } from "./lex.js";
import { programOf } from "./words.js";

/** Programs that succeed on any input. */
const PASSING = new Set(["tail", "head", "cat", "tee", "less", "more", "sed", "awk", "sort", "uniq", "cut", "tr", "column", "ts", "grep"]);
const SWALLOWING = new Set(["true", ":", "echo", "printf"]);

/** Messages of a tool that gave up, at the beginning of a line or with an error number. */
const FAILURES = [
	/^(?:\S+:\d+(?::\d+)?: )?(?:fatal )?error(?:\[\w+\])?: /im,
	/\berror TS\d+:/,
	/^Traceback \(most recent call last\):/m,
	/^npm (?:ERR!|error) /m,
	/^make(?:\[\d+\])?: \*\*\* /m,
	/^(?:BUILD FAILED|BUILD FAILURE|FAILURE: Build failed)\b/m,
	/^(?:FAILED|FAIL)\b/m,
	/\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b/i,
	/^panic: /m,
	/^fatal: /m,
	/Segmentation fault/,
];
const LOOKED_AT = 100_000; // characters from each end

export function maskedHint(commands: readonly Simple[], output: string): string | undefined {
	const by = maskedBy(commands);
	if (by === undefined) return undefined;
	const text = output.length > 2 * LOOKED_AT ? `${output.slice(0, LOOKED_AT)}\n${output.slice(-LOOKED_AT)}` : output;
	if (!FAILURES.some((failure) => failure.test(text))) return undefined;
	return `Exit code 0 is that of ${by}, and the output looks like a failure before it: check, or run it with \`set -o pipefail\` or on its own.`;
}

function maskedBy(commands: readonly Simple[]): string | undefined {
	const last = commands.at(-1);
	const before = commands.at(-2);
	const name = last && programOf(last)?.name;
	if (name === undefined || before === undefined) return undefined;
	if (before.end === "|" && PASSING.has(name)) return `\`${name}\`, the last of the pipeline`;
	if (before.end === "||" && SWALLOWING.has(name)) return `\`${name}\` behind ||`;
	return undefined;
}
