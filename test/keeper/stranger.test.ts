/** Numbers mean something only where they were given out: no stranger is adopted, and none is signalled. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { isAlive, readStat, type Stat } from "../../src/base/proc.js";
import { readParts, readState } from "../../src/keeper/layout.js";
import type { Spec } from "../../src/keeper/spec.js";
import { atEnd, testRuntime, until } from "../support/home.js";
import { openRuntime, type Process, type Runtime } from "../support/internal.js";

test("a process from before a reboot is lost, and its pid is not signalled", async () => {
	const { process, runtime } = await seenFrom({ boot: "11111111-2222-3333-4444-555555555555" });
	expect(process.status()).toMatchObject({ status: "lost", exitCode: null, reason: expect.stringContaining("restarted") });
	expect(await process.kill({ graceMs: 100 })).toMatchObject({ status: "already_exited", signalled: [], survivors: [] });
	expect(runtime.list().map((listed) => listed.status().status)).toEqual(["lost"]);
});

for (const where of [{ host: "another-host" }, { pidns: "pid:[1]" }]) {
	test(`a process of another ${Object.keys(where)} is neither adopted, listed nor signalled`, async () => {
		const { process, runtime } = await seenFrom(where);
		expect(process.status()).toMatchObject({ status: "elsewhere" });
		expect(runtime.list({ task: null })).toEqual([]);
		await expect(process.kill()).rejects.toMatchObject({ code: "NOT_HERE" });
		await expect(process.signal("SIGTERM")).rejects.toMatchObject({ code: "NOT_HERE" });
		await expect(process.write("x")).rejects.toMatchObject({ code: "NOT_HERE" });
		await expect(process.closeStdin()).rejects.toMatchObject({ code: "NOT_HERE" });
		expect(runtime.prune({ olderThanMs: -1, quotaBytes: 0 }).removed).toEqual([]);
		expect(fs.existsSync(path.join(runtime.home.live, process.id))).toBe(true);
	});
}

test("a stranger with the number of the command is not taken for it, and is not signalled", async () => {
	const first = await testRuntime();
	const { id, dir } = await first.spawn({ command: ["sleep", "1000"] }); // without a shell, which would leave a child behind
	const { keeper, child } = readParts(dir);
	for (const part of [keeper, child]) process.kill(part?.pid as number, "SIGKILL");
	await until("it is dead, and its log has closed", () => !isAlive(child as Stat) && readState(dir).kind === "closed");
	const stranger = await startStranger();
	fs.writeFileSync(path.join(dir, "meta"), `keeper ${stranger.pid} ${keeper?.start}\nchild ${stranger.pid} ${child?.start}\n`);

	await using runtime = await openRuntime({ home: first.home.root, warm: 0 });
	const seen = runtime.get(id);
	expect(seen.status()).toMatchObject({ status: "lost", exitCode: null });
	await expect(seen.signal("SIGTERM")).rejects.toMatchObject({ code: "ENDED" });
	expect(await seen.kill({ graceMs: 100 })).toMatchObject({ status: "already_exited", signalled: [] });
	expect(isAlive(stranger)).toBe(true);
});

/** A running process whose spec says that it was started elsewhere, in the eyes of a runtime that has just come. */
async function seenFrom(where: Partial<Spec["host"]>): Promise<{ process: Process; runtime: Runtime }> {
	const first = await testRuntime();
	const started = await first.spawn({ command: "sleep 1000" });
	const child = readParts(started.dir).child as Stat;
	const file = path.join(started.dir, "spec.json");
	const spec = JSON.parse(fs.readFileSync(file, "utf8")) as Spec;
	fs.writeFileSync(file, JSON.stringify({ ...spec, host: { ...spec.host, ...where } }));
	atEnd(async () => {
		fs.writeFileSync(file, JSON.stringify(spec));
		expect(isAlive(child)).toBe(true); // whatever the test did in its name
	});
	const runtime = await openRuntime({ home: first.home.root, warm: 0 });
	atEnd(() => runtime.close());
	return { process: runtime.get(started.id), runtime };
}

async function startStranger(): Promise<Stat> {
	const child = spawn("sleep", ["1000"], { stdio: "ignore" });
	atEnd(() => child.kill("SIGKILL"));
	await until("it runs", () => readStat(child.pid as number)?.comm === "sleep");
	return readStat(child.pid as number) as Stat;
}
