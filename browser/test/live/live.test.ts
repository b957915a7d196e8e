import { expect, it } from "vitest";
import { LEASE_MS } from "../../src/drive/lease.js";
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
	const form = await web.call("browser_navigate", { url: `${site.url}/form` });
	expect(await (await ask("GET", "/tasks")).json()).toEqual([{ task: "t", url: `${site.url}/form`, title: "Form", tabs: 1 }]);

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
	const { key } = (await (await ask("POST", "/tasks/t/hold", { hold: true })).json()) as { key: string };
	expect((await ask("POST", "/tasks/t/hold", { hold: true })).status).toBe(409); // another page
	const refused = await web.call("browser_click", { ref: web.ref(form, 'button "Send"') });
	expect(refused.error).toBe("a person has taken over the browser, so nothing was done; wait, or take a browser_snapshot");

	// What they type into a password field is in no snapshot.
	const press = (name: string) => ["keyDown", "keyUp"].map((type) => ({ kind: "key", type, key: name, code: name, keyCode: 9, modifiers: 0 }));
	const sent = await ask("POST", "/tasks/t/input", { key, events: [...press("Tab"), { kind: "text", text: "Grace" }, ...press("Tab"), ...typed] });
	expect(await sent.json()).toEqual({ done: 11 });
	const named = await web.call("browser_wait", { text: "nothing of the kind", timeout: 0.5 });
	expect(named.output).toContain("Grace");
	expect(named.output).toMatch(/textbox "Secret".*•••/);
	expect(JSON.stringify(named)).not.toContain("s3cret");
	expect((await ask("POST", "/tasks/t/input", { key, events: [{ kind: "open", url: "file:///etc/passwd" }] })).status).toBe(400);

	// Given back, the model goes on; a login that has expired ends the picture.
	await ask("POST", "/tasks/t/hold", { hold: false, key });
	expect((await web.call("browser_click", { ref: web.ref(form, 'button "Send"') })).output).toContain("Grace r");
	valid = false;
	for (let piece = await reader?.read(); piece && !piece.done; ) piece = await reader?.read();
	expect(LEASE_MS).toBeGreaterThan(8_000); // what the page renews it with
	await part.close?.();
});
