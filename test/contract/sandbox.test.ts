import { afterAll, beforeAll, describe } from "vitest";
import { readProc } from "../../src/base/proc.js";
import { openRuntime } from "../../src/index.js";
import { Snapshot } from "../../src/process/tree.js";
import { atEnd, testRoot } from "../support/home.js";
import { noSandbox } from "../support/sandbox.js";
import { translatePids } from "./pids.js";
import { contractSuite } from "./suite.js";

describe.skipIf(noSandbox)(`in a sandbox${noSandbox ? ` (${noSandbox})` : ""}`, () => {
	beforeAll(() => translatePids(outside));
	afterAll(() => translatePids((pid) => pid));

	// The tests look at files that commands write, and have servers that commands talk to.
	contractSuite("through the library", async ({ home, task }) => {
		const runtime = await openRuntime({ home, task, warm: 0, place: "local+sandbox", sandbox: { network: true, write: [testRoot()] } });
		atEnd(() => runtime.close());
		return { call: (tool, args) => runtime[tool](args) };
	});
});

/** The process of this run that has this pid in its sandbox; -1 when there is none. */
function outside(pid: number): number {
	for (const { pid: host } of new Snapshot().stats.values()) {
		if (!new RegExp(`^NSpid:\\t${host}\\t${pid}$`, "m").test(readProc(`/proc/${host}/status`) ?? "")) continue;
		if (readProc(`/proc/${host}/environ`)?.includes(`TEST_ROOT=${testRoot()}`)) return host;
	}
	return -1;
}
