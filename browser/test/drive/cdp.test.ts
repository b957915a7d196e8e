import { expect, it } from "vitest";
import { findBrowser } from "../../src/chrome/index.js";
import { browserTools } from "../../src/index.js";
import { driven, missing } from "../support/browser.js";
import { route } from "../support/pages.js";
import { testSite } from "../support/site.js";

const site = testSite(route);

it.skipIf(missing)("uses a browser that runs elsewhere, and only lets go of it", { timeout: 300_000 }, async () => {
	await using web = await driven({ browser: { args: ["--remote-allow-origins=*"] } });
	await web.call("browser_navigate", { url: `${site.url}/two` });
	const process = findBrowser(web.runtime, "t");
	const [, port, where] = /ws:\/\/127\.0\.0\.1:(\d+)(\/\S+)/.exec(process?.read(0, 100_000).bytes.toString() ?? "") ?? [];
	const task = web.runtime.task("another");
	for (const cdp of [`ws://127.0.0.1:${port}${where}`, `http://127.0.0.1:${port}`]) {
		const far = browserTools(web.runtime, { settings: { browser: { cdp } } });
		const call = async (name: string, args: object = {}) => {
			const tool = far.tools.find((one) => one.name === name);
			if (!tool) throw new Error(`no ${name}`);
			return task.call(tool, args);
		};
		expect((await call("browser_snapshot")).output).toContain("Page two");
		const at = await call("browser_navigate", { url: `${site.url}/files` });
		expect(await call("browser_download", { ref: web.ref(at, "Report") })).toMatchObject({
			status: "error",
			error: expect.stringContaining("downloads of a browser that runs elsewhere (browser.cdp) cannot be kept"),
		});
		await call("browser_navigate", { url: `${site.url}/two` });
		expect((await call("browser_close")).output).toBe("This program has let go of the browser; it runs elsewhere.");
		await far.close();
	}
	expect((await web.call("browser_snapshot")).output).toContain("Page two"); // it went on
	const none = browserTools(web.runtime, { settings: { browser: { cdp: "ws://127.0.0.1:9/?token=s3cret" } } });
	const snapshot = none.tools.find(({ name }) => name === "browser_snapshot");
	const { error } = (snapshot && (await task.call(snapshot, {}))) ?? {};
	expect(error).toMatch(/the browser at ws:\/\/127\.0\.0\.1:9\/\?… cannot be reached/);
	expect(error).not.toContain("s3cret");
	await none.close();
	await task.end();
});
