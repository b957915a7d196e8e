/** `resume`: goes on with a run that was stopped or killed, or lets one that is paused go on. */
import { askRun, readRequests, readRun, runnerOf } from "../../run/index.js";
import type { Call } from "../table.js";
import { folderOf, numeric, play } from "./play.js";

export async function run(call: Call): Promise<number> {
	const dir = folderOf(call);
	const { manifest, items } = readRun(dir);
	if (readRequests(dir).paused) {
		await askRun(dir, { do: "continue" });
		const runner = runnerOf(dir);
		if (runner) {
			call.out.line(`it goes on (pid ${runner.pid})`);
			return 0;
		}
	}
	return play(call, { dir, manifest, items, concurrency: numeric(call, "concurrency", manifest.concurrency) });
}
