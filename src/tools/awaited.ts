/** Remembers which program was last seen waiting for input. The mtime of a file in its directory says so, so every runtime knows it. */
import fs from "node:fs";
import path from "node:path";
import { HoldfastError, statIfThere } from "../base/index.js";
import type { Process } from "../process/index.js";
import type { Ask } from "./ask.js";
import { loadScreen } from "./screen.js";

const fileOf = (process: Process): string => path.join(process.dir, "awaited");

export function rememberAwaited(process: Process): void {
	try {
		fs.writeFileSync(fileOf(process), "", { mode: 0o600 });
	} catch {
		// disk full: the next call names the process, or the kernel tells which one waits
	}
}

/** Returns the process that gets keys without an id. */
export async function lastAwaited(ask: Ask): Promise<Process> {
	const { waitingFor } = await loadScreen();
	const onTerminals = ask.runtime.list({ task: ask.task, ended: false }).filter((process) => process.spec.terminal);
	const seen = onTerminals
		.map((process) => ({ process, at: statIfThere(fileOf(process))?.mtimeMs ?? 0 }))
		.filter(({ at }) => at > 0)
		.sort((a, b) => b.at - a.at);
	if (seen[0]) return seen[0].process;
	for (const process of onTerminals) if ((await waitingFor(process)).waiting) return process;
	const running = onTerminals.map((process) => process.id).join(", ");
	throw new HoldfastError(
		"INVALID",
		running === ""
			? "no program of yours waits for input, and none runs on a terminal; start one with terminal(command=…, pty=true)"
			: `no program of yours was seen waiting for input, so say which one gets the keys: session_id is one of ${running}`,
	);
}
