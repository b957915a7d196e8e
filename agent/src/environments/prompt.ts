/** A row of prompts: what the model is told, and, if it says so, a file whose content is the score: 1.0, 0.5 or 0. */
import { randomBytes } from "node:crypto";
import path from "node:path";
import { HoldfastError, type PlaceObject } from "holdfast";
import { type Environment, EpisodeError, isLocal, quoted, type Score, type Site, type ToolContext } from "../episode/index.js";
import type { PromptRow } from "../tasks/index.js";
import { containerOf } from "./container.js";

const LARGEST = 10 * 1024 * 1024;
const START_MS = 60_000;

export function promptEnvironment(row: PromptRow): Environment {
	const { expect } = row;
	let [cwd, made]: (string | undefined)[] = [];
	return {
		rounds: 1,
		scoreSeconds: 60,
		async place(site) {
			const place = row.image === undefined ? site.place : containerOf(row.image, site.place);
			if (row.cwd === undefined && isShared(place)) made = await ownDirectory(site);
			cwd = row.cwd ?? made ?? (isLocal(place) ? site.work : undefined); // elsewhere there is no such directory
			return { place, ...(cwd === undefined ? {} : { cwd }) };
		},
		async start(cx) {
			cwd ??= (await cx.run("pwd")).text().trim();
			return { prompt: row.prompt, ...(row.toolsets ? { toolsets: row.toolsets } : {}) };
		},
		async score(cx) {
			try {
				return { score: expect && (await scoreOf(cx, fileIn(cwd, expect.file), expect.content)) };
			} finally {
				if (made !== undefined) await cx.run(`rm -rf ${quoted(made)}`);
			}
		},
		async solve(cx) {
			if (expect) await cx.write(fileIn(cwd, expect.file), expect.content);
		},
	};
}

/** From where the episode began, wherever the agent's shell has gone since. */
const fileIn = (dir: string | undefined, file: string): string => (dir === undefined || /^[/~]/.test(file) ? file : path.posix.join(dir, file));

/** All episodes there have one home directory. */
const isShared = (place: string | PlaceObject): boolean => /^ssh\b/.test(typeof place === "string" ? place : place.kind);

async function ownDirectory({ place, runtime, signal }: Site): Promise<string> {
	const name = `directory/${randomBytes(8).toString("hex")}`;
	try {
		const making = await runtime.task(name, { place }).spawn({ command: 'mktemp -d "${TMPDIR:-/tmp}/holdfast-episode-XXXXXX"' });
		await making.wait({ timeout: START_MS, signal });
		const dir = making.read(0, 4_096).bytes.toString("utf8").trim();
		if (dir.startsWith("/")) return dir;
		throw new EpisodeError("place", "unavailable", `no directory could be made for the episode: ${dir || "the place does not answer"}`, { again: true });
	} finally {
		await runtime.endTask(name);
	}
}

/** Throws if the file cannot be looked at for another reason than that it does not exist. */
async function scoreOf(cx: ToolContext, file: string, content: string): Promise<Score> {
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
