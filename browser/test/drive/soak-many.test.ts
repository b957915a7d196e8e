import fs from "node:fs";
import path from "node:path";
import { openRuntime, type Runtime } from "holdfast";
import { testRuntime } from "holdfast/testing";
import { expect, it } from "vitest";
import { findBrowser, profileOf } from "../../src/chrome/index.js";
import { browserTools } from "../../src/index.js";
import { missing } from "../support/browser.js";
import { route } from "../support/pages.js";
import { testSite } from "../support/site.js";

const site = testSite(route);
const TASKS = 50;
const AT_ONCE = 3;

it.skipIf(missing)(`starts and ends ${TASKS} tasks with a browser each, and leaves no process, profile or port`, { timeout: 1_800_000 }, async () => {
	await using runtime = await testRuntime({ task: "main" });
	const { tools, close } = browserTools(runtime);
	const navigate = tools.find(({ name }) => name === "browser_navigate");
	if (!navigate) throw new Error("no browser_navigate");
	const names = Array.from({ length: TASKS }, (_, at) => `t${at}`);
	const work = async (): Promise<void> => {
		for (let name = names.pop(); name !== undefined; name = names.pop()) {
			const task = runtime.task(name);
			const { output } = await task.call(navigate, { url: `${site.url}/two` });
			expect(output).toContain("Page two");
			const port = Number(fs.readFileSync(`${profileOf(runtime, name)}/DevToolsActivePort`, "utf8").split("\n", 1)[0]);
			const report = await task.end();
			expect([name, report.gone, fs.existsSync(profileOf(runtime, name))]).toEqual([name, true, false]);
			await expect(fetch(`http://127.0.0.1:${port}/json/version`)).rejects.toThrow();
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, work));
	await close();
});

it.skipIf(missing)("gives one browser to two programs that start it at once", { timeout: 300_000 }, async () => {
	const home = fs.mkdtempSync(path.join(process.env.TEST_ROOT ?? "", "home-"));
	const programs = await Promise.all([1, 2].map(() => openRuntime({ home, task: "t", warm: 0 })));
	const sets = programs.map((runtime) => ({ runtime, ...browserTools(runtime) }));
	for (let round = 0; round < 5; round++) {
		const call = async ({ runtime, tools }: (typeof sets)[number], name: string, args: object) => {
			const tool = tools.find((one) => one.name === name);
			return tool && runtime.task("t").call(tool, args);
		};
		const tabs = await Promise.all(sets.map((set) => call(set, "browser_tabs", {})));
		expect(tabs.map((result) => result?.status)).toEqual(["ok", "ok"]);
		const seen = sets.map(({ runtime }) => findBrowser(runtime, "t")?.id);
		expect([seen[0], seen[1] === seen[0]]).toEqual([expect.any(String), true]);
		for (const set of sets) await call(set, "browser_close", {});
		expect([sets.map(({ runtime }) => findBrowser(runtime, "t")), fs.existsSync(profileOf(sets[0]?.runtime as Runtime, "t"))]).toEqual([
			[undefined, undefined],
			false,
		]);
	}
	for (const set of sets) await set.close();
	await programs[0]?.endTask("t");
	for (const runtime of programs) await runtime.close();
	fs.rmSync(home, { recursive: true, force: true });
});
