import { describe, expect, it } from "vitest";
import type { EpisodeAgent } from "../../src/episode/index.js";
import { FULL_IMAGE, ownEngine } from "../support/engine.js";
import { field, harborTask, type Played, wordsOf } from "./support.js";

const NO_WORK = { conversation: null, usage: { input: 0, output: 0 }, tools: [] };

describe("an engine that is killed and started again in the middle of an episode", { timeout: 600_000 }, () => {
	it.for([true, false])("live-restore %s: the episode goes on exactly or is a typed error, and nothing is left", async (liveRestore, { skip }) => {
		const engine = await ownEngine({ liveRestore });
		if (typeof engine === "string") return skip(engine);
		await engine.docker.getImage(FULL_IMAGE).tag({ repo: "debian", tag: "12-slim" });
		const { play, runtime } = await field({ kind: "docker", engine: engine.address });
		const agent = (away: () => Promise<void>): EpisodeAgent => ({
			name: "kills the engine",
			enter: async ({ cx }) => ({
				async act() {
					await cx.tool("terminal", { command: "echo before > written; sleep 3600", background: true });
					await cx.run("echo before > written; sync");
					await away();
					return "finished";
				},
				leave: async () => NO_WORK,
			}),
		});
		const item = harborTask('grep before written && echo 1 > "$LOGS/verifier/reward.txt"');
		const restarted = await play(
			item,
			agent(async () => {
				await engine.kill();
				await engine.start();
			}),
		);
		const gone: Played = await play(
			item,
			agent(() => engine.kill()),
		).finally(() => engine.start());
		const hows = [restarted.how, gone.how];
		expect(hows, [restarted, gone].map(wordsOf).join("\n")).toEqual([
			liveRestore ? "scored 1 tamperable" : expect.stringMatching(/^place (replaced|unavailable)$/),
			"place unavailable",
		]);
		expect(restarted.gone).toBe(true);
		expect(gone.gone).toBe(false); // it was not there to be asked
		let ended: boolean | undefined;
		while (ended === undefined)
			ended = await runtime.endTask(gone.name).then(
				(report) => report.gone,
				() => undefined, // until it is connected again
			);
		expect(ended).toBe(true);
	});
});
