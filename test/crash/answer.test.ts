/** Promise 2, for the last moment of a foreground command: it has ended, and the program is killed instead of writing the answer. */
import path from "node:path";
import { expect, test } from "vitest";
import { testRuntime, textOf } from "../support/home.js";
import { overStdio, testHome } from "../support/mcp.js";

test("what a foreground command printed, and its code, are there for the next program when the server dies before its answer is written", async () => {
	const home = testHome();
	const preload = ["env", "DIE_INSTEAD=ANSWER-42", `NODE_OPTIONS=--require ${path.resolve("test/fixtures/die-instead.cjs")}`];
	const { call } = await overStdio(home, ["--task", "t"], { prefix: preload });
	await call("terminal", { command: "echo first" });
	await expect(call("terminal", { command: "echo ANSWER-$((6 * 7)); (exit 3)" })).rejects.toThrow();

	const runtime = await testRuntime({ home });
	const found = runtime.list({ task: "t" });
	expect(found.map((process) => [textOf(process), process.status()])).toEqual([["ANSWER-42\n", expect.objectContaining({ status: "exited", exitCode: 3 })]]);
});
