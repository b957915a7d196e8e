/** Runs a call of a file tool. Its results have no exit code; NOT_FOUND comes with similar names. */
import type * as z from "zod";
import { HoldfastError } from "../../base/index.js";
import { parseArguments } from "../arguments.js";
import { type Ask, answer } from "../ask.js";
import type { Call } from "../call.js";
import type { ToolHost } from "../host.js";
import type { ToolName, ToolResult } from "../result.js";
import { similarTo } from "./similar.js";
import { type FilesAt, whereOf } from "./where.js";

/** The cause of a NOT_FOUND: names the file. */
export class Missing extends HoldfastError {
	readonly file: string;

	constructor(file: string) {
		super("NOT_FOUND", `there is no ${file}`);
		this.file = file;
	}
}

export async function answerFiles<I extends z.ZodObject, R>(
	runtime: ToolHost,
	call: Call,
	{ tool, input }: { tool: ToolName; input: I },
	args: unknown,
	act: (ask: Ask, args: z.infer<I>, where: FilesAt) => Promise<R>,
): Promise<R> {
	return answer<ToolResult>(
		runtime,
		call,
		async (ask) => {
			const { wanted } = parseArguments(tool, input, args, ask.notes);
			if (ask.signal?.aborted) throw new HoldfastError("ABORTED", "interrupted before it began; nothing was done");
			const where = await whereOf(ask);
			try {
				return (await act(ask, wanted, where)) as ToolResult;
			} catch (error) {
				if (!(error instanceof Missing)) throw error;
				const { similar, hint } = await similarTo(where.files, error.file);
				return { status: "not_found", output: "", error: `${error.message}${hint}`, ...(similar.length > 0 ? { similar } : {}) } as ToolResult;
			}
		},
		{ tool },
	) as Promise<R>;
}
