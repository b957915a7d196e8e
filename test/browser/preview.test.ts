/** A preview in a real browser: a link of the terminal's page, and an application that would like to be the page's owner. */
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tempDir, testRuntime } from "../support/home.js";
import { freePort } from "../support/ports.js";
import { barriers, becomes, launch, missing, PHONE, serve, shows, visit, WIDE } from "./support.js";

const APP = path.resolve("test/fixtures/preview-app.py");

describe.skipIf(missing)("a preview", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("opens beside the page, follows links, redirects and WebSockets, and can neither read nor set nor use what is the page's", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const port = await freePort();
		const app = await runtime.spawn({ command: `python3 ${APP} ${port}`, name: "web", terminal: true });
		await app.wait({ until: { pattern: "ready" }, timeout: 100_000 });
		// By name, as people open it: cookies of `localhost` are what an application below it could be sent.
		const { page, context, complaints } = await visit(browser, server.link.replace("127.0.0.1", "localhost"), WIDE);
		const ours = new URL(page.url()).origin;
		await page.getByRole("link", { name: /^web / }).click();
		const link = page.getByRole("link", { name: `Preview :${port}` });
		await link.waitFor();
		await shows(page, "ready");
		expect(await barriers(page)).toEqual([]);
		const before = await context.cookies(ours);
		expect(before.map(({ name }) => name)).toEqual([`holdfast_${server.port}`]);

		const popup = context.waitForEvent("page");
		await link.click();
		const preview = await popup;
		await preview.waitForURL(new RegExp(`^http://p${port}-${app.id.slice(5)}\\.localhost:${server.port}/$`));
		await becomes(preview, "document.body.dataset.tried !== undefined"); // what it sets on the way is there at the second visit
		await preview.goto(`${new URL(preview.url()).origin}/?ours=${encodeURIComponent(ours)}`);
		await becomes(preview, "document.body.dataset.tried !== undefined");
		const tried = JSON.parse((await preview.evaluate("document.body.dataset.tried")) as string);
		expect(tried).toEqual({
			cookie: "mine=1; other=2", // its own: not ours, not the one that opens the preview, none for all of localhost
			api: "TypeError",
			blind: "TypeError",
			kill: 0, // an answer that it cannot read; that nothing was done is seen below
			logout: 0,
			own: 200,
			set: 200,
			opener: true,
			socket: `hello from http://localhost:${port}`,
		});
		expect(await preview.evaluate("getComputedStyle(document.querySelector('#color')).color")).toBe("rgb(1, 2, 3)");

		// The page is as it was: its cookie, its session, its task.
		expect((await context.cookies(ours)).filter(({ domain }) => domain === "localhost" || domain === ".localhost")).toEqual(before);
		expect(app.status().status).toBe("running");
		await page.reload();
		await link.waitFor();

		await preview.locator("#absolute").click();
		await preview.waitForURL(/localhost:\d+\/landed\?x=1#there$/);
		expect(await preview.locator("body").textContent()).toBe("at /landed?x=1");
		await preview.goBack();
		await preview.locator("#relative").click();
		await preview.waitForURL(/\.localhost:\d+\/landed$/);
		await preview.goto(`${new URL(preview.url()).origin}/`);
		await preview.evaluate("document.querySelector('form').submit()");
		await preview.waitForURL(/\/echo$/);

		// Another browser has the name, and no way in.
		const stranger = await visit(browser, preview.url(), WIDE);
		await stranger.page.getByRole("heading", { name: "This browser is not signed in" }).waitFor();

		await app.kill();
		await preview.goto(`${new URL(preview.url()).origin}/`);
		await preview.getByRole("heading", { name: "There is no application here" }).waitFor();
		await link.waitFor({ state: "detached" });
		expect(complaints).toEqual([]);
	});

	it("has its button on a phone, within reach", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const port = await freePort();
		const app = await runtime.spawn({ command: `python3 ${APP} ${port} ::1`, name: "web", terminal: true });
		await app.wait({ until: { pattern: "ready" }, timeout: 100_000 });
		const { page, complaints } = await visit(browser, server.link, PHONE);
		await page.getByRole("link", { name: /^web / }).click();
		const link = page.getByRole("link", { name: `Preview :${port}` });
		await link.scrollIntoViewIfNeeded();
		await shows(page, "ready");
		expect(await barriers(page)).toEqual([]);
		const popup = page.context().waitForEvent("page");
		await link.tap();
		await (await popup).getByRole("heading", { name: "An application" }).waitFor();
		expect(complaints).toEqual([]);
	});
});
