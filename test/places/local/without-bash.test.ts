/** A local machine without bash: no persistent shell, and background processes with its sh. */
import { expect, test } from "vitest";
import { findTools } from "../../../src/keeper/tools.js";
import { testRuntime } from "../../support/home.js";

test("a machine without bash starts background processes with its sh, and that is said once", async () => {
	const runtime = await testRuntime({ tools: { ...findTools(), bash: undefined } });
	const start = () => runtime.terminal({ command: "echo $0; exit 3", background: true });
	const first = await start();
	expect(first).toMatchObject({ status: expect.stringMatching(/running|exited/), note: expect.stringContaining("this machine has no bash") });
	expect((await runtime.get(first.session_id as string).wait({ timeout: 100_000 })).status).toMatchObject({ exitCode: 3 });
	expect((await start()).note ?? "").not.toContain("has no bash");
	expect(await runtime.terminal({ command: "true" })).toMatchObject({ status: "error", error: expect.stringContaining("there is no bash on this machine") });
});
