import fs from "node:fs";
import { expect, test } from "vitest";
import { newId, taskKey } from "../../src/base/ids.js";
import { findCgroups } from "../../src/keeper/cgroup.js";
import { atEnd, testRuntime, until } from "../support/home.js";

const groups = findCgroups();

test.skipIf(!groups)("the control group of a process goes with its end (needs writable cgroup v2)", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "read x" });
	expect(fs.readFileSync(`${process.spec.cgroup}/cgroup.procs`, "utf8").trim()).toBe(String(process.pid));
	await process.write("\n");
	await process.wait({ timeout: 100_000 });
	await until("it is gone", () => !fs.existsSync(process.spec.cgroup as string));
});

test.skipIf(!groups)("a group that is in use, or has only just been made, is not swept away (needs writable cgroup v2)", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "read x" });
	const fresh = groups?.make(taskKey("a test"), newId(), {}, { swap: false });
	atEnd(() => groups?.remove(fresh?.name as string));
	groups?.sweep(3_600_000);
	groups?.remove(process.spec.limits?.group as string);
	expect([fs.existsSync(fresh?.kill as string), fs.existsSync(process.spec.cgroup as string)]).toEqual([true, true]);
});
