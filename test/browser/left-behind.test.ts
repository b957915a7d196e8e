/** What clients have left that are gone: seen in the page, and ended there. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientFields } from "../../src/doors/mcp/presence.js";
import { isOver } from "../../src/process/index.js";
import { tempDir, testRuntime, until } from "../support/home.js";
import { overStdio } from "../support/mcp.js";
import { barriers, launch, missing, PHONE, serve, visit, WIDE } from "./support.js";

describe.skipIf(missing)("what clients have left", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("is shown and ended by age, wide and on a phone; a client that has come back keeps its task", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const first = await overStdio(home, [], { name: "some-client", version: "2.7.1" });
		await first.call("terminal", { command: "sleep 1000", background: true });
		const [left] = runtime.list({ task: null });
		const task = left?.spec.task ?? "";
		await runtime.spawn({ command: "sleep 1000", task: "by hand" });
		const { page, complaints } = await visit(browser, server.link, PHONE);
		await page.evaluate("location.hash = '#/t'");
		await page
			.getByRole("link", { name: "by hand" })
			.or(page.getByRole("link", { name: task }))
			.first()
			.waitFor();
		const region = page.getByRole("region", { name: "Left by clients that are gone" });
		expect(await region.count()).toBe(0); // it is there
		await first.client.close();
		await until("its server has gone", () => clientFields(runtime.home, task).client === "gone");
		await region.getByText(/^some-client 2\.7\.1, gone since .* · 1 running$/).waitFor();
		expect(await region.getByRole("listitem").count()).toBe(1);
		await region.getByLabel("gone").selectOption("for a day");
		expect(await region.getByRole("button", { name: "End 0" }).isDisabled()).toBe(true);
		await region.getByLabel("gone").selectOption("for any time");
		expect(await barriers(page)).toEqual([]);
		await page.setViewportSize(WIDE.viewport);
		expect(await barriers(page)).toEqual([]);

		// It comes back while a person is about to end what it has left.
		await region.getByRole("button", { name: "End 1" }).click();
		const dialog = page.getByRole("dialog", { name: "End this task" });
		await dialog.waitFor();
		expect(await barriers(page)).toEqual([]);
		await page.setViewportSize(PHONE.viewport);
		expect(await barriers(page)).toEqual([]);
		const second = await overStdio(home, [], { name: "some-client", version: "2.7.1" });
		await second.call("terminal", { command: "true" });
		await region.waitFor({ state: "detached" }); // the page knows; the dialog stays
		await dialog.getByRole("button", { name: "End", exact: true }).click();
		await dialog.getByText("the client of this task is not gone").waitFor();
		await dialog.getByRole("button", { name: "Leave it running" }).click();
		expect(left && isOver(left.status())).toBe(false);
		await second.client.close();
		await until("its server has gone", () => clientFields(runtime.home, task).client === "gone");

		await region.getByRole("listitem").filter({ hasText: task }).getByRole("button", { name: "End" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "End", exact: true }).click();
		await page.getByText("The task ended, with 1 process.").waitFor();
		await region.waitFor({ state: "detached" });
		expect(left && isOver(left.status())).toBe(true);
		expect(runtime.list({ task: "by hand", ended: false })).toHaveLength(1);
		expect(complaints).toEqual([]);
	});
});
