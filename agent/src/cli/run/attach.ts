/** `attach`, `take`: the terminal of an episode that is under way, to look at it or to type into it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openRuntime, type Process } from "holdfast";
import { AgentError } from "../../base/index.js";
import { readProgress, runnerOf } from "../../run/index.js";
import type { Call } from "../table.js";
import { episodeOf } from "./ask.js";

const LOOK_MS = 100;

export const attach = (call: Call): Promise<number> => watch(call, ["--read-only"]);

/** The first key takes the keyboard: until the person leaves, what the agent writes is refused, and the episode is marked. */
export const take = (call: Call): Promise<number> => watch(call, []);

async function watch(call: Call, options: readonly string[]): Promise<number> {
	const { dir, index } = episodeOf(call);
	const home = path.join(dir, "home");
	const found = await commandOf(call, dir, index, home);
	const cli = fileURLToPath(new URL("../bin/holdfast.js", import.meta.resolve("holdfast")));
	const child = spawn(process.execPath, [cli, "attach", found, "--home", home, ...options], { stdio: "inherit" });
	const [code] = (await once(child, "exit")) as [number | null];
	return code ?? 1;
}

/** Waits until the episode runs a command. */
async function commandOf({ out }: Call, dir: string, index: number, home: string): Promise<string> {
	await using runtime = await openRuntime({ home, warm: 0 });
	for (let told = false; ; told = true) {
		const open = readProgress(dir).open.get(index);
		if (!open || !runnerOf(dir))
			throw new AgentError("NOT_FOUND", `episode ${index} is not under way; \`holdfast-agent show ${dir} ${index}\` says what became of it`);
		const [newest] = runtime.list({ task: open.task, ended: false }).filter(isOn);
		if (newest) return newest.id;
		if (!told) out.note(`episode ${index} runs no command right now; waiting for the next one`);
		await sleep(LOOK_MS);
	}
}

const isOn = (one: Process): boolean => one.status().status === "running";
