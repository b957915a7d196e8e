/** One episode on a runtime of the test's own, in the sandbox or in containers of the engine of the test run. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { PlaceObject, Runtime } from "holdfast";
import { testRuntime } from "holdfast/testing";
import type { TestContext } from "vitest";
import { agentNamed, environmentOf } from "../../src/environments/index.js";
import { type EpisodeAgent, type EpisodeResult, runEpisode } from "../../src/episode/index.js";
import { loadTasks, type TaskItem } from "../../src/tasks/index.js";
import { atEnd, tempDir } from "../support/dirs.js";
import { FULL_IMAGE, testEngine } from "../support/engine.js";

export const OWN_TASKS = path.resolve("agent/tasks");

/** Puts files into a folder by their names. */
export function put(dir: string, files: Readonly<Record<string, string | Buffer>>): string {
	for (const [name, content] of Object.entries(files)) {
		const file = path.join(dir, name);
		fs.mkdirSync(path.dirname(file), { recursive: true });
		fs.writeFileSync(file, content);
	}
	return dir;
}

/** The only task of a folder. */
export function itemIn(dir: string): TaskItem {
	const { items, problems } = loadTasks(dir);
	if (problems.length > 0 || items.length !== 1) throw new Error(JSON.stringify({ problems, items: items.length }));
	return items[0] as TaskItem;
}

export interface Field {
	readonly runtime: Runtime;
	readonly place: string | PlaceObject;
	readonly dir: string;
	play(item: TaskItem, agent?: string | EpisodeAgent, options?: { readonly seconds?: number; readonly signal?: AbortSignal }): Promise<Played>;
}

export interface Played extends EpisodeResult {
	readonly folder: string;
	readonly name: string;
	/** `scored 1`, `place replaced` … */
	readonly how: string;
}

export async function field(place: string | PlaceObject = "local+sandbox"): Promise<Field> {
	const runtime = await testRuntime({ task: "t", warm: 0 });
	atEnd(() => runtime.close());
	const dir = tempDir("field");
	return {
		...{ runtime, place, dir },
		async play(item, agent = "nop", { seconds = 120, signal = new AbortController().signal } = {}) {
			const id = randomBytes(4).toString("hex");
			const name = `run/${id}`;
			const [folder, work] = [path.join(dir, id, "files"), path.join(dir, id, "work")];
			const actor = typeof agent === "string" ? agentNamed(agent) : agent;
			const result = await runEpisode({ name, folder, work, environment: environmentOf(item), agent: actor, runtime, place, seconds, signal });
			return { ...result, folder, name, how: howOf(result) };
		},
	};
}

export const howOf = ({ outcome }: EpisodeResult): string =>
	outcome.kind === "scored"
		? `scored ${outcome.score.reward}${outcome.score.tamperable === undefined ? "" : " tamperable"}`
		: outcome.kind === "error"
			? `${outcome.of} ${outcome.code}`
			: outcome.kind;

/** The engine of the test run, where the image that our tasks name is one that was made here. */
export async function dockerField({ skip }: TestContext): Promise<Field> {
	const engine = await testEngine();
	if (typeof engine === "string") return skip(engine);
	await engine.docker.getImage(FULL_IMAGE).tag({ repo: "debian", tag: "12-slim" });
	return field({ kind: "docker", engine: engine.address });
}

export const wordsOf = ({ outcome }: EpisodeResult): string => (outcome.kind === "error" ? outcome.words : "");

/** A task in Harbor's format that also runs in the sandbox; `tests` is the text of its test.sh, where $LOGS and $TESTS say where. */
export function harborTask(
	tests: string,
	{ toml = "", files = {} }: { readonly toml?: string; readonly files?: Readonly<Record<string, string>> } = {},
): TaskItem {
	const head = '[environment]\ndocker_image = "debian:12-slim"\nnetwork_mode = "no-network"\n';
	const dir = put(tempDir("task"), {
		"task.toml": `${toml}\n${toml.includes("[environment]") ? "" : head}[metadata]\nrelocatable = true\n`,
		"instruction.md": "Do it.",
		"tests/test.sh": script(tests),
		...files,
	});
	return itemIn(dir);
}

export const script = (text: string): string => `#!/bin/bash\nLOGS=\${LOGS_DIR:-/logs} TESTS=\${TESTS_DIR:-/tests}\n${text}\n`;

/** What an episode kept of its tests' output. */
export const testOutput = ({ folder }: Played, step?: string): string =>
	fs.readFileSync(path.join(folder, ...(step === undefined ? [] : ["steps", step]), "verifier/test-stdout.txt"), "utf8");
