/** Everything that the hands of an episode can do, tried on whatever place. */
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import type { ToolContext } from "../../src/episode/index.js";
import { tempDir } from "../support/dirs.js";
import { type Field, harborTask, wordsOf } from "./support.js";

const SECRET = "AKIAIOSFODNN7EXAMPLE";

async function withHands({ play }: Field, use: (cx: ToolContext) => Promise<unknown>): Promise<string> {
	const played = await play(harborTask('echo 1 > "$LOGS/verifier/reward.txt"'), {
		name: "hands",
		enter: async ({ cx }) => ({
			async act() {
				await use(cx);
				return "finished";
			},
			leave: async () => ({ conversation: null, usage: { input: 0, output: 0 }, tools: [] }),
		}),
	});
	return played.how + wordsOf(played);
}

export async function movesEverything(at: Field, megabytes: number): Promise<void> {
	const dir = tempDir("moved");
	const bytes = randomBytes(megabytes * 1024 * 1024);
	fs.mkdirSync(path.join(dir, "in/.hidden"), { recursive: true });
	for (const [name, content] of Object.entries({ big: bytes, empty: Buffer.alloc(0), "two\nlines": Buffer.from("x"), ".hidden/y": Buffer.from([0, 255, 10]) }))
		fs.writeFileSync(path.join(dir, "in", name), content);
	fs.symlinkSync("empty", path.join(dir, "in/link"));
	const how = await withHands(at, async (cx) => {
		await cx.upload(path.join(dir, "in"), "/tmp/moved");
		expect((await cx.run("sha256sum /tmp/moved/big")).text().slice(0, 64)).toBe(createHash("sha256").update(bytes).digest("hex"));
		const back = await cx.download("/tmp/moved", path.join(dir, "out"));
		expect([back.files, back.skipped]).toEqual([4, []]);
		for (const name of ["big", "empty", "two\nlines", ".hidden/y"])
			expect(fs.readFileSync(path.join(dir, "out", name)).equals(fs.readFileSync(path.join(dir, "in", name))), name).toBe(true);
		expect(fs.readlinkSync(path.join(dir, "out/link"))).toBe("empty");
		expect(await cx.read("/tmp/moved/none")).toBeUndefined();
		expect((await cx.read("/tmp/moved/big", 10))?.equals(bytes.subarray(0, 10))).toBe(true);
		const { sha256 } = await cx.write("/tmp/moved/secret", `${SECRET}\n`);
		expect(sha256).toBe(createHash("sha256").update(`${SECRET}\n`).digest("hex"));
		expect((await cx.run("cat /tmp/moved/secret")).text()).toBe(`${SECRET}\n`); // for the scorer: as it is
		expect((await cx.tool("terminal", { command: "cat /tmp/moved/secret" })).output).toContain(SECRET); // in a boundary of its own the model sees it too
		expect(JSON.stringify(await cx.search({ pattern: "AKIA", path: "/tmp/moved" }))).toMatch(/secret/);
		const slow = await cx.run("echo begun; sleep 3600", { timeout: 1 });
		expect([slow.exit_code, slow.timed_out, slow.survivors, slow.text()]).toEqual([null, true, [], "begun\n"]);
		expect(cx.left()).toBeGreaterThan(0);
		await cx.tool("terminal", { command: "sleep 3600", background: true });
		expect(cx.processes().map(({ spec }) => spec.command)).toEqual(["sleep 3600"]);
	});
	expect(how).toMatch(/^scored 1/);
}
