/** Our directory on the other machine is removed while something runs there: that is the end of what can be read, not of what runs. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readStat } from "../../../src/base/proc.js";
import { elsewhere } from "../../support/elsewhere.js";
import { textOf } from "../../support/home.js";
import { openRuntime } from "../../support/internal.js";
import { noSshd } from "../../support/sshd.js";

const alive = (pid: number | null): boolean => !["Z", "X", undefined].includes(readStat(pid ?? 0)?.state);

describe.skipIf(noSshd)("with its directory there removed", () => {
	test.each([true, false])("what runs is said to run, and a kill ends it (by a program that comes later: %s)", async (later) => {
		const { sshd, home, runtime: first } = await elsewhere({});
		const started = await first.spawn({ command: "echo up; exec sleep 631" });
		await started.wait({ until: { pattern: "up" }, timeout: 100_000 });
		const { pid } = started;
		fs.rmSync(path.join(sshd.home, ".local/state/holdfast/boxes"), { recursive: true });
		if (later) await first.close();
		const runtime = later ? await openRuntime({ home, warm: 0, place: "box" }) : first;
		const process = runtime.get(started.id);
		await process.sync();
		expect({ status: process.status(), alive: alive(pid), output: textOf(process) }).toMatchObject({
			status: { status: "running", pid },
			alive: true,
			output: "up\n",
		});
		expect(process.unreachable).toMatch(/directory there was removed.*kill/);
		expect(await process.kill({ graceMs: 300 })).toMatchObject({ status: "killed", survivors: [], final: { status: "lost" } });
		expect(alive(pid)).toBe(false);
		if (later) await runtime.close();
	});

	test("the next command has a new shell, with what is missing made anew; what it lost is said, and the old one is gone", async () => {
		const { sshd, runtime } = await elsewhere({});
		const { output } = await runtime.terminal({ command: "cd /usr; x=1; echo $$" });
		fs.rmSync(path.join(sshd.home, ".local/state/holdfast"), { recursive: true });
		const next = await runtime.terminal({ command: "echo ${x-lost}; pwd" });
		expect(next).toMatchObject({ status: "exited", exit_code: 0, output: `lost\n${sshd.home}\n` });
		expect(next.note).toMatch(/the shell's own files there had been removed.*are lost/);
		expect(next.note?.match(/had been removed from there, and was made anew/g)).toHaveLength(1);
		expect(alive(Number(output))).toBe(false);
		await runtime.terminal({ command: "y=2" });
		expect(await runtime.terminal({ command: "echo $y" })).toMatchObject({ output: "2\n" });
	});

	test("what is started next runs, and its output is kept", async () => {
		const { sshd, runtime } = await elsewhere({});
		await (await runtime.spawn({ command: "true" })).wait();
		fs.rmSync(path.join(sshd.home, ".local/state/holdfast"), { recursive: true });
		const process = await runtime.spawn({ command: "echo started" });
		expect(await process.wait({ timeout: 100_000 })).toMatchObject({ matched: "exit" });
		expect(textOf(process)).toBe("started\n");
		expect(runtime.takeNotes()).toEqual([expect.stringMatching(/made anew: output and state of what ran there before are lost/)]);
	});
});
