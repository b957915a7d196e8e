/** A link that may take the keyboard, in a real browser; and in a second one. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cli } from "../support/cli.js";
import { tempDir, testRuntime } from "../support/home.js";
import { launch, missing, serve, shows, visit } from "./support.js";

describe.skipIf(missing)("a keyboard link", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("lets the first browser type, also after a reload, until it hands the keyboard back; a second one reads why not", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		await serve(home);
		const process = await runtime.spawn({ command: 'echo ready; while read -r x; do echo "<$x>"; done', terminal: true });
		const link = JSON.parse((await cli(home, ["link", process.id, "--keyboard", "--for", "300", "--json"])).stdout) as { url: string; keyboard: boolean };
		expect(link).toMatchObject({ keyboard: true, session_id: process.id });
		const { page, complaints } = await visit(browser, link.url);
		await shows(page, "ready");
		expect(page.url()).not.toContain("keys"); // the secret is in no history
		await page.reload();
		await shows(page, "ready");
		await page.getByRole("button", { name: "Take the keyboard" }).waitFor();
		await page.keyboard.press("n"); // is for the owner
		await page.keyboard.press("t");
		await page.getByText("You have the keyboard.").waitFor();
		await page.keyboard.type("hello\n");
		await shows(page, "<hello>");
		await page.getByRole("button", { name: "Hand it back" }).click();
		await page.getByText("You have the keyboard.").waitFor({ state: "detached" });
		expect(complaints).toEqual([]);

		const second = await visit(browser, link.url);
		await second.page.getByText("this link works once, in one browser, and was opened before").waitFor();
		expect(second.complaints).toEqual([]);
	});
});
