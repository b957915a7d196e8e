/** Results of the tools: one flat object per call, the same through every door. */
import * as z from "zod";
import { noticeSchema } from "../notices/index.js";
import { RESTARTS } from "../process/index.js";
import { boxField } from "./box-field.js";
import type { FileResult } from "./files/index.js";
import type { OwnResult } from "./own-result.js";

const status = z.lazy(() =>
	z.enum([
		"running",
		"awaiting_input",
		"exited",
		"killed",
		"timeout",
		"interrupted",
		"lost",
		"blocked",
		"pending_approval",
		"error",
		"not_found",
		"already_exited",
	]),
);

const cursor = z.lazy(() => z.object({ row: z.number().int(), col: z.number().int() }).describe("From 0."));

const truncated = z.lazy(() =>
	z.object({
		total_chars: z.number().int(),
		omitted_chars: z.number().int(),
		session_id: z.string(),
		byte_offset: z.number().int().describe("Where in the log the omitted part starts."),
	}),
);

const limit = z.lazy(() =>
	z
		.object({
			name: z.enum(["memory", "cpu", "cpu_time", "pids", "time", "output", "output_rate", "file_size"]),
			of: z.enum(["process", "task", "machine"]).describe("Whose limit."),
			value: z.number().nullable().describe("In bytes, seconds or processes."),
			by: z.string().describe("What kept it."),
		})
		.describe("A limit of the machine's resources that it met."),
);

/** Fields common to both tools. */
const common = () => ({
	error: z.string().nullable().describe("null, or what went wrong and what to do next."),
	session_id: z.string().optional(),
	pid: z.number().int().nullable().optional(),
	signal: z.string().optional().describe("The signal that ended it, where that is certain."),
	limit: limit.optional(),
	screen: z.string().optional().describe("The rendered screen of a program on a terminal."),
	cursor: cursor.optional(),
	alt_screen: z.boolean().optional(),
	waiting_for: z.enum(["line", "password", "keys", "idle"]).optional(),
	waiting_evidence: z.string().optional(),
	truncated: truncated.optional(),
	known: z.array(z.string()).optional().describe("not_found: the ids there are."),
	timeout_note: z.string().optional(),
	note: z.string().optional(),
	box: boxField.optional(),
	notices: z.array(noticeSchema).optional().describe("News of background processes."),
});

export const terminalOutput = z.lazy(() =>
	z.object({
		status,
		exit_code: z.number().int().nullable().describe("null while it runs, and when nobody saw it end."),
		...common(),
		outcome: z
			.enum(["denied", "expired", "refused_by_rule", "unattended"])
			.optional()
			.describe("blocked: a person said no; no person answered in time; a rule forbids it; no person is there to ask."),
		approval_id: z.string().optional().describe("The question to a person about this command."),
		rule: z.string().optional().describe("The rule that decided about it."),
		reason: z.string().optional(),
		part: z.object({ start: z.number().int(), end: z.number().int(), text: z.string() }).optional().describe("What in the command that is about, in bytes."),
		cwd: z.string().optional().describe("The shell's directory now."),
		duration_ms: z.number().int().optional(),
		pty_note: z.string().optional(),
		check_interval_note: z.string().optional(),
		max_output_chars_note: z.string().optional(),
		output: z.string().describe("stdout and stderr in the order written."),
	}),
);

const listed = z.lazy(() =>
	z.object({
		session_id: z.string(),
		name: z.string().optional(),
		command: z.string(),
		cwd: z.string(),
		place: z.string(),
		pty: z.boolean(),
		pid: z.number().int().nullable(),
		status,
		exit_code: z.number().int().nullable(),
		signal: z.string().optional(),
		limit: limit.optional(),
		started_at: z.string(),
		uptime_seconds: z.number().int(),
		restart: z.enum(RESTARTS).optional(),
		restarts: z.number().int().optional(),
		output_preview: z.string(),
		note: z.string().optional(),
	}),
);

export const processOutput = z.lazy(() =>
	z.object({
		status: status.optional().describe("Of the process; list has none."),
		output: z.string().optional(),
		exit_code: z.number().int().nullable().optional().describe("null while it runs, and when nobody saw it end."),
		...common(),
		processes: z.array(listed).optional().describe("list: newest first."),
		uptime_seconds: z.number().int().optional(),
		byte_offset: z.number().int().optional().describe("poll, log: where `output` starts. wait: where the match ends, else the end of the output."),
		next_offset: z.number().int().optional().describe("poll, log: the byte_offset to read on from."),
		total_bytes: z.number().int().optional(),
		total_lines: z.number().int().optional(),
		showing: z.string().optional(),
		matched: z.string().nullable().optional().describe("wait: which condition held."),
		match: z.string().optional().describe("wait: the text a pattern found."),
		timed_out: z.boolean().optional(),
		signalled: z.array(z.number().int()).optional().describe("kill: every pid that was sent a signal."),
		survivors: z.array(z.number().int()).optional().describe("kill: who is still alive."),
		bytes_written: z.number().int().optional(),
		cols: z.number().int().optional(),
		rows: z.number().int().optional(),
	}),
);

export type TerminalResult = z.infer<typeof terminalOutput>;
export type ProcessResult = z.infer<typeof processOutput>;
export type ToolName = "terminal" | "process" | "read_file" | "write_file" | "patch" | "search_files" | "upload" | "download";
export type ToolResult = TerminalResult | ProcessResult | FileResult | OwnResult;
