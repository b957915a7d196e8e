import { expect, it } from "vitest";
import { sitePart } from "../../src/live/index.js";
import { driven, missing } from "../support/browser.js";

it.skipIf(missing)("drives a Chromium in a sandbox that has a network of its own", { timeout: 300_000 }, async () => {
	await using web = await driven({}, "t", "local+sandbox");
	const handle = web.runtime.task("t");
	await handle.files.write("site/index.html", "<title>Inside</title><h1>Only in here</h1><button onclick=\"this.textContent='pressed'\">Press</button>");
	const server = await handle.spawn({ command: "cd site && exec python3 -m http.server 8123 --bind 127.0.0.1", cwd: web.dir });
	await server.wait({ until: { port: 8123 }, timeout: 60_000 });
	const at = await web.call("browser_navigate", { url: "http://127.0.0.1:8123/" });
	expect(at.output).toContain("Only in here");
	expect((await web.call("browser_click", { ref: web.ref(at, "Press") })).output).toContain("pressed");
	await web.call("browser_screenshot", { path: "inside.png" });
	expect((await handle.files.read("inside.png")).subarray(1, 4).toString()).toBe("PNG");

	// The page lists it, and says that it cannot show it.
	const part = sitePart({ home: web.runtime.home.root, runtime: web.runtime });
	const ask = async (at: string) => part.fetch(new Request(`http://page${at}`), { path: at, isStillValid: () => true, json: async () => undefined });
	expect(await (await ask("/tasks")).json()).toEqual([{ task: "t", place: expect.stringContaining("sandbox"), url: "", title: "", tabs: null }]);
	expect(await (await ask("/tasks/t/screen")).text()).toMatch(
		/"problem":"this browser runs in local\+sandbox.*; browsers on this machine itself can be shown here, others cannot"/,
	);
	await part.close?.();
	expect((await web.call("browser_snapshot")).output).toContain("pressed");
	expect((await web.call("browser_close")).output).toContain("its processes are gone");
});
