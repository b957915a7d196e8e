/** Many terminals in the page: a list in one's own order, several side by side, all of them on a wall, and settings that stay. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tempDir, testRuntime, until } from "../support/home.js";
import { barriers, becomes, launch, missing, PHONE, serve, shows, visit, WIDE } from "./support.js";

const at = (page: Page, hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);

describe.skipIf(missing)("many terminals", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("has settings that stay, a list that is renamed, pinned, collapsed and cleared, and what each task uses; what has ended runs again", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home, resourceLimits: { process: { output: "64K" } } });
		const server = await serve(home);
		const greedy = await runtime.spawn({ command: "yes", task: "greedy" });
		const rings = await runtime.spawn({
			command: "while read -r x; do printf 'rang\\a\\n'; done",
			terminal: { cols: 60, rows: 15 },
			name: "rings",
			task: "one",
		});
		const other = await runtime.spawn({ command: "exec sleep 1000", name: "other", task: "one" });
		await runtime.spawn({ command: "exec sleep 1000", name: "still", task: "one" });
		const over = await runtime.spawn({ command: "echo from $PWD; exit 4", name: "over", task: "two", cwd: tempDir("again"), terminal: { cols: 90, rows: 20 } });
		await Promise.all([over.wait(), greedy.wait()]);
		const { page, complaints } = await visit(browser, server.link, { ...WIDE, colorScheme: "light" });
		const row = (name: string | RegExp) => page.getByRole("navigation", { name: "Terminals" }).getByRole("link", { name });

		// Settings
		await at(page, `#/p/${rings.id}`);
		await page.getByRole("button", { name: "Settings" }).click();
		const settings = page.getByRole("dialog", { name: "Settings" });
		await settings.getByLabel("Colours").selectOption("dark");
		await settings.getByLabel("Text in terminals").fill("17");
		await settings.getByLabel("Text in terminals").press("Tab");
		await settings.getByLabel("When a program rings the bell").selectOption("off");
		expect(await barriers(page)).toEqual([]);
		await page.keyboard.press("Escape");
		await becomes(page, "holdfast.pane.terminal.options.fontSize === 17");
		await page.reload();
		await becomes(page, "window.holdfast?.live.size.value && holdfast.pane.terminal.options.fontSize === 17");
		expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
		await rings.write("\r");
		await shows(page, /rang/);
		expect(await page.evaluate("holdfast.bell.count")).toBe(0);
		await page.getByRole("button", { name: "Settings" }).click();
		expect(await settings.getByLabel("When a program rings the bell").inputValue()).toBe("off");
		await settings.getByLabel("When a program rings the bell").selectOption("show");
		await page.keyboard.press("Escape");
		await rings.write("\r");
		await becomes(page, "holdfast.bell.count === 1");

		// The drawer: details, another name, once more
		await page.getByRole("button", { name: "Details" }).click();
		const drawer = page.getByRole("complementary", { name: "Details" });
		await drawer.getByText(rings.id).waitFor();
		expect(await barriers(page)).toEqual([]);
		await drawer.getByRole("button", { name: "Rename" }).click();
		await drawer.getByLabel("Name").fill("other");
		await page.keyboard.press("Enter");
		await drawer.getByRole("alert").filter({ hasText: "runs under the name" }).waitFor();
		await drawer.getByLabel("Name").fill("bell tower");
		const ran = "document.querySelector('.details dl').textContent";
		await becomes(page, `${ran} !== ${JSON.stringify(await page.evaluate(ran))}`); // the drawer is rendered again, and what was typed stays
		await page.keyboard.press("Enter");
		await row(/^bell tower/).waitFor();
		await drawer.getByRole("button", { name: "Rename" }).press("Escape");
		await drawer.waitFor({ state: "detached" });
		await becomes(page, `document.activeElement.closest(".term-tools") !== null`);
		await at(page, `#/p/${over.id}`);
		await shows(page, "from ");
		await page.getByRole("button", { name: "Details" }).click();
		await drawer.getByRole("button", { name: "Run again" }).click();
		await until("it runs again", () => runtime.list({ task: "two" }).length === 2);
		const [again] = runtime.list({ task: "two" });
		expect(again?.spec).toMatchObject({ cwd: over.spec.cwd, name: "over", terminal: { cols: 90, rows: 20 } });
		await again?.wait();
		await shows(page, `from ${over.spec.cwd}`);

		// The list
		await becomes(page, `document.querySelectorAll(".list a.row").length === 6`);
		await row(/^other/).hover();
		await page.getByRole("button", { name: "Pin other" }).click();
		await page
			.getByRole("region", { name: "Pinned" })
			.getByRole("link", { name: /^other/ })
			.waitFor();
		await page.getByRole("button", { name: "one", exact: true }).click();
		await row(/^still/).waitFor({ state: "detached" });
		await page.getByRole("button", { name: "clear ended" }).click();
		await row(/^over/).first().waitFor({ state: "detached" });
		await page.reload();
		await page.getByRole("region", { name: "Pinned" }).waitFor();
		await becomes(page, `document.querySelectorAll(".list a.row").length === 2`);
		expect(await barriers(page)).toEqual([]);
		await page.getByRole("button", { name: "Ended" }).click();
		await becomes(page, `[...document.querySelectorAll(".list .row-name")].map((name) => name.textContent).join() === "over,over,yes"`); // still there
		await page.getByRole("button", { name: "All" }).click();
		await page.getByRole("button", { name: "one", exact: true }).click();
		await row(/^still/).focus();
		await page.keyboard.press("p");
		await page
			.getByRole("region", { name: "Pinned" })
			.getByRole("link", { name: /^still/ })
			.waitFor();

		// What each task uses
		await at(page, "#/timeline");
		const lane = (task: string) => page.getByRole("region", { name: `Task ${task}` }).locator(".use-line");
		await lane("one")
			.filter({ hasText: /\d+% of a core · .*B · \d+ processes · ran .* in all · printed .*B/ })
			.waitFor();
		await lane("greedy")
			.locator(".limit.met")
			.filter({ hasText: /^output 64.* each: met$/ })
			.waitFor();
		expect(await barriers(page)).toEqual([]);
		expect([other.isOver(), complaints]).toEqual([false, []]);
	});

	it("shows two to four side by side, each with its own keyboard, and all of them on a wall, live", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const command = (name: string) => `echo this is ${name}; while read -r line; do echo "${name} got $line"; done`;
		const all = await Promise.all(["a", "b", "c", "d", "e"].map((name) => runtime.spawn({ command: command(name), terminal: true, name: `${name}-shell` })));
		const piped = await runtime.spawn({ command: "echo over a pipe; exec sleep 1000", name: "piped" });
		const [a, b, c, d, e] = all.map(({ id }) => id);
		const { page, complaints } = await visit(browser, server.link, WIDE);
		const ids = () => page.evaluate("location.hash").then((hash) => String(hash).replace("#/side/", "").split("/"));
		const row = (name: string) => page.getByRole("navigation", { name: "Terminals" }).getByRole("link", { name: new RegExp(`^${name}-shell`) });

		await row("a").click();
		await shows(page, "this is a");
		for (const name of ["b", "c", "d"]) {
			await row(name).focus();
			await page.keyboard.press("b");
			await page
				.getByRole("article", { name: new RegExp(`this is ${name}`) })
				.getByRole("button", { name: "Take the keyboard" })
				.waitFor();
		}
		expect(await ids()).toEqual([a, b, c, d]);
		const pane = (name: string) => page.getByRole("article", { name: new RegExp(`this is ${name}`) });
		for (const name of ["b", "d"]) {
			await pane(name).getByRole("button", { name: "Take the keyboard" }).click();
			await pane(name).getByText("You have the keyboard.").waitFor();
			await page.keyboard.type(`hello ${name}\n`);
			await shows(page, `${name} got hello ${name}`);
		}
		await page.keyboard.press("Control+F6"); // out of this one, not of another
		await becomes(page, `document.activeElement.closest("article").getAttribute("aria-label").includes("this is d")`);
		const boxes = await page.locator(".panes > .terminal").evaluateAll((panes) => panes.map((each) => each.getBoundingClientRect().toJSON() as DOMRect));
		expect(boxes.map(({ width, height }) => width > 300 && height > 250)).toEqual([true, true, true, true]);
		expect(boxes.map(({ right, bottom }) => right <= 1280 && bottom <= 800)).toEqual([true, true, true, true]);
		expect(await barriers(page)).toEqual([]);
		for (const name of ["b", "d"]) {
			await pane(name).getByRole("button", { name: "Hand it back" }).click();
			await pane(name).getByRole("button", { name: "Take the keyboard" }).waitFor(); // until then keys of the page do nothing
		}
		await row("c").click(); // what is on show is gone into
		await becomes(page, `document.activeElement.closest("article")?.getAttribute("aria-label").includes("this is c")`);
		await row("e").focus();
		await page.keyboard.press("b"); // a fifth takes the place of the first
		await pane("e").waitFor();
		expect(await ids()).toEqual([b, c, d, e]);
		await pane("c").getByRole("button", { name: "Take it out of the row" }).click();
		await pane("c").waitFor({ state: "detached" });
		await page.goBack();
		await pane("c").waitFor();

		await page.getByRole("link", { name: "Wall" }).click();
		const thumb = (name: string) => page.locator(".thumb").filter({ hasText: name });
		await thumb("a-shell").getByText("this is a").waitFor();
		await thumb("piped").getByText("over a pipe").waitFor();
		await all[0]?.write("news\r");
		await thumb("a-shell").getByText("a got news").waitFor();
		expect(await page.locator(".thumb").count()).toBe(6);
		expect(await barriers(page)).toEqual([]);
		await piped.kill();
		await thumb("piped").waitFor({ state: "detached" });
		await thumb("b-shell").getByRole("link").click();
		await shows(page, "b got hello b");

		await runtime.spawn({ command: "printf %020d 7; exec sleep 1000", terminal: { cols: 20, rows: 5 }, name: "small" });
		const phone = await visit(browser, server.link, PHONE);
		await at(phone.page, "#/wall");
		const small = phone.page.locator(".thumb", { hasText: "small" }).locator("pre");
		await small.getByText("0".repeat(19)).waitFor();
		expect(await small.evaluate((pre) => pre.scrollWidth - pre.clientWidth)).toBe(0); // all of its 20 columns
		await phone.page.locator(".thumb").filter({ hasText: "a got news" }).waitFor();
		expect(await barriers(phone.page)).toEqual([]);
		expect(await phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
		await at(phone.page, `#/side/${a}/${b}`);
		await phone.page
			.getByRole("article", { name: /this is b/ })
			.getByRole("button", { name: "Take the keyboard" })
			.waitFor();
		expect(await barriers(phone.page)).toEqual([]);
		await at(phone.page, `#/p/${a}`);
		await phone.page.getByRole("button", { name: "Details" }).click();
		await phone.page.getByRole("complementary", { name: "Details" }).getByRole("button", { name: "Run again" }).waitFor();
		expect(await barriers(phone.page)).toEqual([]);
		await at(phone.page, "#/");
		for (const [button, title] of [
			["Settings", "Settings"],
			["New", "Start something"],
		] as const) {
			await phone.page.getByRole("button", { name: button, exact: true }).click();
			const dialog = phone.page.getByRole("dialog", { name: title });
			await dialog.waitFor();
			expect(await dialog.evaluate((shown) => shown.scrollWidth <= shown.clientWidth)).toBe(true);
			expect(await barriers(phone.page)).toEqual([]);
			await phone.page.keyboard.press("Escape");
		}
		expect([...complaints, ...phone.complaints]).toEqual([]);
	});
});
