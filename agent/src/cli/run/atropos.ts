/** `atropos`: groups of a run for a trainer. */
import { AgentError } from "../../base/index.js";
import { sendToAtropos } from "../../export/index.js";
import { numberOf } from "../settings.js";
import type { Call } from "../table.js";
import { folderOf } from "./play.js";
import { untilStopped } from "./stop.js";

const MOST_TOKENS = 32_768;

export async function run(call: Call): Promise<number> {
	const { values, out } = call;
	const dir = folderOf(call);
	if (typeof values.url !== "string") throw new AgentError("INVALID", "say where the trainer is: --url http://HOST:8000");
	using stop = untilStopped(() => {});
	const counts = await sendToAtropos({
		...{ dir, url: values.url, weight: 1, signal: stop, tell: (text) => out.note(text) },
		mostTokens: values["max-tokens"] === undefined ? MOST_TOKENS : numberOf("--max-tokens", values["max-tokens"]),
	});
	const { sent, skipped, unknown, refused } = counts;
	const others = Object.entries(skipped).map(([why, count]) => `${count} not sent (${why})`);
	if (out.json) out.data(counts);
	else
		out.line(
			[`${sent} groups sent`, ...others, ...(unknown > 0 ? [`${unknown} perhaps sent`] : []), ...(refused > 0 ? [`${refused} refused`] : [])].join(", "),
		);
	return stop.aborted ? 130 : 0;
}
