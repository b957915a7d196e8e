/** Our directory on the other machine is removed while something runs there: that is the end of what can be read, not of what runs. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readStat } from "../../../src/base/proc.js";
import { openRuntime } from "../../../src/index.js";
import { elsewhere } from "../../support/elsewhere.js";
import { textOf } from "../../support/home.js";
import { noSshd } from "../../support/sshd.js";

const alive = (pid: number | null): boolean => !["Z", "X", undefined].includes(readStat(pid ?? 0)?.state);

describe.skipIf(noSshd)("with its directory there removed", () => {
	test.each([true, false])("what runs is said to run, and a kill ends it (by a program that comes later: %s)", async (later) => {
		const { sshd, home, runtime: first } = await elsewhere({});
		const started = await first.spawn({ command: "echo up; exec sleep 631" });
		await started.wait({ until: { pattern: "up" }, timeout: 20_000 });
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
});
