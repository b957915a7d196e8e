/** Input schemas. They become plain JSON schemas without unions, because some providers refuse those. */
import * as z from "zod";
import { isWithinLine, LONGEST_INTERVAL, PATTERN_LENGTH, PATTERNS_AT_MOST, SHORTEST_INTERVAL, WITHIN_LINE } from "../notices/index.js";
import { HTTP_URL, isHttpUrl } from "../process/index.js";
import { LARGEST_TERMINAL, LEAST_OUTPUT_CHARS, LIMITS, type Limits } from "./limits.js";

const whole = (least: number, most: number = Number.MAX_SAFE_INTEGER) => z.number().int().min(least).max(most).optional();
const text = () => z.string().optional();
const flag = () => z.boolean().optional();
const size = () => whole(1, LARGEST_TERMINAL);

export const terminalInputWith = (limits: Limits) =>
	z.strictObject({
		command: text().describe("Shell text for bash, run as given. Required unless input_keys is given."),
		background: flag().describe("Start it beside the shell and return at once with its session_id."),
		timeout: whole(1).describe(`Seconds to wait, ${limits.timeout} by default, ${limits.maxTimeout} at most.`),
		on_timeout: z.enum(["background", "kill"]).optional().describe("At the deadline: let it go on (default), or kill it with all it started."),
		workdir: text().describe("Directory for this command only."),
		pty: flag().describe("Run it on a terminal."),
		cols: size().describe(`Terminal width, ${limits.cols} by default.`),
		rows: size().describe(`Terminal height, ${limits.rows} by default.`),
		check_interval: whole(1, LONGEST_INTERVAL).describe(`Background only: a progress notice every so many seconds, at least ${SHORTEST_INTERVAL}.`),
		notify_on_complete: flag().describe("Background only: one notice when it ends."),
		watch_patterns: z
			.array(z.string().min(1).max(PATTERN_LENGTH).refine(isWithinLine, WITHIN_LINE))
			.max(PATTERNS_AT_MOST)
			.optional()
			.describe("Background only: a notice when an output line contains one of these texts."),
		session_id: text().describe("With input_keys: which process. Default: the one last seen waiting for input."),
		input_keys: text().describe('Text and keys for a program that waits for input, e.g. "<ESC>:wq<ENTER>".'),
		idle_threshold: z
			.number()
			.min(0.1)
			.max(86_400)
			.optional()
			.describe(`pty: seconds of silence that count as waiting where the kernel cannot tell, ${limits.idleThreshold} by default.`),
		max_output_chars: whole(LEAST_OUTPUT_CHARS).describe(
			`Characters of output in the result, ${limits.outputChars} by default; the middle of more is left out.`,
		),
	});

export const ACTIONS = ["list", "poll", "log", "wait", "kill", "write", "submit", "close", "keys", "screen", "resize", "signal"] as const;
export type Action = (typeof ACTIONS)[number];

const untilInput = z.strictObject({
	exit: flag().describe("It has ended. Always ends the wait."),
	pattern: z
		.string()
		.min(1)
		.max(10_000)
		.optional()
		.describe("Regular expression (JavaScript; ^ and $ at lines; a prompt has no line end) in output you were not shown yet."),
	port: whole(1, 65_535).describe("Something accepts connections there."),
	http: z.string().refine(isHttpUrl, HTTP_URL).optional().describe("This URL answers with 200 to 399, or with `status`."),
	status: whole(100, 599).describe("With http: exactly this status."),
	silence: z.number().min(0.1).max(86_400).optional().describe("It printed nothing for so many seconds."),
	input: flag().describe("It has a terminal and waits for input."),
	screen: z.string().min(1).max(10_000).optional().describe("Its rendered screen contains this text."),
});

export const processInputWith = (limits: Limits) =>
	z.strictObject({
		action: z.enum(ACTIONS).describe("What to do."),
		session_id: text().describe("Which process: its id, or 4 or more digits of it. For all actions but list."),
		data: text().describe("write, submit: the text. keys: text and keys such as <UP>."),
		timeout: whole(1).describe(`wait: seconds, ${limits.waitTimeout} by default and at most ${limits.maxWaitTimeout}. keys: how long to let it react.`),
		offset: whole(0).describe("log: first line to show, 0 is the first of the log. Without it: the last lines."),
		limit: whole(1).describe(`log: how many lines, ${limits.logLines} by default.`),
		byte_offset: whole(0).describe("poll, log: show the output from this byte on. wait: look for the pattern from there; default: behind what you were shown."),
		signal: text().describe('signal: its name, e.g. "INT", "HUP", "USR1".'),
		until: untilInput.optional().describe("wait: conditions; the first that holds ends it."),
		cols: size().describe("resize: width."),
		rows: size().describe("resize: height."),
	});

export const terminalInput = terminalInputWith(LIMITS);
export const processInput = processInputWith(LIMITS);

export type TerminalArgs = z.infer<typeof terminalInput>;
export type ProcessArgs = z.infer<typeof processInput>;
export type UntilArgs = z.infer<typeof untilInput>;
