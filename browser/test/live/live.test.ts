import fs from "node:fs";
import path from "node:path";
import { readAudit } from "holdfast";
import { expect, it } from "vitest";
import { findBrowser } from "../../src/chrome/index.js";
import { sitePart } from "../../src/live/index.js";
import { driven, missing } from "../support/browser.js";
import { route } from "../support/pages.js";
import { testSite } from "../support/site.js";

const site = testSite(route);

it.skipIf(missing)("shows a browser live, and lets a person take over", { timeout: 300_000 }, async () => {
	await using web = await driven();
	const part = sitePart({ home: web.runtime.home.root, runtime: web.runtime });
	let valid = true;
	const ask = async (method: string, path: string, body?: unknown) =>
		part.fetch(new Request(`http://page${path}`, { method }), { path, isStillValid: () => valid, json: async () => body });

	expect(await (await ask("GET", "/tasks")).json()).toEqual([]);
	expect((await ask("GET", "/tasks/t/screen")).status).toBe(404);
	let form = await web.call("browser_navigate", { url: `${site.url}/form` });
	expect(await (await ask("GET", "/tasks")).json()).toEqual([{ task: "t", place: "local", url: `${site.url}/form`, title: "Form", tabs: 1 }]);

	// The picture.
	const reader = (await ask("GET", "/tasks/t/screen")).body?.getReader();
	const first = JSON.parse(
		Buffer.from((await reader?.read())?.value ?? [])
			.toString()
			.split("\n", 1)[0] ?? "",
	) as { data: string; width: number };
	expect(Buffer.from(first.data, "base64").subarray(0, 2).toString("hex")).toBe("ffd8");

	// Only who has taken over may act, and meanwhile the model may not.
	const typed = [..."s3cret"].map((text) => ({ kind: "text", text }));
	expect((await ask("POST", "/tasks/t/input", { key: "x", events: typed })).status).toBe(409);
	const takeOver = async () => ((await (await ask("POST", "/tasks/t/hold", { hold: true })).json()) as { key: string }).key;
	let key = await takeOver();
	expect((await ask("POST", "/tasks/t/hold", { hold: true })).status).toBe(409); // another page
	const refused = await web.call("browser_click", { ref: web.ref(form, 'button "Send"') });
	expect(refused.error).toBe("a person at the page has taken over the browser, so nothing was done; wait, or take a browser_snapshot");
	const { id: session_id = "" } = findBrowser(web.runtime, "t") ?? {};
	expect((await web.call("browser_close")).error).toBe(refused.error);
	expect((await web.runtime.process({ action: "kill", session_id }, { task: "t" })).error).toContain("a person at the page has taken the keyboard"); // the lease of terminals

	// What they type into a password field is in no snapshot.
	const press = (name: string) => ["keyDown", "keyUp"].map((type) => ({ kind: "key", type, key: name, code: name, keyCode: 9, modifiers: 0 }));
	const sent = await ask("POST", "/tasks/t/input", { key, events: [...press("Tab"), { kind: "text", text: "Grace" }, ...press("Tab"), ...typed] });
	expect(await sent.json()).toEqual({ done: 11 });
	const named = await web.call("browser_wait", { text: "nothing of the kind", timeout: 0.5 });
	expect(named.output).toContain("Grace");
	expect(named.output).toMatch(/textbox "Secret".*•••/);
	expect(JSON.stringify(named)).not.toContain("s3cret");
	expect((await ask("POST", "/tasks/t/input", { key, events: [{ kind: "open", url: "file:///etc/passwd" }] })).status).toBe(400);

	// Given back, the model goes on; a call that waits for its turn when the person takes over again does nothing.
	await ask("POST", "/tasks/t/hold", { hold: false, key });
	expect((await web.runtime.notices.take("t")).map(({ text }) => text)).toEqual([expect.stringContaining("is yours again: a person at the page had it")]);
	const looking = web.call("browser_wait", { url: "/shown" });
	const late = web.call("browser_press", { key: "Tab" });
	await expect.poll(() => readAudit(web.runtime, { task: "t" }).some(({ command }) => command?.startsWith("browser_press"))).toBe(true);
	key = await takeOver();
	await ask("POST", "/tasks/t/input", { key, events: [{ kind: "open", url: `${site.url}/shown` }] });
	expect((await looking).output).toContain("the address is there");
	expect((await late).error).toBe(refused.error);

	// No snapshot has it when the person has the page show it as text, nor does a file of the home.
	const space = ["keyDown", "keyUp"].map((type) => ({ kind: "key", type, key: " ", code: "Space", keyCode: 32, modifiers: 0 }));
	await ask("POST", "/tasks/t/input", { key, events: [...press("Tab"), ...typed, ...press("Tab"), ...space] });
	const seen = await web.call("browser_snapshot");
	expect(seen.output).toMatch(/textbox "Secret".*•••[\s\S]*button "Show it" \[active\]/);
	const enter = ["keyDown", "keyUp"].map((type) => ({ kind: "key", type, key: "Enter", code: "Enter", keyCode: 13, modifiers: 0 }));
	await ask("POST", "/tasks/t/input", { key, events: [{ kind: "open", url: `${site.url}/shown` }] });
	await expect.poll(async () => (await web.call("browser_snapshot")).output).not.toContain("active");
	await ask("POST", "/tasks/t/input", { key, events: [...press("Tab"), { kind: "text", text: "of-one-form" }, ...enter] }); // by the next look it is in the address
	expect((await web.call("browser_wait", { url: "/sent" })).output).toMatch(/\/sent\?name=•••[\s\S]*Title: Sent/);
	const files = fs.readdirSync(web.runtime.home.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
	expect(files.length).toBeGreaterThan(0);
	for (const { parentPath, name } of files) expect(fs.readFileSync(path.join(parentPath, name), "latin1"), name).not.toMatch(/s3cret|of-one-form/);

	// The picture follows to another tab.
	await ask("POST", "/tasks/t/hold", { hold: false, key });
	form = await web.call("browser_navigate", { url: `${site.url}/form`, new_tab: true });
	let rest = "";
	for (let url = ""; url !== `${site.url}/form`; ) {
		const { value, done } = (await reader?.read()) ?? { done: true };
		if (done) throw new Error("the picture has ended");
		const lines = (rest + Buffer.from(value ?? []).toString()).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) url = (JSON.parse(line) as { url: string }).url;
	}

	// Given back, the model goes on; a login that has expired ends the picture.
	expect((await web.call("browser_click", { ref: web.ref(form, 'button "Send"') })).output).toContain("Title: Sent");
	valid = false;
	for (let piece = await reader?.read(); piece && !piece.done; ) piece = await reader?.read();

	// The end of the browser is said.
	valid = true;
	await web.call("browser_close");
	expect((await ask("GET", "/tasks/t/screen")).status).toBe(404);
	await part.close?.();
});
