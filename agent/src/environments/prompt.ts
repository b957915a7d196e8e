/** A row of prompts: what the model is told, and, if it says so, a file whose content is the score: 1.0, 0.5 or 0. */
import { HoldfastError } from "holdfast";
import { type Environment, isLocal, type Score, type ToolContext } from "../episode/index.js";
import type { PromptRow } from "../tasks/index.js";
import { containerOf } from "./container.js";

const LARGEST = 10 * 1024 * 1024;

export function promptEnvironment(row: PromptRow): Environment {
	const { expect } = row;
	return {
		rounds: 1,
		scoreSeconds: 60,
		async place({ place, work }) {
			const own = row.image === undefined ? place : containerOf(row.image, place);
			const cwd = row.cwd ?? (isLocal(own) ? work : undefined); // elsewhere there is no such directory
			return { place: own, ...(cwd === undefined ? {} : { cwd }) };
		},
		start: async () => ({ prompt: row.prompt, ...(row.toolsets ? { toolsets: row.toolsets } : {}) }),
		score: async (cx) => ({ score: expect && (await scoreOf(cx, expect)) }),
		async solve(cx) {
			if (expect) await cx.write(expect.file, expect.content);
		},
	};
}

/** Throws if the file cannot be looked at for another reason than that it does not exist. */
async function scoreOf(cx: ToolContext, { file, content }: NonNullable<PromptRow["expect"]>): Promise<Score> {
	const score = (reward: number): Score => ({ reward, evidence: [] });
	try {
		const entry = await cx.read(file, LARGEST + 1);
		if (entry === undefined || entry.length > LARGEST) return score(0); // no answer to these tasks is that long
		const text = entry.toString("utf8");
		return score(text === content ? 1 : text.includes(content.trim()) ? 0.5 : 0);
	} catch (error) {
		if (error instanceof HoldfastError && error.code === "INVALID") return score(0); // it is a directory
		throw error;
	}
}
