import fs from "node:fs";
import path from "node:path";
import { openRuntime } from "holdfast";
import { expect, it } from "vitest";
import { openAgentHome } from "../../src/base/index.js";
import { type EpisodeAgent, EpisodeError } from "../../src/episode/index.js";
import type { RunnerOptions } from "../../src/run/events.js";
import { addRequest, beginRun, isClean, proofWords, type RunEvent, type RunManifest, readProgress, runAll } from "../../src/run/index.js";
import { changedTasks } from "../../src/run/manifest.js";
import { loadTasks } from "../../src/tasks/index.js";
import { items } from "../report/rows.js";
import { tempDir } from "../support/dirs.js";
import { smallDisk } from "../support/small-disk.js";

const nothing = { conversation: null, usage: { input: 0, output: 0 }, tools: [] };
const agentWhich = (act: (task: string) => Promise<void>): EpisodeAgent => ({
	name: "test",
	enter: async ({ cx }) => ({
		act: async () => {
			await act(cx.task);
			return "finished";
		},
		leave: async () => nothing,
	}),
});

function runOf(episodes: number, more: Partial<RunManifest> = {}) {
	const dir = path.join(tempDir("run"), "out");
	const manifest: RunManifest = {
		...{ v: 1, id: "run_1", created_at: "2026-01-01T00:00:00.000Z", source: "test", agent: "test", endpoint: "", model: "" },
		...{ place: "local", toolsets: [], steps: 9, seconds: 60, repeats: 1, concurrency: 1, ...more },
	};
	const events: RunEvent[] = [];
	const all = beginRun(dir, manifest, items(episodes));
	const play = (agent: EpisodeAgent, options: Partial<RunnerOptions> = {}) =>
		runAll({
			...{ dir, manifest, items: all, agent, concurrency: 1, talk: openAgentHome(path.join(dir, "talk")), retryMs: 1 },
			...{ signal: new AbortController().signal, tell: (event: RunEvent) => void events.push(event), ...options },
		});
	return { dir, events, play };
}

it("what the place does wrong is tried again twice, on another place, and each attempt keeps its folder", async () => {
	const { dir, events, play } = runOf(1, {
		pool: [
			{ place: "local", slots: 1 },
			{ place: "local+sandbox", slots: 1 },
		],
	});
	let tries = 0;
	const proof = await play(
		agentWhich(async () => {
			if (++tries < 3) throw new EpisodeError("place", "unavailable", "the link was lost", { again: true });
		}),
	);
	expect(isClean(proof)).toBe(true);
	expect(events.flatMap((event) => (event.type === "start" ? [event.place] : []))).toEqual(["local", "local+sandbox", "local"]);
	expect(events.flatMap((event) => (event.type === "result" ? [[event.attempt, event.again, event.outcome.kind]] : []))).toEqual([
		[1, true, "error"],
		[2, true, "error"],
		[3, false, "recorded"],
	]);
	expect(fs.readdirSync(path.join(dir, "episodes")).sort()).toEqual(["000000.1", "000000.2", "000000.3"]);
	expect(readProgress(dir)).toMatchObject({ besides: [{ attempt: 1 }, { attempt: 2 }] });
});

it("however many may run at a time, only so many start at once", async () => {
	const { dir, events, play } = runOf(12);
	let [entered, most] = [0, 0];
	const agent: EpisodeAgent = {
		name: "test",
		enter: async () => {
			most = Math.max(most, events.filter(({ type }) => type === "start").length - entered++);
			return { act: async () => "finished", leave: async () => nothing };
		},
	};
	await play(agent, { concurrency: 12, admission: { starts: 3 } });
	expect(most).toBeGreaterThan(1);
	expect(most).toBeLessThanOrEqual(3);
	expect(readProgress(dir).results.size).toBe(12);
});

it("below the mark nothing starts, one line says so, what runs goes on; with room it goes on by itself", async () => {
	const { dir, events, play } = runOf(3);
	let free = 1_000;
	let release = (): void => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	const agent = agentWhich(async (task) => {
		if (!task.includes("000000")) return;
		free = 0; // while the first runs
		await held;
	});
	await play(agent, {
		concurrency: 2,
		admission: { starts: 1, disk: () => ({ free, size: 1_000 }) },
		tell: (event) => {
			events.push(event);
			if (event.type === "held") release();
			if (event.type === "result") free = 1_000;
		},
	});
	const seen = events.flatMap(({ type }) => (["held", "room", "result"].includes(type) ? [type] : []));
	expect(seen).toEqual(["held", "result", "room", "result", "result"]);
	expect(readProgress(dir).results.size).toBe(3);
});

it("a disk that is full in the middle of an episode makes its result wait, and the run goes on when there is room", async (context) => {
	const disk = smallDisk(context);
	const { dir, events, play } = runOf(1);
	fs.mkdirSync(path.join(disk.dir, "episodes"));
	for (const name of ["episodes", "ledger.jsonl"]) fs.symlinkSync(path.join(disk.dir, name), path.join(dir, name)); // what else is written frees space at its end
	let first = true;
	const agent: EpisodeAgent = {
		name: "test",
		enter: async () => ({
			act: async () => {
				if (first) disk.fill();
				first = false;
				return "finished";
			},
			leave: async () => ({ ...nothing, conversation: "x".repeat(8_000) }), // so that its row needs a page of its own
		}),
	};
	const proof = await play(agent, {
		admission: { starts: 1, disk: () => ({ free: 1, size: 1 }) },
		tell: (event) => {
			events.push(event);
			if (event.type === "held") disk.empty();
		},
	});
	expect(isClean(proof)).toBe(true);
	const seen = events.flatMap((event) => (event.type === "result" ? [`${event.index}.${event.attempt}${event.again ? " again" : ""}`] : [event.type]));
	expect(seen).toEqual(["start", "held", "room", "0.1 again", "start", "0.2", "proof"]);
	expect(readProgress(dir)).toMatchObject({ besides: [{ t: "failed", outcome: { of: "runner", code: "disk" } }], results: { size: 1 } });
});

it("items are frozen, and a task folder that has changed stops the run with the list", async () => {
	const folder = tempDir("tasks");
	const put = (name: string, more = "") => {
		fs.mkdirSync(path.join(folder, name, "tests"), { recursive: true });
		const files = { "task.toml": '[environment]\ndocker_image = "x"', "instruction.md": `do it${more}`, "tests/test.sh": "exit 0" };
		for (const [file, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name, file), text);
	};
	for (const name of ["one", "two", "three"]) put(name);
	const loaded = loadTasks(folder).items.map((item, index) => ({ ...item, index, repeat: 0 }));
	expect(changedTasks(loaded)).toEqual([]);
	put("two", " differently");
	fs.rmSync(path.join(folder, "three"), { recursive: true });
	expect(changedTasks(loaded).sort()).toEqual(["three", "two"]);
	const { play, dir } = runOf(0);
	await expect(
		play(
			agentWhich(async () => {}),
			{ items: loaded },
		),
	).rejects.toThrow(/2 tasks have changed since the run began.*three, two/);
	expect(fs.existsSync(path.join(dir, "work"))).toBe(false); // nothing was started
});

it("as many are scored again at a time as there are episodes at a time", async () => {
	const { dir, events, play } = runOf(3);
	await play(agentWhich(async () => {}));
	for (let index = 0; index < 3; index++) await addRequest(dir, { do: "rescore", index, attempt: 1 });
	let [begun, most] = [0, 0];
	await play(
		agentWhich(async () => {}),
		{
			only: "requests",
			opened: (runtime) => {
				const open = runtime.task.bind(runtime);
				runtime.task = (name, options) => {
					if (name.endsWith("/rescore")) most = Math.max(most, ++begun - events.filter(({ type }) => type === "rescored").length);
					return open(name, options);
				};
			},
		},
	);
	expect([events.filter(({ type }) => type === "rescored").length, begun, most]).toEqual([3, 3, 1]);
});

it("a run whose environment leaks does not pass its proof, which names what is left", async () => {
	const { dir, play } = runOf(1);
	const agent: EpisodeAgent = {
		name: "test",
		enter: async ({ runtime }) => ({
			act: async () => {
				await runtime.task("somewhere else").spawn({ command: "exec sleep 3600" });
				return "finished";
			},
			leave: async () => nothing,
		}),
	};
	const proof = await play(agent);
	await using runtime = await openRuntime({ home: path.join(dir, "home"), warm: 0 });
	await runtime.endTask("somewhere else");
	expect(readProgress(dir).results.get(0)).toMatchObject({ gone: true }); // the episode itself has left nothing
	expect([isClean(proof), proof.control, proof.kept]).toEqual([false, true, [expect.stringMatching(/^proc_\w+ somewhere else$/)]]);
	expect(proofWords(proof)[0]).toMatch(/^left: proc_\w+ somewhere else$/);
});
