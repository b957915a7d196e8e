import { expect, test } from "vitest";
import { renderResult, type ToolResult } from "../support/internal.js";

const ID = "proc_0123456789ab";

const CASES: [string, ToolResult, string][] = [
	["a command", { status: "exited", output: "hi\n", exit_code: 0, error: null, cwd: "/", duration_ms: 1 }, "[exited, exit code 0]\nhi"],
	[
		"one that goes on",
		{ status: "running", output: "a\n", exit_code: null, error: null, session_id: ID, pid: 7, note: "It goes on.\nHint.", timeout_note: "Clamped." },
		`[running, ${ID}, pid 7]\na\nNote: It goes on.\nNote: Hint.\nNote: Clamped.`,
	],
	["an error", { status: "error", output: "", exit_code: null, error: "no such thing" }, "[error]\nError: no such thing"],
	["a signal", { status: "exited", output: "", exit_code: 137, signal: "SIGKILL", error: null }, "[exited, exit code 137, SIGKILL]"],
	[
		"a question",
		{
			status: "awaiting_input",
			output: "",
			exit_code: null,
			error: null,
			session_id: ID,
			screen: "name?",
			cursor: { row: 0, col: 6 },
			alt_screen: false,
			waiting_for: "line",
		},
		`[awaiting_input, waits for a line, ${ID}]\nname?`,
	],
	[
		"a terminal that has ended: what has scrolled off its screen, and the screen",
		{ status: "exited", output: "a\n", exit_code: 0, error: null, screen: "b", cursor: { row: 1, col: 0 }, alt_screen: false },
		"[exited, exit code 0]\na\nb",
	],
	[
		"a full screen",
		{ status: "running", output: "", exit_code: null, error: null, screen: "top", cursor: { row: 0, col: 0 }, alt_screen: true },
		"[running]\ntop",
	],
	["a write", { status: "running", exit_code: null, error: null, session_id: ID, bytes_written: 3 }, `[running, 3 bytes written, ${ID}]`],
	["a wait", { status: "running", output: "", exit_code: null, error: null, matched: "port", byte_offset: 3 }, "[running, port held]"],
	["a kill", { status: "killed", exit_code: 143, error: null, signalled: [1, 2], survivors: [] }, "[killed, exit code 143, 2 signalled]"],
	[
		"a log",
		{ status: "exited", exit_code: 0, output: "x\n", error: null, showing: "lines 0 to 0 of 1 (0 is the first)" },
		"[exited, exit code 0, lines 0 to 0 of 1 (0 is the first)]\nx",
	],
	["an empty list", { error: null, processes: [], note: "There are none." }, "Note: There are none."],
];

test.each(CASES)("%s", (_name, result, text) => expect(renderResult(result)).toBe(text));

test("a list has a line for each", () => {
	const item = { session_id: ID, command: "make\nall", cwd: "/", place: "local", pty: false, pid: 7, started_at: "", uptime_seconds: 3, output_preview: "" };
	const processes = [
		{ ...item, status: "running" as const, exit_code: null, note: "paused" },
		{ ...item, status: "exited" as const, exit_code: 2, name: "build", pty: true },
	];
	expect(renderResult({ error: null, processes })).toBe(`${ID} [running, 3 s, pid 7, paused] make all\n${ID} [exited, exit code 2, 3 s, pty] build: make all`);
});
