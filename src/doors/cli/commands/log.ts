import { fitted, HoldfastError, idPrefix } from "../../../base/index.js";
import type { Runtime } from "../../../process/index.js";
import { type EntryOfProcess, FORMATS, followTask, linesOf, matching, mustBeKnown, TaskTranscript, withOutput, wordsOf } from "../../../transcript/index.js";
import { type CliCall, type CommandBody, EXIT } from "../command.js";
import { oneLine, plainLine, width } from "../output.js";
import { sinceOption } from "../quantity.js";
import { writeOut } from "../stream.js";
import { exportTranscript } from "../transcript-file.js";

const OUTPUT_LINES = 10;
const NARROW = 60; // columns

export const log: CommandBody = {
	name: "log",
	usage: "[TASK] [--output] [--since WHEN] [--search TEXT] [--follow] [--export FILE]",
	options: {
		output: { type: "boolean", short: "o", help: `show the first ${OUTPUT_LINES} lines that each command printed` },
		since: { type: "string", value: "WHEN", help: "only from then on: 10m, 2h, 3d, or a time as 2026-01-31T12:00" },
		search: { type: "string", value: "TEXT", help: "only what has this text, in a command or in what it printed" },
		follow: { type: "boolean", short: "f", help: "go on with what comes" },
		export: { type: "string", value: "FILE", help: "write all of it to a file, with output: FILE.md, FILE.json or FILE.html; - is stdout" },
		format: { type: "string", value: "FORM", help: `the form of the export, if the name does not say: ${FORMATS.join(", ")}`, choices: FORMATS },
	},
	teach: `
Everything that a task did, oldest first: commands with exit code, time and size, files that were read and changed, questions and answers,
notices, and when a person had the keyboard. Without TASK it is the task of --task, else "default". \`holdfast logs ID\` prints all that
one command has printed. Secrets are masked, and nothing that was printed acts on your terminal.

With --follow a command is shown when it has ended; one that takes longer than two seconds also while it runs.
With --json one object a line, each command with its output: up to 1 MiB, of more the first and last half of that (docs/transcript.md).
An export is written beside its name and then put in place, whole or not at all; a file that exists is not replaced.

Examples
  holdfast log
  holdfast log ci-42 --output --since 1h
  holdfast log ci-42 --search "error TS"
  holdfast log ci-42 --export ci-42.html`,
	async run(call) {
		const { values } = call;
		const runtime = await call.runtime();
		const task = taskOf(call, runtime);
		const since = sinceOption(call, "since");
		if (values.export !== undefined || values.format !== undefined) {
			if (values.follow || values.search !== undefined) throw new HoldfastError("INVALID", "an export has everything; leave out --follow and --search");
			return exportTranscript(call, runtime, { task, since });
		}
		if (values.search === "") throw new HoldfastError("INVALID", "--search takes a text, and none was given");
		const stop = new AbortController();
		for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) if (values.follow) process.once(name, () => stop.abort());
		const coming = values.follow ? followTask(runtime, task, stop.signal) : undefined;
		const first = coming?.next(); // from here on nothing is missed
		const began = Date.now();
		const transcript = await TaskTranscript.of(runtime, task, { since });
		if (transcript.length === 0 && !coming) mustBeKnown(runtime, task);
		const shown = new Set<string>();
		for (const told of transcript.read()) {
			if (coming && (told.entry.status === "running" || Date.parse(told.entry.at) >= began - RECENT_MS)) shown.add(gist(told));
			await print(call, told);
		}
		if (transcript.length === 0 && !call.out.json && !coming) call.out.note("nothing is on record");
		if (!coming) return EXIT.ok;
		if (transcript.length === 0 && !call.out.json) call.out.note(`nothing is on record of task ${task} yet; waiting for it (Ctrl-C ends this)`);
		for (let next = await first; next && !next.done; next = await coming.next()) if (!shown.delete(gist(next.value))) await print(call, next.value);
		return EXIT.ok;
	},
};

/** Entries of this age may be in the past part and in the live part. */
const RECENT_MS = 60_000;
const gist = ({ entry }: EntryOfProcess): string => `${entry.entry_id} ${entry.status ?? ""}`;

function taskOf({ words, values }: CliCall, runtime: Runtime): string {
	const [word, ...more] = words;
	if (more.length > 0) throw new HoldfastError("INVALID", `only one task is expected, not also "${more.join(" ")}"`);
	if (word !== undefined && values.task !== undefined) throw new HoldfastError("INVALID", "name the task as a word or with --task, not both");
	if (word !== undefined && idPrefix(word) !== undefined && runtime.registry.matching(word)?.[0])
		throw new HoldfastError("INVALID", `"${word}" is a process; \`holdfast logs ${word}\` prints its output, and \`holdfast log TASK\` is about a task`);
	return word ?? runtime.task;
}

async function print(call: CliCall, told: EntryOfProcess): Promise<void> {
	const { values, out } = call;
	const found = typeof values.search === "string" ? matching(told, values.search) : [];
	if (found === undefined) return;
	if (out.json) {
		await write(`${JSON.stringify(withOutput(told))}\n`);
		return;
	}
	const lines = [...headOf(call, told), ...found.map((line) => inside(call, line))];
	if (values.output && told.process && values.search === undefined) lines.push(...outputLines(call, told.process));
	await write(`${lines.join("\n")}\n`);
}

const write = (text: string): Promise<void> => writeOut(Buffer.from(text));

/** Returns one line; on a narrow terminal two, neither wider than it. */
function headOf({ out }: CliCall, { entry }: EntryOfProcess): string[] {
	const { head, text, details, tone } = wordsOf(entry);
	const colour = ({ good: "green", bad: "red", asks: "yellow", plain: "cyan" } as const)[tone];
	const [day, time] = [entry.at.slice(0, 10), entry.at.slice(11, 19)];
	if (out.columns < NARROW) {
		const room = Math.max(1, out.columns - time.length - 1);
		const both = [head, ...details.slice(0, 1)].join(" ");
		const about = oneLine(width(both) <= room ? both : head, room);
		const id = details.filter(isId).map(shortId);
		const below = [...id, text].filter(Boolean).join(" ");
		return [`${out.style("dim", time)} ${out.style(colour, about)}`, ...(below === "" ? [] : [`  ${oneLine(below, Math.max(1, out.columns - 2))}`])];
	}
	const before = `${out.style("dim", `${day} ${time}`)}  ${out.style(colour, head.padEnd(HEAD_CHARS))}  `;
	const room = out.columns - width(before);
	if (width(text) + width(inBrackets(details)) <= room) return [`${before}${text}${out.style("dim", inBrackets(details))}`];
	const about = shortened(details, room - Math.min(LEAST_TEXT, width(text)));
	const shown = oneLine(text, Math.max(1, room - width(about)));
	return [`${before}${shown}${out.style("dim", fitted(about, Math.max(0, room - width(shown))))}`];
}

const HEAD_CHARS = 12;
const LEAST_TEXT = 20; // columns
const inBrackets = (details: readonly string[]): string => (details.length > 0 ? `  (${details.join(", ")})` : "");
const isId = (word: string): boolean => /^proc_[0-9a-f]+$/.test(word);
const shortId = (id: string): string => id.slice("proc_".length, "proc_".length + 6);

/** Without what has no room; the id stays to the last, since it leads to the rest. */
function shortened(details: readonly string[], room: number): string {
	const words = details.map((word) => (isId(word) ? shortId(word) : word));
	const id = details.findIndex(isId);
	let kept = [...words.keys()];
	for (let at = words.length - 1; at >= 0 && width(inBrackets(kept.map((one) => words[one] as string))) > room; at--)
		if (at !== id) kept = kept.filter((one) => one !== at);
	return inBrackets(kept.map((one) => words[one] as string));
}

const inside = ({ out }: CliCall, line: string): string => out.style("dim", `    ${plainLine(line, Math.max(1, Math.min(400, out.columns - 4)))}`);

function outputLines(call: CliCall, process: NonNullable<EntryOfProcess["process"]>): string[] {
	const lines: string[] = [];
	for (const line of linesOf(process)) {
		if (lines.length === OUTPUT_LINES)
			return [...lines, inside(call, call.out.columns < NARROW ? `… logs ${process.id.slice(5, 11)}` : `… holdfast logs ${process.id} prints the rest`)];
		lines.push(inside(call, line.replaceAll("\t", "    ")));
	}
	return lines;
}
