/** What the agent stands on: the core by its public name, as an installed package would have it. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { openRuntime } from "holdfast";
import { expect, it } from "vitest";

it("reaches the core as `holdfast`, from its build", async () => {
	const home = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-test-agent-"));
	try {
		await using runtime = await openRuntime({ home, task: "agent" });
		expect(await runtime.terminal({ command: "echo held" })).toMatchObject({ exit_code: 0, output: "held\n" });
		await runtime.endTask("agent");
	} finally {
		fs.rmSync(home, { recursive: true, force: true });
	}
	expect(fs.realpathSync(path.dirname(new URL(import.meta.resolve("holdfast")).pathname))).toBe(path.resolve("dist/lib"));
});
