/** Everything that the hands of an episode can do, tried on whatever place. */
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import type { ToolContext } from "../../src/episode/index.js";
import { tempDir } from "../support/dirs.js";
import { type Field, harborTask, type Played, wordsOf } from "./support.js";

const SECRET = "AKIAIOSFODNN7EXAMPLE";

async function withHands({ play }: Field, use: (cx: ToolContext) => Promise<unknown>): Promise<Played> {
	return play(harborTask('echo 1 > "$LOGS/verifier/reward.txt"'), {
		name: "hands",
		enter: async ({ cx }) => ({
			async act() {
				await use(cx);
				return "finished";
			},
			leave: async () => ({ conversation: null, usage: { input: 0, output: 0 }, tools: [] }),
		}),
	});
}

export async function movesEverything(at: Field, megabytes: number): Promise<void> {
	const dir = tempDir("moved");
	const bytes = randomBytes(megabytes * 1024 * 1024);
	fs.mkdirSync(path.join(dir, "in/.hidden"), { recursive: true });
	for (const [name, content] of Object.entries({ big: bytes, empty: Buffer.alloc(0), "two\nlines": Buffer.from("x"), ".hidden/y": Buffer.from([0, 255, 10]) }))
		fs.writeFileSync(path.join(dir, "in", name), content);
	fs.symlinkSync("empty", path.join(dir, "in/link"));
	const mark = randomBytes(4).readUInt32BE();
	const played = await withHands(at, async (cx) => {
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
		await cx.tool("terminal", { command: `sleep ${mark}`, background: true, pty: true });
		await cx.tool("terminal", { command: `sleep ${mark} & disown; (setsid sleep ${mark} > /dev/null 2>&1 < /dev/null &)` });
		expect(runningWith(mark)).toHaveLength(3);
	});
	expect(played.how + wordsOf(played)).toMatch(/^scored 1/);
	const { ended } = JSON.parse(fs.readFileSync(path.join(played.folder, "proof.json"), "utf8")) as { ended: string[] };
	expect(ended.join("\n")).toMatch(
		new RegExp(`proc_\\w+ killed: sleep ${mark}\\n[\\s\\S]*proc_\\w+ killed: sleep 3600\\n\\d shells?\\n(bubblewrap|docker) \\S+$`),
	);
	expect([played.gone, runningWith(mark)]).toEqual([true, []]);
}

/** Programs of this machine, those in containers included, that sleep for so long. */
const runningWith = (seconds: number): string[] =>
	fs.readdirSync("/proc").filter((pid) => {
		try {
			return fs.readFileSync(`/proc/${pid}/cmdline`, "latin1") === `sleep\0${seconds}\0`;
		} catch {
			return false; // no process, or it has ended
		}
	});
