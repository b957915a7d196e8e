/** The score of an episode by the content of a file. */
import { HoldfastError, type Task } from "holdfast";
import type { PromptRow } from "../tasks/index.js";

const LARGEST = 10 * 1024 * 1024;

/** Returns undefined if there is nothing to score by. Throws if the file cannot be looked at for another reason than that it does not exist. */
export async function scoreOf(task: Task, { expect }: PromptRow): Promise<number | undefined> {
	if (!expect) return undefined;
	try {
		const parts: Buffer[] = [];
		let size = 0;
		for await (const piece of task.files.stream(expect.file)) {
			size += piece.length;
			if (size > LARGEST) return 0; // no answer to these tasks is that long
			parts.push(piece);
		}
		const text = Buffer.concat(parts).toString("utf8");
		return text === expect.content ? 1 : text.includes(expect.content.trim()) ? 0.5 : 0;
	} catch (error) {
		if (error instanceof HoldfastError && (error.code === "NOT_FOUND" || error.code === "INVALID")) return 0; // it is not there, or is a directory
		throw error;
	}
}
