import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { chromium } from "playwright-core";
import { expect, it } from "vitest";
import { sitePart } from "../../src/live/index.js";
import { driven, missing } from "../support/browser.js";
import { route } from "../support/pages.js";
import { testSite } from "../support/site.js";

const site = testSite(route);

/** Stands for the page of `holdfast serve`: it mounts the view, and passes on what that asks. */
const PAGE = `<!doctype html><body style="margin:0;height:100vh"><script type="module">
import { mount } from "/view.js";
mount(document.body, {
	async request(method, path, { body, signal } = {}) {
		const answer = await fetch("/api" + path, { method, signal, ...(body ? { body: JSON.stringify(body) } : {}) });
		if (!answer.ok) throw new Error((await answer.json()).error.message);
		return answer;
	},
	onRoute(changed) { const tell = () => changed(location.hash.split("/").filter((part) => part && part !== "#")); tell(); addEventListener("hashchange", tell); return () => {}; },
	href: (parts) => "#/" + parts.join("/"),
	say: (text) => { document.title = text; },
});</script>`;

it.skipIf(missing)("a person clicks what they see, in a window of any shape, and types", { timeout: 300_000 }, async () => {
	await using web = await driven();
	const part = sitePart({ home: web.runtime.home.root, runtime: web.runtime });
	const server = http.createServer(async (request, response) => {
		const { pathname } = new URL(request.url ?? "/", "http://page");
		if (pathname === "/") return response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
		if (pathname === "/view.js") return response.writeHead(200, { "content-type": "text/javascript" }).end(fs.readFileSync("browser/dist/live/web/view.js"));
		const path = pathname.replace(/^\/api/, "");
		const stop = new AbortController();
		response.once("close", () => stop.abort());
		const asked = new Request(`http://page${path}`, { method: request.method ?? "GET", signal: stop.signal });
		const { status, body } = await part.fetch(asked, { path, isStillValid: () => true, json: () => json(request) });
		response.writeHead(status);
		if (body) Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]).pipe(response);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	await web.call("browser_navigate", { url: `${site.url}/spot` });
	await using person = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
	const page = await person.newPage({ viewport: { width: 700, height: 900 } });
	await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
	await page.getByRole("link", { name: "t: Spot" }).click();
	await page.getByRole("status").filter({ hasText: "live" }).waitFor();
	await page.getByRole("button", { name: "Take over" }).click();
	await page.getByRole("status").filter({ hasText: "you drive" }).waitFor();

	// The part of the canvas that has the picture, in the shape of the page.
	const picture = await page.locator("canvas").evaluate((canvas: HTMLCanvasElement) => {
		const { left, top, width, height } = canvas.getBoundingClientRect();
		const scale = Math.min(width / canvas.width, height / canvas.height);
		return { left: left + (width - canvas.width * scale) / 2, top: top + (height - canvas.height * scale) / 2, scale };
	});
	const at = (x: number, y: number) => [picture.left + x * picture.scale, picture.top + y * picture.scale] as const;
	await page.mouse.click(...at(140, 28));
	await page.keyboard.type("Grace");
	await expect.poll(async () => (await web.call("browser_snapshot")).output, { timeout: 20_000 }).toMatch(/textbox "Here".*: Grace/);
	await page.getByRole("button", { name: "Give back" }).click();
	await page.getByRole("button", { name: "Take over" }).waitFor();
	await expect.poll(async () => (await web.call("browser_press", { key: "Tab" })).status).toBe("ok");
	await person.close();
	await part.close?.();
	server.closeAllConnections();
	await new Promise((resolve) => server.close(resolve));
});
