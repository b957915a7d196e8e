import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { openRuntime } from "holdfast";
import { expect, it } from "vitest";
import { findBrowser, profileOf } from "../../src/chrome/index.js";
import { browserTools } from "../../src/index.js";
import { missing } from "../support/browser.js";
import { route } from "../support/pages.js";
import { testSite } from "../support/site.js";

const site = testSite(route);

it.skipIf(missing)("goes on in the same page after kill -9, and the end of the task leaves nothing", { timeout: 300_000 }, async () => {
	const home = fs.mkdtempSync(path.join(process.env.TEST_ROOT ?? "", "home-"));
	const child = spawn(process.execPath, ["browser/test/support/killed.mjs", home, `${site.url}/dialogs`], { stdio: ["ignore", "pipe", "inherit"] });
	const [said] = (await once(child.stdout, "data")) as [Buffer];
	expect(said.toString().trim()).toBe("opened");
	child.kill("SIGKILL");
	await once(child, "exit");
	const runtime = await openRuntime({ home, task: "t", warm: 0 });
	const before = findBrowser(runtime, "t")?.id;
	expect(before).toBeDefined();
	const { tools, close } = browserTools(runtime);
	const call = async (name: string, args = {}) => {
		const tool = tools.find((one) => one.name === name);
		if (!tool) throw new Error(`no ${name}`);
		return runtime.task("t").call(tool, args);
	};
	expect(fs.readlinkSync(`${profileOf(runtime, "t")}/SingletonSocket`)).toContain(`${profileOf(runtime, "t")}/`); // so it goes with the profile
	const hits = site.hits.length;
	const at = await call("browser_snapshot");
	expect(at.output).toContain('button "Alert"');
	expect([findBrowser(runtime, "t")?.id, site.hits.length]).toEqual([before, hits]); // the same browser, and nothing was loaded again
	await close();
	const report = await runtime.endTask("t");
	expect([report.gone, fs.existsSync(profileOf(runtime, "t")), findBrowser(runtime, "t")]).toEqual([true, false, undefined]);
	await runtime.close();
	fs.rmSync(home, { recursive: true, force: true });
});
