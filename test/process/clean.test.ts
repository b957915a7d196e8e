/** `doctor --clean` signals what was found, and nothing that has its number by now. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { readStat } from "../../src/base/proc.js";
import { clean, type Orphan } from "../../src/process/doctor.js";
import { atEnd, testRuntime } from "../support/home.js";

test("a process with the number of a leftover and another start time is not signalled", async () => {
	const runtime = await testRuntime();
	const child = spawn("sleep", ["600"], { stdio: "ignore" });
	atEnd(() => child.kill("SIGKILL"));
	await once(child, "spawn");
	const pid = child.pid as number;
	const leftover = (start: string): Orphan => ({ kind: "leftover", what: "x", pids: [pid], starts: [start] });
	expect(clean(runtime, [leftover("1")])).toEqual([]);
	expect(child.signalCode).toBeNull();
	expect(clean(runtime, [leftover(readStat(pid)?.start as string)])).toEqual([`killed ${pid} (x)`]);
	await once(child, "exit");
	expect(child.signalCode).toBe("SIGKILL");
});
