/** A way to the two tools. The same cases run through each: the library, MCP over stdio, MCP over HTTP. */
import fs from "node:fs";
import { expect } from "vitest";
import { atEnd, forFile, tempDir } from "../support/home.js";
import { type ProcessResult, type Runtime, type TerminalResult, TOOLS } from "../support/internal.js";
import type { ContractPlace } from "./places.js";

/** All that either tool may give back. */
export type Result = Partial<TerminalResult & ProcessResult>;

export interface Door {
	call(tool: "terminal" | "process", args: unknown): Promise<Result>;
}

/** The doors to one home. */
export interface Doors {
	/** Opens one for a task. What it opens besides is closed with `atEnd`. */
	forTask(task: string): Promise<Door>;
	endTask: Runtime["endTask"];
}

/** Opens the way to the tools of a home, once for all cases of a file. What it opens is closed with `atEnd`. */
export type OpenDoors = (options: { home: string }) => Promise<Doors>;

export interface Client {
	terminal(args: unknown): Promise<Result>;
	process(args: unknown): Promise<Result>;
	/** Start it in the background; its id. */
	start(command: string, more?: Record<string, unknown>): Promise<string>;
	/** The same home, another task. */
	other(task: string): Promise<Client>;
	/** An empty directory. */
	readonly dir: string;
	readonly home: string;
	readonly task: string;
	/** Where a new shell starts. */
	readonly cwd: string;
	/** What `list` calls the place. */
	readonly listed: RegExp;
	/** See ContractPlace. */
	readonly server?: { readonly port: number; readonly command: string };
}

export type Begin = () => Promise<Client>;

/** A case. `missing`: why it cannot be tried anywhere on this machine. */
export type Test = (name: string, run: () => Promise<void>, missing?: string) => void;

/** One home and one way into it for all cases of a file. */
export interface Connected {
	/** A client with a task of its own. When the test is over the task is ended: nothing of it may be left. */
	begin: Begin;
	readonly doors: Doors;
}

/** Opens a home for all cases of a file. */
export function connect(open: OpenDoors, place: ContractPlace): Promise<Connected> {
	return forFile(async () => {
		const home = tempDir("home");
		atEnd(() => place.end?.(home));
		const doors = await open({ home });
		const tasks = new Set<string>();
		return { doors, begin: () => client(doors, place, home, tasks, "a task") };
	});
}

async function endTask(doors: Doors, task: string): Promise<void> {
	const { gone, notes } = await doors.endTask(task);
	if (!gone) throw new Error(`the task could not be ended: ${notes.join(" ")}`);
}

/** Which container it was, and when it ends whatever runs, is the place's affair, and looked at here: the cases are the same for all. */
function withoutBox({ box, ...told }: Result, { boxed, ends }: ContractPlace, first: boolean): Result {
	const { note, ...rest } = told;
	const own = note
		?.split("\n")
		.filter((line) => !ENDS.test(line))
		.join("\n");
	if (first && (ends || boxed) && told.status === "exited") expect(ENDS.test(note ?? "")).toBe(ends === true);
	const result: Result = own ? { ...rest, note: own } : note === undefined ? told : rest;
	const ran = result.session_id !== undefined || result.status === "exited";
	if (boxed && ran) expect(box).toEqual({ id: expect.stringMatching(/^[0-9a-f]{12}$/), since: expect.stringMatching(/^\d{4}-/) });
	if (!boxed) expect(box).toBeUndefined();
	return result;
}

const ENDS = /^\S+ ends at \d{4}-\d\d-\d\d \d\d:\d\d \(UTC.*\), in .*, whatever runs in it then\.$/m;

async function client(doors: Doors, place: ContractPlace, home: string, tasks: Set<string>, wanted: string): Promise<Client> {
	// A name that another case has used has a past: processes that have ended are still in its list.
	let task = wanted;
	for (let count = 2; tasks.has(task); count++) task = `${wanted} ${count}`;
	tasks.add(task);
	atEnd(() => endTask(doors, task));
	const door = await doors.forTask(task);
	let first = true;
	const call = async (tool: "terminal" | "process", args: unknown): Promise<Result> => {
		const result = await door.call(tool, args);
		// Nothing that the schema does not name, and everything as it says.
		expect(
			TOOLS.find(({ name }) => name === tool)
				?.output.strict()
				.parse(result),
		).toEqual(result);
		const was = first;
		first = false;
		return withoutBox(result, place, was);
	};
	const dir = place.dir?.() ?? tempDir("work");
	if (place.owner !== undefined) fs.chownSync(dir, place.owner, place.owner);
	return {
		terminal: (args) => call("terminal", args),
		process: (args) => call("process", args),
		start: async (command, more = {}) => {
			const result = await call("terminal", { command, background: true, ...more });
			expect(result).toMatchObject({ error: null, session_id: expect.stringMatching(/^proc_[0-9a-f]{12}$/) });
			return result.session_id as string;
		},
		other: (name) => client(doors, place, home, tasks, name),
		dir,
		home,
		task,
		cwd: place.cwd(),
		listed: place.listed,
		...(place.server ? { server: place.server } : {}),
	};
}
