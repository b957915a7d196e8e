/** The last known state of a remote process: written in place, read by other programs at the same time. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { NO_VITALS, type RemoteState, readRemoteState, writeRemoteState } from "../../src/keeper/remote-state.js";
import { atEnd, tempDir } from "../support/home.js";

const state = (alive: readonly string[], more: Partial<RemoteState> = {}): RemoteState => ({ ...NO_VITALS, alive, at: 1, boot: "b", ...more });
const many = Array.from({ length: 60 }, (_, at) => `${10_000 + at} ${123_456_789 + at}`);

test("is the state that was written last, also where a longer one was before, and in the same file", () => {
	const dir = tempDir();
	expect(readRemoteState(dir)).toBeUndefined();
	writeRemoteState(dir, state(["1 2"], { lost: "é".repeat(300) }));
	const { ino } = fs.statSync(path.join(dir, "there"));
	for (const alive of [["15 16", "17 18"], [], many.slice(0, 20)]) {
		writeRemoteState(dir, state(alive));
		expect(readRemoteState(dir)).toEqual(state(alive));
	}
	expect(fs.statSync(path.join(dir, "there")).ino).toBe(ino);
	writeRemoteState(dir, state(many)); // too long for that: the file is replaced, and the next one is shorter again
	expect(readRemoteState(dir)).toEqual(state(many));
	writeRemoteState(dir, state(["3 4"]));
	expect(readRemoteState(dir)).toEqual(state(["3 4"]));
	expect(fs.readdirSync(dir)).toEqual(["there"]);
	fs.writeFileSync(path.join(dir, "there"), `${JSON.stringify(state(["5 6"]))}\n`); // of an earlier version
	expect(readRemoteState(dir)).toEqual(state(["5 6"]));
	fs.rmSync(dir, { recursive: true });
	expect(() => writeRemoteState(dir, state([]))).toThrow("ENOENT"); // pruned meanwhile
});

test("a reader sees one state or the other while programs write both, and never a mixture", async () => {
	const dir = tempDir();
	const states = [state(many.slice(0, 2)), state(many.slice(2, 30), { drained: true, reaped: "12" })];
	writeRemoteState(dir, states[0] as RemoteState);
	for (const one of states) {
		const script = `const { writeRemoteState } = await import(${JSON.stringify(path.resolve("dist/keeper/remote-state.js"))});
			process.stdout.write("writes");
			for (const parent = process.ppid; process.ppid === parent; ) for (let i = 0; i < 100; i++) writeRemoteState(${JSON.stringify(dir)}, ${JSON.stringify(one)});`;
		const writer = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
		atEnd(() => new Promise((gone) => writer.once("close", gone) && writer.kill("SIGKILL")));
		await new Promise((begun) => writer.stdout.once("data", begun));
	}
	const seen = new Set<string>();
	for (let looks = 0; looks < 20_000; looks++) seen.add(JSON.stringify(readRemoteState(dir)));
	expect([...seen].sort()).toEqual(states.map((one) => JSON.stringify({ ...NO_VITALS, ...one })).sort());
});
