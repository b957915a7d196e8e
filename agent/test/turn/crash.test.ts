import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { calls, say } from "../model-server/index.js";
import { killedAt } from "./crash-points.js";
import { crashBench, saidIn } from "./crash-support.js";
import { killedTurns } from "./crash-turns.js";

const results = (log: { readonly entries: readonly { readonly t: string }[] }) =>
	log.entries.filter(({ t }) => t === "result") as unknown as { readonly text: string; readonly how: string; readonly process?: string }[];

describe("killed by its own hand", () => {
	it.each([
		["after assistant 1", "before the first call"],
		["before result 1", "between the end of a command and its result line"],
	])("%s: %s, each call is run once and has its true result", (crash) => killedAt(crash));
});

it("waits for a command that was killed over three times: one result, the true exit code, the whole output", async () => {
	const command = "echo first; while [ ! -e go ]; do sleep 0.05; done; echo last; (exit 5)";
	await using on = await crashBench(({ body }) => (saidIn(body).at(-1)?.role === "tool" ? say("It ended.") : calls(["terminal", { command }])));
	const first = on.run({ says: [["m1", "go"]] });
	await first.until(({ type }) => type === "call");
	const id = first.events[0]?.id as string;
	// The command has begun when its process is in the log of its first output.
	await first.until(({ type }) => type === "progress");
	await first.kill();
	for (let round = 0; round < 2; round++) {
		const again = on.run({ id });
		await again.until(({ type }) => type === "resumed");
		await again.kill();
	}
	const last = on.run({ id });
	await last.until(({ type }) => type === "resumed");
	fs.writeFileSync(path.join(on.dir, "go"), "");
	expect(await last.over).toBe(0);
	expect(results(on.log(id))).toEqual([expect.objectContaining({ how: "recovered", text: "[exited, exit code 5]\nfirst\nlast", failed: false })]);
	expect(on.log(id).entries.at(-1)).toMatchObject({ t: "assistant", text: "It ended." });
});

it("ends a command that it waits for after a crash when the person stops the turn", async () => {
	await using on = await crashBench([calls(["terminal", { command: "sh -c 'echo $$ > pid; cat pid; exec sleep 600'" }])]);
	const first = on.run({ says: [["m1", "go"]] });
	const file = path.join(on.dir, "pid");
	while (!fs.existsSync(file) || fs.readFileSync(file, "utf8") === "") await new Promise((resolve) => setTimeout(resolve, 5));
	await first.kill();
	const id = first.events[0]?.id as string;
	const second = on.run({ id, interrupt: true });
	expect(await second.over).toBe(0);
	const pid = fs.readFileSync(file, "utf8").trim();
	expect(second.events.find(({ type }) => type === "end")).toMatchObject({ why: "interrupted" });
	expect(results(on.log(id))).toEqual([expect.objectContaining({ how: "recovered", text: `[interrupted, exit code 130]\n${pid}` })]);
	const state = fs.existsSync(`/proc/${pid}/status`) ? /State:\s*(\S)/.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] : "gone";
	expect(["gone", "Z"]).toContain(state);
});

it("asks the person instead of going on when the same step was cut short twice within an hour", async () => {
	await using on = await crashBench(({ body }) =>
		saidIn(body).at(-1)?.text === "go on" ? say("Gone on.") : calls(["terminal", { command: "echo x >> marks" }], ["terminal", { command: "echo y >> marks" }]),
	);
	const first = on.run({ says: [["m1", "go"]], crash: "before result 2" });
	await first.over;
	const id = first.events[0]?.id as string;
	expect(await on.run({ id, crash: "before result 1", crashes: 2 }).over).toBe("SIGKILL");
	const third = on.run({ id, crashes: 2 });
	expect(await third.over).toBe(0);
	expect(third.events.find(({ type }) => type === "end")).toMatchObject({ why: "crashes", text: expect.stringContaining("cut short twice") });
	expect(results(on.log(id)).map(({ how }) => how)).toEqual(["ran", "recovered"]);
	expect(fs.readFileSync(path.join(on.dir, "marks"), "utf8")).toBe("x\ny\n");
	const fourth = on.run({ id, says: [["m2", "go on"]], crashes: 2 });
	expect(await fourth.over).toBe(0);
	expect(on.log(id).entries.at(-1)).toMatchObject({ t: "assistant", text: "Gone on." });
});

it("killed at random moments: each call is run exactly once, and each turn ends with an answer", async () => {
	expect(await killedTurns({ conversations: 1, turns: 3, batch: 3, kills: 2, events: 8 })).toBe(2);
});
