/** The tools for files on files of each kind of end: through the runtime for this machine, and beside it for shells behind a stream. */
import { expect } from "vitest";
import type { Files } from "../../../src/places/files/index.js";
import { type Ask, answer } from "../../../src/tools/ask.js";
import { patch } from "../../../src/tools/files/patch/index.js";
import { readFile } from "../../../src/tools/files/read.js";
import type { FileResult, PatchResult, ReadFileResult, SearchFilesResult, WriteFileResult } from "../../../src/tools/files/result.js";
import { searchFiles } from "../../../src/tools/files/search.js";
import type { FilesAt } from "../../../src/tools/files/where.js";
import { writeFile } from "../../../src/tools/files/write.js";
import { type AgentRuntime, openAgentRuntime } from "../../../src/tools/index.js";
import type { ToolResult } from "../../../src/tools/result.js";
import { atEnd, endAll, tempDir } from "../../support/home.js";

export async function agent(options: Parameters<typeof openAgentRuntime>[0] = {}): Promise<AgentRuntime> {
	const runtime = await openAgentRuntime({ home: tempDir("home"), warm: 0, ...options });
	atEnd(() => endAll(runtime));
	return runtime;
}

export interface Tools {
	read(args: unknown): Promise<ReadFileResult>;
	write(args: unknown): Promise<WriteFileResult>;
	patch(args: unknown): Promise<PatchResult>;
	search(args: unknown): Promise<SearchFilesResult>;
}

/** On files that are not those of a place: without the shell, but through the gate. */
export async function toolsOn(files: Files, cwd: string): Promise<Tools> {
	const runtime = await agent();
	const where: FilesAt = { files, cwd, home: cwd, sees: "all" };
	const call =
		<A, R extends FileResult>(act: (ask: Ask, args: A, where: FilesAt) => Promise<R>) =>
		(args: unknown) =>
			answer<ToolResult>(runtime, {}, (ask) => act(ask, args as A, where) as Promise<ToolResult>, { tool: "read_file" }) as Promise<R>;
	return { read: call(readFile), write: call(writeFile), patch: call(patch), search: call(searchFiles) };
}

/** It worked. */
export function ok<T extends FileResult>(result: T): T {
	expect({ status: result.status, error: result.error }).toEqual({ status: "ok", error: null });
	return result;
}
