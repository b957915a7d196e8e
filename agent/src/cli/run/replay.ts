/** `replay RUN INDEX`: what the model had answered, in a fresh place; the first difference is named. */
import { AgentError } from "../../base/index.js";
import { MODEL } from "../../environments/index.js";
import { placeNamed, readRun, replayAttempt } from "../../run/index.js";
import type { Call } from "../table.js";
import { episodeOf } from "./ask.js";
import { loopOf } from "./play.js";
import { outcomeText } from "./run-words.js";

const SHOWN = 600;

export async function run(call: Call): Promise<number> {
	const { out } = call;
	const { dir, index, progress } = episodeOf(call);
	const { manifest, items } = readRun(dir);
	const [item, result] = [items[index], progress.results.get(index)];
	if (manifest.agent !== MODEL)
		throw new AgentError("INVALID", `the agent of this run is "${manifest.agent}": only what a model did is recorded and can be replayed`);
	if (!item || !result) throw new AgentError("INVALID", `episode ${index} has no result yet, so there is nothing to replay`);
	const stop = new AbortController();
	const interrupt = () => stop.abort();
	process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
	const place = placeNamed(manifest, result.place);
	const replay = await replayAttempt({ dir, manifest, item, result, place, signal: stop.signal, agentFor: await loopOf(manifest) }).finally(() =>
		process.off("SIGINT", interrupt).off("SIGTERM", interrupt),
	);
	const { same, calls, divergence, before, now } = replay;
	if (out.json) out.data(replay);
	else if (!divergence) out.line(`no divergence: all ${calls} calls gave the same`);
	else {
		const { recorded, now: other } = divergence;
		out.line(`the first ${same} of ${calls} calls gave the same; turn ${recorded.turn} did not: ${recorded.tool} ${recorded.args.slice(0, SHOWN)}`);
		out.line(`recorded${recorded.failed ? " (failed)" : ""}:\n${indented(recorded.text)}`);
		out.line(other ? `now${other.failed ? " (failed)" : ""}:\n${indented(other.text)}` : "now: the call was not made");
	}
	if (!out.json) out.line(`it was ${outcomeText(out, before)}, and is ${outcomeText(out, now)}`);
	return divergence ? 1 : 0;
}

const indented = (text: string): string =>
	text
		.slice(0, SHOWN)
		.split("\n")
		.map((line) => `  ${line}`)
		.join("\n");
