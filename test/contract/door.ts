/** A way to the two tools. The same cases run through each: the library, MCP over stdio, MCP over HTTP. */
import fs from "node:fs";
import { expect } from "vitest";
import { type ProcessResult, type TerminalResult, TOOLS } from "../../src/index.js";
import { atEnd, tempDir, testRuntime } from "../support/home.js";
import type { ContractPlace } from "./places.js";

/** All that either tool may give back. */
export type Result = Partial<TerminalResult & ProcessResult>;

export interface Door {
	call(tool: "terminal" | "process", args: unknown): Promise<Result>;
}

/** Open a door for a task. What it opens is closed with `atEnd`. */
export type OpenDoor = (options: { home: string; task: string }) => Promise<Door>;

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

/** A home of its own with one client in it; when the test is over everything in it is killed. */
export async function connect(open: OpenDoor, place: ContractPlace): Promise<Client> {
	const home = tempDir("home");
	atEnd(() => place.end?.(home));
	if (!place.endsTasks) await testRuntime({ home }); // ends, after the door has been closed, what is left
	return client(open, place, home, "a task");
}

async function client(open: OpenDoor, place: ContractPlace, home: string, task: string): Promise<Client> {
	const door = await open({ home, task });
	const call = async (tool: "terminal" | "process", args: unknown): Promise<Result> => {
		const result = await door.call(tool, args);
		// Nothing that the schema does not name, and everything as it says.
		expect(
			TOOLS.find(({ name }) => name === tool)
				?.output.strict()
				.parse(result),
		).toEqual(result);
		return result;
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
		other: (name) => client(open, place, home, name),
		dir,
		home,
		cwd: place.cwd(),
		listed: place.listed,
		...(place.server ? { server: place.server } : {}),
	};
}
