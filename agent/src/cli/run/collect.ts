/** `collect`, and `run --nats`: a run that workers on other machines play. */
import path from "node:path";
import { AgentError } from "../../base/index.js";
import { collect, JobQueue } from "../../fleet/index.js";
import { numbersOf } from "../../report/index.js";
import { readProgress, readRun } from "../../run/index.js";
import { numberOf } from "../settings.js";
import type { Call } from "../table.js";
import { folderOf } from "./play.js";
import { printSummary, resultLine } from "./run-words.js";
import { untilStopped } from "./stop.js";

export const run = (call: Call): Promise<number> => collectRun(call, folderOf(call));

export async function collectRun(call: Call, dir: string): Promise<number> {
	const { out } = call;
	const { manifest, items } = readRun(dir);
	using stop = untilStopped(() => out.note("leaving: workers go on, and `holdfast-agent collect` takes what they hand in meanwhile"));
	await using queue = await queueOf(call, `collector ${manifest.id}`, stop);
	if (!out.json) out.line(`${dir}  ${items.length} episodes for the workers at ${queue.connection.getServer()}`);
	const { done, workers } = await collect({
		...{ dir, manifest, items, queue, signal: stop },
		...(call.values["proof-wait"] === undefined ? {} : { proofMs: numberOf("--proof-wait", call.values["proof-wait"]) * 1_000 }),
		tell: (event) => {
			if (out.json) process.stdout.write(`${JSON.stringify(event)}\n`);
			else if (event.type === "result") out.line(`${resultLine(out, event, items.length)}  at ${event.worker}`);
			else if (event.type === "note") out.note(event.text);
			else out.line(out.style(event.clean ? "green" : "red", `${event.worker}: ${event.clean ? "nothing is left" : `not proven clean: ${event.words}`}`));
		},
	});
	if (!out.json) printSummary(out, numbersOf(items, readProgress(dir)));
	if (stop.aborted) return 130;
	return done === items.length && workers.every(({ clean }) => clean) ? 0 : 1;
}

export async function queueOf({ values, out }: Call, name: string, signal: AbortSignal): Promise<JobQueue> {
	if (typeof values.nats !== "string") throw new AgentError("INVALID", "say where the NATS server is: --nats nats://HOST:4222");
	const credentials = typeof values.creds === "string" ? { credentials: path.resolve(values.creds) } : {};
	const lease = values.lease === undefined ? {} : { leaseSeconds: numberOf("--lease", values.lease) };
	return JobQueue.connect({ ...{ servers: values.nats, name, signal, waits: (text) => out.note(text) }, ...credentials, ...lease });
}
