/** `worker`: plays episodes of runs that other machines have begun. */
import { createHash } from "node:crypto";
import os from "node:os";
import path from "node:path";
import { openAgentHome } from "../../base/index.js";
import { work, workerName } from "../../fleet/index.js";
import type { Call } from "../table.js";
import { queueOf } from "./collect.js";
import { agentOf, numeric } from "./play.js";
import { untilStopped } from "./stop.js";

export async function run(call: Call): Promise<number> {
	const { values, out } = call;
	const dir = path.resolve(typeof values.dir === "string" ? values.dir : path.join(openAgentHome().root, "worker"));
	// The folder is who it is: a worker that comes back to it goes on with what it had.
	const own = `${os.hostname()}-${createHash("sha256").update(dir).digest("hex").slice(0, 6)}`.replace(/[^\w-]/g, "-");
	const name = workerName(typeof values.name === "string" ? values.name : own);
	const slots = numeric(call, "concurrency", 4);
	using stop = untilStopped(() => out.note("stopping: what is under way is ended, and its jobs go to others; once more leaves at once"));
	await using queue = await queueOf(call, `worker ${name}`, stop);
	out.note(`worker ${name}: ${slots} episodes at a time, in ${dir}`);
	await work({
		dir,
		name,
		queue,
		slots,
		once: values.once === true,
		signal: stop,
		tell: (text) => out.note(text),
		agentOf: (at, manifest) => agentOf(at, manifest, (text) => out.note(text)),
	});
	return stop.aborted ? 130 : 0;
}
