/** Who gets in, with a real browser at the door. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { atEnd } from "../support/home.js";
import { testHome } from "../support/mcp.js";
import { launch, missing, REBOUND, serve, visit } from "./support.js";

describe.skipIf(missing)("the door, seen from a browser", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("opens with the link, remembers the browser, and shows others what to do", async () => {
		const server = await serve(testHome());
		const { page, context, complaints } = await visit(browser, server.link);
		await page.getByText("Nothing runs yet").waitFor();
		expect(page.url()).toBe(`${server.origin}/#/`); // the key is in no history
		const [cookie] = await context.cookies();
		expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
		await page.reload();
		await page.getByText("Nothing runs yet").waitFor();
		expect(complaints).toEqual([]);
		await page.setViewportSize({ width: 320, height: 568 });
		const cut = `[...document.querySelectorAll(".nav a, .nav .word")].filter((item) => {
			const { left, right } = item.getBoundingClientRect();
			return left < 0 || right > innerWidth || item.scrollWidth > item.clientWidth + 1;
		}).map(({ textContent }) => textContent)`;
		expect(await page.evaluate(cut)).toEqual([]); // every view can be reached on the smallest phone, and read

		const passer = await visit(browser, server.origin);
		await passer.page.getByRole("heading", { name: "does not know this browser" }).waitFor();
		expect(await passer.page.getByRole("main").textContent()).not.toContain("Authorization"); // what programs are told
		expect(passer.complaints).toEqual([]);
		const stranger = await visit(browser, `${server.origin}/#token=wrong`);
		await stranger.page.getByRole("heading", { name: "does not know this browser" }).waitFor();
		expect(await stranger.page.getByRole("main").textContent()).toContain("holdfast serve --link");
		await stranger.page.getByLabel("Or paste the link here").fill("wrong too");
		await stranger.page.getByRole("button", { name: "Sign in" }).click();
		await stranger.page.getByRole("alert").waitFor();
		await stranger.page.getByLabel("Or paste the link here").fill(server.link);
		await stranger.page.getByRole("button", { name: "Sign in" }).click();
		await stranger.page.getByText("Nothing runs yet").waitFor();
		expect(stranger.complaints).toEqual([]);
	});

	it("lets no page of another origin in, not even one of this very browser", async () => {
		const server = await serve(testHome());
		const { page, context } = await visit(browser, server.link);
		await page.getByText("Nothing runs yet").waitFor();
		const other = http.createServer((_request, response) => response.setHeader("Content-Type", "text/html").end("<p>elsewhere"));
		await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
		atEnd(() => other.close());
		const elsewhere = await context.newPage();
		await elsewhere.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
		const tried = await elsewhere.evaluate(`(async () => {
			const read = await fetch("${server.origin}/api/session", { credentials: "include" }).then(() => "read", () => "refused");
			const written = await fetch("${server.origin}/api/logout", { method: "POST", mode: "no-cors", credentials: "include" }).then(({ type }) => type, () => "refused");
			const socket = await new Promise((resolve) => {
				const made = new WebSocket("${server.origin.replace("http", "ws")}/api/ws?ticket=x");
				made.onopen = () => resolve("open");
				made.onerror = () => resolve("refused");
			});
			return { read, written, socket };
		})()`);
		expect(tried).toEqual({ read: "refused", written: expect.stringMatching(/refused|opaque/), socket: "refused" });
		await page.reload();
		await page.getByText("Nothing runs yet").waitFor(); // and it did not log us out
		const rebound = await elsewhere.goto(server.origin.replace("127.0.0.1", REBOUND)); // a name of theirs that leads to us
		expect(rebound?.status()).toBe(403);
	});
});
