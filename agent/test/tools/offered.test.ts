import { testRuntime } from "holdfast/testing";
import { expect, it } from "vitest";
import { chooseTools, findOffered, registryOf, TASK_LIMITS, toolsetsWith } from "../../src/tools/index.js";
import { tempDir } from "../support/dirs.js";

it("has the sets web and browser where holdfast-browser is installed, only where they are named, and never in place of a server", async () => {
	await using offered = await findOffered();
	const sets = toolsetsWith({ offered: offered.sets });
	expect(offered.sets.map(({ name }) => name)).toEqual(["web", "browser"]);
	expect(chooseTools(["all"], sets, "chat").tools).not.toContain("web_extract");
	expect(chooseTools(["web"], sets, "run").tools).toEqual(["web_search", "web_extract"]);
	await using besideServer = await findOffered(["web"]);
	expect(besideServer.sets.map(({ name }) => name)).toEqual(["browser"]);
});

it("runs their tools in the task, with a result that is kept until it is settled", async () => {
	await using runtime = await testRuntime({ task: "talk" });
	const task = runtime.task("talk", { limits: TASK_LIMITS, cwd: tempDir() });
	await using offered = await findOffered();
	const tools = await offered.load(["web"], { runtime, task });
	const registry = registryOf(tools, ["web_search", "web_extract"]);
	expect(registry.names).toEqual(["web_extract"]); // no search provider is configured
	const never = new AbortController().signal;
	const context = { id: "c1", signal: never, yield: never };
	const tool = registry.get("web_extract");
	const outcome = await tool?.run({ urls: ["http://10.0.0.1/"] }, context);
	expect(outcome).toMatchObject({ failed: true, text: expect.stringContaining("10.0.0.1 is private, so it is not fetched") });
	expect(await tool?.became?.({ urls: ["http://10.0.0.1/"] }, context)).toMatchObject({ state: "ended", outcome });
	await tool?.settle?.("c1");
	expect(await task.findCall("c1")).toMatchObject({ state: "ended", settled: true });
});
