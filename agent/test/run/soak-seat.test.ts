import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { calls, modelServer, say } from "../model-server/index.js";
import { atEnd } from "../support/dirs.js";
import { configFor, newWorld, run, sit } from "../support/seat.js";

it("a run on a terminal shows a table; `attach` watches an episode, `take` types into it, and the result says so", { timeout: 600_000 }, async () => {
	const command = 'echo from-the-episode; read answer; printf "$answer" > out.txt';
	let asked = 0; // news of the keyboard come as messages, too
	const server = await modelServer({
		script: ({ results }) => {
			if (++asked === 1) return calls(["terminal", { command, pty: true, background: true }]);
			const session_id = /proc_[0-9a-f]{12}/.exec(results[0]?.text ?? "")?.[0];
			return asked === 2 ? calls(["process", { action: "wait", session_id, timeout: 170 }]) : say("done");
		},
	});
	atEnd(() => server.close());
	const world = newWorld(configFor(server, { toolsets: ["terminal"] }));
	fs.writeFileSync(path.join(world.work, "rows.jsonl"), `${JSON.stringify({ prompt: "ask", id: "asks", expect: { file: "out.txt", content: "yes" } })}\n`);
	const runs = await sit(world, ["run", "rows.jsonl", "-o", "out", "--place", "local"], { cols: 120 });
	await runs.shows(/0 {2}asks .*\$ echo from-the-episode.*from-the-episode[\s\S]*0 of 1 done · 1 under way/);
	const watcher = await sit(world, ["attach", "out", "0"]);
	await watcher.shows("from-the-episode");
	await watcher.type("no<ENTER>");
	await watcher.type("<CTRL+]>");
	expect(await watcher.ended()).toBe(0);
	const typist = await sit(world, ["take", "out", "0"]);
	await typist.shows("from-the-episode");
	await typist.type("yes<ENTER>");
	expect(await runs.ended()).toBe(0);
	expect(runs.printed()).toMatch(/1 of 1 done: 1 scored/);
	const shown = JSON.parse((await run(world, ["show", "out", "--json"])).stdout) as {
		episodes: { result: { touched: number; outcome: { score: { reward: number } } } }[];
	};
	expect(shown.episodes[0]?.result).toMatchObject({ touched: 1, outcome: { score: { reward: 1 } } });
	expect((await run(world, ["attach", "out", "0"])).stderr).toMatch(/episode 0 is not under way/);
});
