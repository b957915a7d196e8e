/** The schemas of all JSON requests and answers of the HTTP door. Uses nothing of Node, since the page imports the types. */
import * as z from "zod";

const count = z.number().int().min(0);
const time = z.iso.datetime("must be a time such as 2026-01-31T12:00:00Z");
/** The kind of an object, and its settings, are checked where it is used: src/places/kinds.ts. */
const place = z.union(
	[z.string().min(1).max(8_192), z.looseObject({ kind: z.string().max(100) })],
	"must be an address, a name from config.json, or an object with a kind and its settings",
);
const side = z.number().int().min(1).max(10_000);
/** A task name, checked as by `isTaskName` of base. */
const task = z
	.string()
	.min(1)
	.max(1_000)
	.refine((name) => !/\0|[\ud800-\udfff]/u.test(name), "has whole characters only, and no NUL");
const noNul = (text: z.ZodString) => text.refine((value) => !value.includes("\0"), "cannot contain a NUL byte");

/** Every answer with a status of 400 or more. */
export const problemSchema = z.object({
	error: z.object({
		code: z.string().describe("For programs: UNAUTHORIZED, FORBIDDEN, INVALID, NOT_FOUND, KEYBOARD, ENDED, …"),
		message: z.string().describe("One sentence that says what to do next."),
	}),
});

export const okSchema = z.object({ ok: z.literal(true) });

// Getting in

export const loginSchema = z.strictObject({ token: z.string().min(1).max(1_000).describe("What is behind #token= in the link; or the token itself.") });
export const loggedInSchema = z.object({
	key: z.string().describe("Send it as X-Holdfast-Key with every request of this browser, beside the cookie."),
	expires_at: time,
});
export const sessionSchema = z.object({
	scope: z.enum(["owner", "viewer"]),
	session_id: z.string().nullable().describe("viewer: the one terminal that may be seen."),
	expires_at: time.nullable().describe("null: a token, which does not expire."),
	version: z.string(),
	mcp: z.string().nullable().describe("The MCP endpoint, for the owner."),
	home: z.string().nullable(),
	place: z.string().nullable().describe("Where what is started runs, unless said otherwise."),
	cwd: z.string().nullable().describe("Where what is started by hand starts, unless said otherwise."),
	parts: z
		.array(z.object({ name: z.string(), label: z.string(), icon: z.string().nullable(), script: z.string(), style: z.string().nullable() }))
		.describe("Views that other packages bring, for the owner: their paths in this server."),
});

export const ticketRequestSchema = z.discriminatedUnion("for", [
	z.strictObject({ for: z.literal("terminal"), session_id: z.string() }),
	z.strictObject({
		for: z.literal("download"),
		path: z.string().startsWith("/api/", "must begin with /api/").max(8_000).describe("The path and query that is to be downloaded."),
	}),
]);
export const ticketSchema = z.object({
	ticket: z.string(),
	url: z.string().describe("Where to use it, once: a path with the ticket in it."),
	expires_in: z.number().describe("Seconds."),
});

// Processes

/** The holder of a process's keyboard. null: no person has it, so the agent may type. */
export const keyboardSchema = z
	.object({
		who: z.string().describe("In words: a person in a browser, a person at `holdfast attach`."),
		since: time,
		byte_offset: count.describe("Where the output ended when it was taken."),
	})
	.nullable();

export const resourcesSchema = z
	.object({
		cpu_percent: z.number().min(0).nullable().describe("Of one core, since the last look; null at the first."),
		memory_bytes: count,
		processes: count,
	})
	.nullable()
	.describe("Of the whole tree; null when it has ended or cannot be told.");

export const processSchema = z.object({
	session_id: z.string(),
	name: z.string().optional(),
	kind: z
		.enum(["process", "command", "shell", "sandbox"])
		.describe("command: a foreground command of a task's shell. shell, sandbox: what a task's commands run in."),
	task: z.string(),
	command: z.string().describe("Cut at 4,096 characters; one process alone has it all."),
	cwd: z.string(),
	place: z.string(),
	pty: z.boolean(),
	pid: z.number().int().nullable(),
	status: z.enum(["running", "awaiting_input", "exited", "killed", "lost", "error"]),
	waiting_for: z.enum(["line", "password", "keys", "idle"]).optional(),
	waiting_evidence: z.string().optional(),
	exit_code: z.number().int().nullable(),
	signal: z.string().nullable(),
	started_at: time,
	ended_at: time.nullable(),
	uptime_seconds: count,
	restart: z.enum(["always", "on-failure"]).optional().describe("It is started again when it ends, or when it fails."),
	restarts: count.optional(),
	last_line: z.string().describe("The last line with something on it, without escape sequences, 200 characters at most."),
	first_offset: count.describe("The oldest byte that is still in the log."),
	total_bytes: count.describe("The offset behind the newest byte."),
	last_output_at: time.nullable(),
	parent: z.string().nullable().describe("The process that started it through Holdfast."),
	call: z.string().nullable().describe("The call of an agent that it was started for, as `run` in the audit; null: by hand."),
	keyboard: keyboardSchema,
	resources: resourcesSchema,
	limit: z
		.object({
			name: z.string(),
			of: z.enum(["process", "task", "machine"]),
			value: z.number().nullable(),
			by: z.string(),
			left: z.array(z.number().int()).readonly().optional(),
		})
		.optional()
		.describe("A limit that it met."),
	note: z.string().optional(),
});
export const startedSchema = processSchema.extend({
	notes: z.array(z.string()).describe("What was found changed where it was started: that a container was made again, or woken."),
});
export const processListSchema = z.object({ processes: z.array(processSchema) });
export const processDetailSchema = processSchema.extend({
	full_command: z.string(),
	argv: z.array(z.string()).optional(),
	shell: z.string().optional(),
	stdin: z.boolean(),
	cols: side.nullable(),
	rows: side.nullable(),
	log: z.object({ limit: count, full: z.enum(["ring", "block"]) }),
	kill_method: z.string(),
	dir: z.string().nullable().describe("Its directory in the home, for the owner."),
});

export const listQuerySchema = z.strictObject({
	task: task.optional().describe("Only this task's; default: every task's."),
	ended: z.enum(["true", "false"]).optional().describe("Also those that ended in the last half hour. Default true."),
	shells: z.enum(["true", "false"]).optional().describe("Also the persistent shells. Default false."),
});

export const spawnSchema = z.strictObject({
	command: noNul(z.string().min(1).max(1_000_000)),
	task: task.optional(),
	name: noNul(z.string().max(200)).optional(),
	cwd: noNul(z.string().min(1).max(4_096)).optional(),
	pty: z.boolean().optional().describe("Default true."),
	cols: side.optional(),
	rows: side.optional(),
	place: place
		.optional()
		.describe("An address or a name, as for --place, or an object with the kind of place and its settings. Default: where this server's agents run."),
});

export const renameSchema = z.strictObject({ name: noNul(z.string().min(1).max(200)) });

export const killedSchema = z.object({
	session_id: z.string(),
	status: z.enum(["killed", "already_exited", "error"]),
	method: z.string(),
	signalled: z.array(z.number().int()),
	survivors: z.array(z.number().int()),
	exit_code: z.number().int().nullable(),
	signal: z.string().nullable(),
});
export const signalSchema = z.strictObject({ signal: z.string().min(1).max(20) });
export const inputSchema = z.strictObject({
	data: z.string().max(1_000_000),
	base64: z.boolean().optional().describe("The data is base64 of bytes."),
	submit: z.boolean().optional().describe("And Enter."),
});
export const keysSchema = z.strictObject({ keys: z.string().min(1).max(100_000).describe("Text and <KEY> tokens.") });
export const writtenSchema = z.object({ session_id: z.string(), bytes_written: count });
export const resizeSchema = z.strictObject({ cols: side, rows: side });
export const screenSchema = z.object({
	session_id: z.string(),
	screen: z.string(),
	cursor: z.object({ row: count, col: count }),
	alt_screen: z.boolean(),
	title: z.string(),
	cols: side,
	rows: side,
	byte_offset: count,
	waiting_for: z.enum(["line", "password", "keys", "idle"]).nullable(),
	waiting_evidence: z.string().nullable(),
});
export const waitSchema = z.strictObject({
	until: z.record(z.string(), z.unknown()).optional().describe("As in docs/tools.md; default {exit: true}."),
	timeout: z.number().positive().max(600).optional().describe("Seconds; default 30."),
	byte_offset: count.optional(),
});
export const waitedSchema = z.object({
	process: processSchema,
	matched: z.string().nullable(),
	timed_out: z.boolean(),
	byte_offset: count,
	match: z.string().optional(),
});

// Output

export const logQuerySchema = z.strictObject({
	offset: z.coerce.number().int().min(0).optional().describe("Default: the last `limit` bytes."),
	limit: z.coerce.number().int().min(1).max(4_194_304).optional().describe("Bytes; default 262,144."),
});
/** Lines as text, without escape sequences: for scrolling back and reading, also in a log of 64 MiB. */
export const linesQuerySchema = z.strictObject({
	before: z.coerce.number().int().min(0).optional().describe("Lines that end at or before this byte. Default: the end of the log."),
	after: z.coerce.number().int().min(0).optional().describe("Instead: lines from this byte on."),
	limit: z.coerce.number().int().min(1).max(5_000).optional().describe("Default 200."),
});
export const linesSchema = z.object({
	lines: z.array(z.object({ offset: count, text: z.string() })),
	first_offset: count,
	start: count.describe("Where the first of them starts: `before` for the page above."),
	next: count.describe("Behind the last of them: `after` for the page below."),
	total_bytes: count,
});
export const searchQuerySchema = z.strictObject({
	q: z.string().min(1).max(500).describe("Text, not a pattern; case does not matter."),
	task: task.optional(),
	session_id: z.string().optional(),
	limit: z.coerce.number().int().min(1).max(500).optional().describe("Default 100."),
});
export const searchSchema = z.object({
	matches: z.array(z.object({ session_id: z.string(), offset: count, line_offset: count, line: z.string() })),
	searched_bytes: count,
	complete: z.boolean().describe("false: there may be more; the note says why."),
	note: z.string().nullable(),
});

// Tasks, notices, tree, housekeeping

export const taskUseSchema = z
	.object({
		cpu_percent: z.number().min(0).describe("Of one core, since the last look."),
		memory_bytes: count,
		processes: count,
		seconds: count.describe("How long all of it ran, added up."),
		printed_bytes: count,
		limits: z.array(z.object({ name: z.string(), of: z.enum(["process", "task", "machine"]), words: z.string(), met: z.boolean() })),
	})
	.describe("Of what is listed, and of the task's shells.");
export const tasksSchema = z.object({
	tasks: z.array(
		z.object({
			task: z.string(),
			running: count,
			waiting: count,
			ended: count,
			started_at: time,
			cwd: z.string().nullable(),
			use: taskUseSchema,
			client: z.enum(["connected", "silent", "gone"]).nullable().describe("Its MCP client; silent: over HTTP, with nothing open; null: there is none."),
			client_name: z.string().nullable(),
			client_version: z.string().nullable(),
			silent_since: time.nullable(),
			gone_since: time.nullable(),
		}),
	),
});
export const noticeSchema = z.looseObject({
	id: z.string(),
	kind: z.string(),
	task: z.string(),
	session_id: z.string().nullable(),
	at: z.string(),
	text: z.string(),
});
export const noticesSchema = z.object({ notices: z.array(noticeSchema) });
export const doctorSchema = z.object({
	checks: z.array(z.object({ name: z.string(), state: z.enum(["ok", "warn", "fail"]), found: z.string(), advice: z.string().optional() })),
	orphans: z.array(z.object({ kind: z.string(), what: z.string(), path: z.string().optional(), pids: z.array(z.number()).optional() })),
});
export const pruneSchema = z.strictObject({
	older_than_seconds: z.number().min(0).optional(),
	quota_bytes: count.optional(),
	dry_run: z.boolean().optional(),
});
export const endTaskSchema = z.strictObject({ task, if_gone: z.boolean().optional().describe("Only if its MCP client is gone now; else CONFLICT.") });
export const endedTaskSchema = z.looseObject({
	task: z.string(),
	gone: z.boolean().describe("Nothing of it is left."),
	processes: z.array(z.looseObject({ session_id: z.string(), command: z.string(), place: z.string(), status: z.string() })),
	shells: count,
	sandboxes: z.array(z.object({ id: z.string(), kind: z.string() })),
	notes: z.array(z.string()),
});
export const sandboxesSchema = z.object({
	sandboxes: z.array(z.looseObject({ id: z.string(), kind: z.string(), task: z.string(), home: z.string(), state: z.string(), orphan: z.boolean() })),
	notes: z.array(z.string()),
});
export const stoppedSchema = z.object({ stopped: z.array(z.string()) });
export const removedSchema = z.object({ removed: z.array(z.string()), notes: z.array(z.string()) });
export const prunedSchema = z.object({
	removed: z.array(z.string()),
	bytes: count,
	kept: count,
	places: z.array(z.string()),
	shells: count,
	dry_run: z.boolean(),
});

export const policyCheckSchema = z.strictObject({
	command: z.string().min(1).max(1_000_000),
	cwd: z.string().min(1).max(4_096).optional(),
	place: place.optional(),
	task: task.optional(),
});
export const verdictSchema = z.looseObject({
	decision: z.enum(["allow", "ask", "deny"]),
	rule: z.string().nullable(),
	reason: z.string().nullable(),
	notes: z.array(z.string()),
});

// Approvals

export const choiceSchema = z.enum(["once", "task", "always", "no"]);
export const approvalSchema = z.object({
	id: z.string(),
	task: z.string(),
	command: z.string(),
	cwd: z.string(),
	place: z.string(),
	parts: z
		.array(z.object({ start: count, end: count, text: z.string(), rule: z.string(), reason: z.string() }))
		.describe("What in it is to be decided about, and why; start and end are bytes of the command."),
	choices: z.array(choiceSchema).describe("What can be answered."),
	state: z.enum(["pending", "answered", "expired", "withdrawn"]),
	created_at: time,
	expires_at: time,
	waiting: z.boolean().describe("A call waits for the answer now. If none does, it counts for the next identical one."),
	answer: choiceSchema.optional(),
	by: z.string().optional(),
	message: z.string().optional(),
	answered_at: time.optional(),
});
export const approvalsSchema = z.object({ approvals: z.array(approvalSchema) });
export const answerSchema = z.strictObject({ answer: choiceSchema, message: z.string().max(2_000).optional().describe("For the agent.") });
export const revokeSchema = z.strictObject({ task });
export const revokedSchema = z.object({
	task: z.string(),
	allowed: z
		.array(z.object({ approval_id: z.string(), command: z.string(), cwd: z.string(), place: z.string(), by: z.string() }))
		.describe("Had been allowed for the rest of the task."),
	unused: z.array(z.string()).describe("Answers `once` that no call had made use of."),
	withdrawn: z.array(z.string()).describe("Questions that waited for an answer."),
});

// Audit

export const auditQuerySchema = z.strictObject({
	task: task.optional(),
	since: time.optional(),
	limit: z.coerce.number().int().min(1).max(10_000).optional().describe("The newest so many; default 500."),
});
export const auditSchema = z.object({
	events: z.array(z.looseObject({ at: z.string(), task: z.string(), event: z.string(), session_id: z.string().optional(), command: z.string().optional() })),
	omitted: count.describe("Older ones that match and are left out."),
});

// Transcripts

export const taskLogQuerySchema = z.strictObject({
	task,
	before: z.string().max(200).optional().describe("Entries before the one with this `entry_id`. Default: the newest."),
	after: z.string().max(200).optional().describe("Instead: entries behind this one."),
	since: time.optional(),
	search: z.string().min(1).max(500).optional().describe("Only entries with this text, in a command or in what it printed; case does not matter."),
	limit: z.coerce.number().int().min(1).max(1_000).optional().describe("Default 200."),
});
export const taskLogEntrySchema = z.looseObject({
	entry_id: z.string(),
	at: z.string(),
	kind: z.string().describe("command, file, read, tool, asked, decided, notice, keyboard, killed, signalled, wrote: docs/transcript.md."),
	task: z.string(),
	session_id: z.string().optional(),
	command: z.string().optional(),
	status: z.string().optional(),
	exit_code: z.number().int().nullable().optional(),
	duration_ms: z.number().nullable().optional(),
	bytes: count.nullable().optional(),
	words: z.object({
		head: z.string(),
		text: z.string(),
		details: z.array(z.string()).readonly(),
		tone: z.enum(["good", "bad", "asks", "plain"]),
	}),
	has_output: z.boolean().describe("/api/tasks/log/output has it."),
	lines: z.array(z.string()).optional().describe("Of a search: lines of the output that have the text, 5 at most."),
});
export const taskLogSchema = z.object({
	task: z.string(),
	entries: z.array(taskLogEntrySchema),
	earlier: z.boolean().describe("There may be entries before these."),
	later: z.boolean().describe("There may be entries behind these."),
});
export const taskLogsSchema = z.object({ tasks: z.array(z.object({ task: z.string(), last_activity: time })) });
export const taskLogOutputQuerySchema = z.strictObject({
	session_id: z.string(),
	limit: z.coerce.number().int().min(1).max(1_048_576).optional().describe("Bytes; of more, the first and the last half. Default 262,144."),
});
export const taskLogOutputSchema = z.object({ session_id: z.string(), output: z.string(), omitted_bytes: count });
export const taskLogExportQuerySchema = z.strictObject({ task, format: z.enum(["md", "json", "html"]) });

// Calls of tools, and files of a task, for a program that runs the task

/** The place of a task's call, in a query. */
export const whereSchema = z.strictObject({
	task: task.optional().describe("Whose call it is. Default: the server's own task."),
	place: z.string().min(1).max(8_192).optional().describe("An address or a name, as for --place, or a place object as JSON. Default: the server's place."),
	user: z.string().min(1).max(100).optional().describe("The user in a container. Default: the container's."),
});
export const callQuerySchema = whereSchema.extend({
	id: z.string().min(1).max(200).optional().describe("Of the caller's: the call is found by it after any crash. Used once in a task."),
	keep: z.enum(["true", "false"]).optional().describe("Keep the result until it is settled; needs an id."),
});
export const callIdSchema = z.strictObject({ task, id: z.string().min(1).max(200) });
export const foundCallSchema = z.looseObject({
	state: z.enum(["never", "running", "ended", "unknown"]),
	tool: z.string().optional(),
	session_id: z.string().optional(),
	status: z.string().nullable().optional(),
	exit_code: z.number().int().nullable().optional(),
	result: z.record(z.string(), z.unknown()).optional().describe("The answer of the tool, if it was kept and is not settled."),
	settled: z.boolean().optional(),
	reason: z.string().optional().describe("unknown: why that cannot be known."),
});
export const taskFileQuerySchema = whereSchema.extend({
	path: noNul(z.string().min(1).max(4_096)).describe("Absolute, or from the directory of the task's shell."),
});
export const taskFileWriteQuerySchema = taskFileQuerySchema.extend({
	mode: z
		.string()
		.regex(/^[0-7]{3,4}$/, "must be permissions such as 644")
		.optional(),
});
export const taskFileListQuerySchema = taskFileQuerySchema.extend({ recursive: z.enum(["true", "false"]).optional() });
export const taskFileWrittenSchema = z.object({
	path: z.string(),
	created: z.boolean(),
	bytes: count,
	sha256: z.string(),
	notes: z.array(z.string()).readonly(),
});
export const taskFileListSchema = z.object({
	entries: z.array(
		z.object({
			name: z.string(),
			kind: z.enum(["file", "directory", "link", "other"]),
			size: count,
			mode: z.number().int().nullable(),
			target: z.string().optional(),
		}),
	),
});

// Files

export const filesQuerySchema = z.strictObject({
	path: noNul(z.string().min(1).max(4_096)).optional().describe("Absolute, or from `task`'s directory. Default: that directory."),
	task: task.optional(),
	session_id: z.string().optional().describe("Instead of a task: start at this process's directory."),
});
export const fileEntrySchema = z.object({
	name: z.string(),
	type: z.enum(["file", "directory", "link", "other"]),
	size: count,
	modified_at: time,
	mode: z.string().describe("As in -rw-r--r--."),
	target: z.string().optional().describe("Of a link, and what that is."),
	target_type: z.enum(["file", "directory", "other", "missing"]).optional(),
});
export const filesSchema = z.object({
	place: z.string().describe("The place that has the files: `local`, or the display name of a remote one."),
	path: z.string().describe("Without links and dots: where this really is."),
	type: z.enum(["file", "directory", "other"]),
	parent: z.string().nullable(),
	entries: z.array(fileEntrySchema).nullable().describe("Of a directory: directories first, then by name."),
	omitted: count.describe("Entries beyond the first 5,000."),
	size: count,
	modified_at: time,
	text: z.boolean().nullable().describe("Of a file: it looks like text."),
});
export const uploadedSchema = z.object({ path: z.string(), size: count, replaced: z.boolean() });

// Links to one terminal

export const viewerRequestSchema = z.strictObject({
	session_id: z.string(),
	seconds: z.number().int().min(60).max(2_592_000).optional().describe("How long it works; default 86,400, a day; of a keyboard link 600, at most 86,400."),
	keyboard: z.boolean().optional().describe("It may take the keyboard: one browser, once."),
});
export const viewerSchema = z.object({ id: z.string(), session_id: z.string(), created_at: time, expires_at: time, keyboard: z.boolean() });
export const openLinkSchema = z.strictObject({ secret: z.string().max(200) });
export const openedLinkSchema = z.object({
	secret: z.string().describe("For this browser: `Authorization: Bearer SECRET`."),
	session_id: z.string(),
	expires_at: time,
});
export const viewerLinkSchema = viewerSchema.extend({ url: z.string().describe("Shown this once.") });
export const portsSchema = z.object({
	session_id: z.string(),
	ports: z.array(
		z.object({
			port: z.number().int().min(1).max(65_535),
			url: z.string().nullable().describe("Opens the preview in a browser; null: it has no name that leads here."),
		}),
	),
	note: z.string().nullable().describe("What to do for a url."),
});
export const viewersSchema = z.object({ viewers: z.array(viewerSchema) });

export type Problem = z.infer<typeof problemSchema>;
export type LoggedIn = z.infer<typeof loggedInSchema>;
export type Session = z.infer<typeof sessionSchema>;
export type TicketRequest = z.infer<typeof ticketRequestSchema>;
export type Ticket = z.infer<typeof ticketSchema>;
export type KeyboardState = z.infer<typeof keyboardSchema>;
export type Resources = z.infer<typeof resourcesSchema>;
export type ProcessItem = z.infer<typeof processSchema>;
export type StartedProcess = z.infer<typeof startedSchema>;
export type Ports = z.infer<typeof portsSchema>;
export type ProcessDetail = z.infer<typeof processDetailSchema>;
export type SpawnRequest = z.infer<typeof spawnSchema>;
export type Killed = z.infer<typeof killedSchema>;
export type Screen = z.infer<typeof screenSchema>;
export type LinePage = z.infer<typeof linesSchema>;
export type SearchResult = z.infer<typeof searchSchema>;
export type TaskUse = z.infer<typeof taskUseSchema>;
export type TaskItem = TaskList["tasks"][number];
export type EndedTask = z.infer<typeof endedTaskSchema>;
export type TaskList = z.infer<typeof tasksSchema>;
export type Notice = z.infer<typeof noticeSchema>;
export type VerdictView = z.infer<typeof verdictSchema>;
export type Approval = z.infer<typeof approvalSchema>;
export type Choice = z.infer<typeof choiceSchema>;
export type TaskLogs = z.infer<typeof taskLogsSchema>;
export type TaskLog = z.infer<typeof taskLogSchema>;
export type TaskLogEntry = TaskLog["entries"][number];
export type TaskLogOutput = z.infer<typeof taskLogOutputSchema>;
export type FileEntry = z.infer<typeof fileEntrySchema>;
export type FileView = z.infer<typeof filesSchema>;
export type OpenedLink = z.infer<typeof openedLinkSchema>;
export type ViewerLink = z.infer<typeof viewerLinkSchema>;
