/** A run from the taking of its ledger to the proof that nothing of it is left. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { openRuntime } from "holdfast";
import { AgentError, ensureDir } from "../base/index.js";
import { Admission } from "./admission.js";
import type { RunnerOptions } from "./events.js";
import { Ledger } from "./ledger.js";
import { changedTasks } from "./manifest.js";
import { declaredMemory, placesFor } from "./places.js";
import { type Leftover, leftIn, type Proof, plantControls, prove } from "./proof.js";
import { Runner } from "./runner.js";

const EXIT_MS = 5_000;

/**
 * Resolves with the proof when there is nothing more to do, or when the signal has ended it. Throws `BUSY` while another program runs it, `BROKEN` if its
 * ledger is damaged, and `INVALID` if its tasks have changed.
 */
export async function runAll(options: RunnerOptions): Promise<Proof> {
	const { dir, tell } = options;
	const [home, work] = [path.join(dir, "home"), path.join(dir, "work")];
	const ledger = Ledger.open(dir);
	try {
		refuseWhatCannotRun(options, ledger);
		for (const folder of [home, work]) ensureDir(folder);
		if (ledger.cut !== undefined)
			tell({ type: "note", text: `the last row of the ledger was torn: its ${ledger.cut} bytes were cut off, and are kept in ledger.jsonl.cut` });
		const left = await played(options, ledger, home);
		endConnections(home);
		const proof = await prove(left, [work, home]);
		tell({ type: "proof", proof });
		return proof;
	} finally {
		await ledger.close();
	}
}

function refuseWhatCannotRun({ dir, items, manifest, admission }: RunnerOptions, { progress }: Ledger): void {
	const open = items.filter(({ index }) => !progress.results.has(index));
	const changed = changedTasks(open);
	if (changed.length > 0)
		throw new AgentError(
			"INVALID",
			`${changed.length} tasks have changed since the run began, so it cannot go on: ${changed.slice(0, 20).join(", ")}${changed.length > 20 ? ", …" : ""}; restore them, or begin another run`,
		);
	const machine = new Admission({ dir, ...admission }, () => {});
	for (const item of open) {
		const sizes = (manifest.pool ?? [manifest]).map(({ place }) => declaredMemory(item, place));
		const problem = machine.tooLarge(Math.min(...sizes));
		if (problem !== undefined) throw new AgentError("INVALID", `${item.key} can never start here: ${problem}`);
	}
}

/** Resolves with what is still kept when all is done, and which controls were found among it. */
async function played(options: RunnerOptions, ledger: Ledger, home: string): Promise<Leftover> {
	await using runtime = await openRuntime({ home, warm: 0 });
	options.opened?.(runtime);
	const open = options.items.filter(({ index }) => !ledger.progress.results.has(index));
	const runner = new Runner(
		options,
		ledger,
		runtime,
		placesFor(options.manifest, open, (place) => runtime.resolvePlace(place)),
	);
	await runner.recover();
	await runner.all();
	const planted = await plantControls(runtime, runner.placesUsed, `${options.manifest.id}/control`);
	return { ...(await leftIn(runtime)), controls: planted };
}

/** Connections over SSH are processes of the run, too: they would stay open for another minute, for programs that come. */
function endConnections(home: string): void {
	const dir = path.join(home, "ssh");
	const sockets = fs.existsSync(dir) ? fs.readdirSync(dir) : [];
	for (const name of sockets) spawnSync("ssh", ["-S", path.join(dir, name), "-O", "exit", "run"], { stdio: "ignore", timeout: EXIT_MS });
}
