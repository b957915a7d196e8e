/** The status of a process: a shape and a colour, and words for screen readers too. */
import type { ProcessItem } from "../../../src/doors/http/schemas.js";
import { isWaiting, statusWords } from "../state/processes.js";

type Tone = "run" | "wait" | "good" | "bad" | "over";

export function toneOf(process: ProcessItem): Tone {
	if (isWaiting(process)) return "wait";
	if (process.status === "running" || process.status === "awaiting_input") return "run";
	if (process.status === "exited" && process.exit_code === 0) return "good";
	return process.status === "killed" ? "over" : "bad";
}

const SHAPES: Record<Tone, string> = {
	run: "M8 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8z",
	wait: "M3 3h10v10H3zM6 6.5v3",
	good: "M3.5 8.5l3 3 6-7",
	bad: "M4 4l8 8M12 4l-8 8",
	over: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM4.2 11.8l7.6-7.6",
};

export const Glyph = ({ process }: { process: ProcessItem }) => {
	const tone = toneOf(process);
	return (
		<svg class={`glyph ${tone}`} viewBox="0 0 16 16" aria-hidden="true" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round">
			<path d={SHAPES[tone]} />
		</svg>
	);
};

export const StatusWords = ({ process }: { process: ProcessItem }) => <span class={`status ${toneOf(process)}`}>{statusWords(process)}</span>;
