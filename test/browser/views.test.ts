/** Everything else on the page, and that all of it can be used by who does not see it or has no mouse. */
import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isAlive } from "../../src/base/proc.js";
import { readParts } from "../../src/keeper/layout.js";
import { LiveScreen } from "../../src/screen/index.js";
import { atEnd, tempDir, testRuntime } from "../support/home.js";
import { barriers, becomes, launch, lines, missing, PHONE, serve, shows, visit, WIDE } from "./support.js";

const at = (page: Page, hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);

describe.skipIf(missing)("the views of the page", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("start a process by hand, find it, show its files and times, kill it with proof", async () => {
		const home = tempDir("home");
		const work = tempDir("work");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const failed = await runtime.spawn({ command: "echo a needle in the log; exit 3", task: "hay" });
		await failed.wait();
		const { page, complaints } = await visit(browser, server.link, { colorScheme: "light", acceptDownloads: true });
		await page.getByRole("link", { name: "exit 3" }).waitFor();

		// by keyboard alone
		await page.keyboard.press("n");
		await page.locator("textarea[name=command]:focus").waitFor();
		await page.getByLabel("Command").fill("trap '' TERM; echo up and running; sleep 1000 & sleep 1000");
		await page.getByLabel("Directory").fill(work);
		await page.getByLabel("Name").fill("my server");
		await page.keyboard.press("Enter");
		await shows(page, "up and running");
		await page.getByRole("link", { name: "my server" }).waitFor();
		const [started] = runtime.list({ task: null, ended: false });
		if (!started) throw new Error("nothing was started");

		const found: string[] = [];
		const look = async (hash: string, sign: string | RegExp) => {
			await at(page, hash);
			await page.getByText(sign).first().waitFor();
			for (const colorScheme of ["light", "dark"] as const) {
				await page.emulateMedia({ colorScheme });
				for (const problem of await barriers(page)) found.push(`${hash} ${colorScheme}: ${problem}`);
			}
			await page.setViewportSize(PHONE.viewport);
			await becomes(page, "document.documentElement.scrollWidth <= innerWidth");
			for (const problem of await barriers(page)) found.push(`${hash} on a phone: ${problem}`);
			await page.setViewportSize(WIDE.viewport);
		};
		await look(`#/p/${started.id}`, "You have the keyboard."); // who starts it has it
		await page.getByRole("button", { name: "Details" }).click();
		await page.getByText(work).waitFor();
		await look("#/", "Choose a terminal");
		await look("#/approvals", "No pending approvals");
		await look("#/timeline", "Timeline");
		await page.getByRole("listitem").filter({ hasText: "my server" }).first().waitFor();
		await look("#/search?q=a%20needle", "1 line in 1 log");

		await page.locator(".hits li a").click();
		await shows(page, "a needle in the log");
		await page.getByText("Older output:").waitFor();
		await page.getByRole("button", { name: "Back to now" }).click();

		fs.writeFileSync(path.join(work, "text.txt"), "<b>only text</b>\n");
		fs.mkdirSync(path.join(work, ".git"));
		fs.mkdirSync(path.join(work, "zoo"));
		await look(`#/files?session_id=${started.id}`, "text.txt");
		const names = await page.locator("table.files a.mono").allTextContents();
		expect(names.filter((name) => ["zoo", "text.txt", ".git"].includes(name))).toEqual(["zoo", "text.txt", ".git"]);
		await page.getByLabel("Files to upload").setInputFiles({ name: "brought.bin", mimeType: "text/html", buffer: Buffer.from([0, 1, 2, 255]) });
		await page.getByRole("link", { name: "brought.bin" }).waitFor();
		expect([...fs.readFileSync(path.join(work, "brought.bin"))]).toEqual([0, 1, 2, 255]);
		await page.getByRole("link", { name: "text.txt" }).click();
		await page.getByText("<b>only text</b>").waitFor();
		const download = page.waitForEvent("download");
		await page.getByRole("button", { name: "Download" }).click();
		expect(fs.readFileSync(await (await download).path(), "utf8")).toBe("<b>only text</b>\n");

		await at(page, `#/p/${started.id}`);
		const parts = readParts(started.dir);
		await page.getByRole("button", { name: "Kill" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Kill" }).click();
		await page.getByText("It is gone: a second look found no process left.").waitFor();
		expect(isAlive(parts.child as NonNullable<typeof parts.child>)).toBe(false);
		await page.getByRole("button", { name: "Close", exact: true }).last().click();
		await page.getByRole("link", { name: "killed" }).waitFor();
		expect({ found, complaints }).toEqual({ found: [], complaints: [] });
	});

	it("a read-only link shows one terminal, on a phone too, and plays its recording", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const drawn = await runtime.spawn({
			command: `stty -echo; for i in 1 2 3; do printf '\\e[3%dmrow %d\\e[0m\\n' $i $i; read -r; sleep 0.05; done; printf '\\e[2J\\e[5;10Hthe end'; exec cat`,
			terminal: { cols: 60, rows: 12 },
		});
		for (const row of [1, 2, 3]) {
			await drawn.wait({ until: { pattern: `row ${row}` }, timeout: 100_000 });
			await drawn.write("\n"); // each row has a time of its own: what comes within 10 ms has one
		}
		const { page } = await visit(browser, `${server.link}`);
		await at(page, `#/p/${drawn.id}`);
		await shows(page, "the end");
		await page.getByRole("button", { name: "Share a link" }).click();
		await page.getByRole("button", { name: "Make the link" }).click();
		const link = await page.getByLabel("The link, shown this once").inputValue();

		const guest = await visit(browser, link, { viewport: { width: 390, height: 780 }, hasTouch: true });
		await shows(guest.page, "the end");
		expect(guest.page.url()).not.toContain("view");
		await guest.page.getByText("You may look, not type.").waitFor();
		expect(await guest.page.getByRole("button", { name: /Take|Kill/ }).count()).toBe(0);
		expect(await barriers(guest.page)).toEqual([]);
		await guest.page.getByRole("button", { name: "Play the recording" }).click();

		const live = new LiveScreen(drawn);
		atEnd(() => live.dispose());
		const truth = (await live.read()).screen.split("\n").map((line) => line.trimEnd());
		await at(page, `#/p/${drawn.id}/recording`);
		for (const each of [page, guest.page]) {
			await each.getByRole("button", { name: "Play", exact: true }).waitFor();
			await shows(each, "the end"); // it opens on its last frame
			expect(await lines(each)).toEqual(truth);
			await each.evaluate(`holdfast.seek(holdfast.cast.events.find(({ data }) => data.includes("row 1")).at)`);
			expect((await lines(each))[0]).toBe("row 1");
			expect((await lines(each)).join()).not.toContain("the end");
		}
		expect(await barriers(page)).toEqual([]);
		await page.getByLabel("speed").selectOption("16");
		await page.getByRole("button", { name: "Play", exact: true }).click();
		await becomes(page, "!holdfast.playing.value && holdfast.position.value === holdfast.cast.seconds");
		await shows(page, "the end"); // it has been written then, and is drawn a moment later
		expect(await lines(page)).toEqual(truth);
		expect(guest.complaints).toEqual([]);
	});
});
