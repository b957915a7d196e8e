/** How long `list` takes in a program that has just been started. Run as one, it is that program. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const HERE = fileURLToPath(import.meta.url);

/** `{ found, listMs, totalMs }`; the total includes opening the runtime, not starting Node. */
export async function freshList(home) {
	const { stdout } = await promisify(execFile)(process.execPath, [HERE, home], { timeout: 60_000 });
	return JSON.parse(stdout);
}

if (process.argv[1] === HERE) {
	const { openRuntime } = await import("../dist/lib/index.js");
	const begun = performance.now();
	const runtime = await openRuntime({ home: process.argv[2], warm: 0 });
	const opened = performance.now();
	const found = runtime.list({ task: null }).length;
	const done = performance.now();
	console.log(JSON.stringify({ found, listMs: done - opened, totalMs: done - begun }));
	await runtime.close();
}
