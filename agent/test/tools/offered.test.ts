import fs from "node:fs";
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

it.skipIf(!fs.existsSync("/usr/bin/chromium"))("drives a browser in the task, which another agent goes on with", { timeout: 300_000 }, async () => {
	await using runtime = await testRuntime({ task: "talk" });
	const task = runtime.task("talk", { limits: TASK_LIMITS, cwd: tempDir() });
	const never = new AbortController().signal;
	const use = async (id: string, name: string, args: object) => {
		await using offered = await findOffered();
		const registry = registryOf(await offered.load(["browser"], { runtime, task }), [name]);
		return registry.get(name)?.run(args, { id, signal: never, yield: never });
	};
	expect(await use("c1", "browser_navigate", { url: "about:blank#here" })).toMatchObject({ pending: expect.any(String) }); // about: leads into the machine
	expect(await use("c2", "browser_navigate", { url: "about:blank" })).toMatchObject({ failed: false, text: expect.stringContaining("about:blank") });
	expect(await use("c3", "browser_snapshot", {})).toMatchObject({ failed: false, text: expect.stringContaining("about:blank") });
	expect(await use("c4", "browser_screenshot", { show: true })).toMatchObject({ text: expect.stringContaining("no such parameter") }); // its models are sent text alone
	expect(await use("c5", "browser_close", {})).toMatchObject({ failed: false, text: expect.stringContaining("its processes are gone") });
});
