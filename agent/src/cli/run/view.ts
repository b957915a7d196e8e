/** `view RUN`: the page of a run on this machine, behind the core's token. */
import path from "node:path";
import { openRuntime } from "holdfast";
import { serve } from "holdfast/http";
import { KeyRing, loadAgentConfig, openAgentHome } from "../../base/index.js";
import { readRun } from "../../run/index.js";
import { runPart } from "../../view/index.js";
import { numberOf } from "../settings.js";
import type { Call } from "../table.js";
import { folderOf } from "./play.js";

export async function run(call: Call): Promise<number> {
	const { out, values } = call;
	const dir = folderOf(call);
	readRun(dir);
	const keys = new KeyRing(openAgentHome());
	for (const { key } of Object.values(loadAgentConfig(openAgentHome()).config.endpoints)) if (key) await keys.read(key).catch(() => {}); // one that cannot be read cannot be shown either
	const stopped = new Promise<void>((resolve) => {
		for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
	});
	await using runtime = await openRuntime({ home: path.join(dir, "home"), warm: 0 });
	const port = values.port === undefined ? 0 : numberOf("--port", values.port);
	await using site = await serve(runtime, { port, parts: [runPart({ dir, runtime, redact: keys.redact })] });
	out.line(`${site.link()}&to=/parts/run`);
	out.note("Ctrl-C ends this server, and nothing else.");
	await stopped;
	return 0;
}
