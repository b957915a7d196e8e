import fs from "node:fs";
import { testRuntime } from "holdfast/testing";
import { expect, it } from "vitest";
import { profileOf } from "../../src/chrome/index.js";
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
