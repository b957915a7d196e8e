/** A terminal in the page: real keys in, the real screen out. */
import fs from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LiveScreen } from "../../src/screen/index.js";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import { becomes, launch, lines, missing, serve, shows, sizeIn, takeOver, visit } from "./support.js";

const BASH = "LC_ALL=C.UTF-8 PS1='$ ' exec bash --norc --noprofile -i";

describe.skipIf(missing)("a terminal in the page", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("is typed into and read back, edits a file with vim, follows the window, and looks the same to two", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const dir = tempDir("work");
		const shell = await runtime.spawn({ command: BASH, cwd: dir, terminal: { cols: 100, rows: 30 } });
		const { page, complaints } = await visit(browser, server.link);
		await takeOver(page, shell.id);
		await shows(page, "$"); // who types earlier has it echoed by the terminal, and again by the shell

		await page.keyboard.type("echo answer=$((6*7)) 日本 🎉\n");
		await shows(page, "answer=42 日本 🎉");

		await becomes(page, "holdfast.live.size.value.cols !== 100"); // it has got the size of the window
		const before = await sizeIn(page);
		await page.setViewportSize({ width: 1000, height: 640 });
		await becomes(page, `\`\${holdfast.live.size.value.rows} \${holdfast.live.size.value.cols}\` !== "${before}"`);
		await page.keyboard.type("clear; stty size\n");
		await shows(page, await sizeIn(page));

		const file = path.join(dir, "note.txt");
		await page.keyboard.type(`cd ${dir}\n`); // however long that is, the line with vim fits
		await page.keyboard.type("vim -u NONE -N note.txt\n");
		await shows(page, "[New"); // what vim says of the file: the shell only echoes its name
		await page.keyboard.type("iwritten in a browser");
		await page.keyboard.press("Escape");
		await page.keyboard.type(":wq\n");
		await until("vim has saved", () => fs.existsSync(file) && fs.readFileSync(file, "utf8") === "written in a browser\n");
		await shows(page, "note.txt\n$"); // the shell again: what is typed while vim leaves, vim throws away

		await page.keyboard.type("clear; seq 1 9; echo the end\n");
		await shows(page, "the end\n$");
		const second = await visit(browser, server.link);
		await second.page.evaluate(`location.hash = "#/p/${shell.id}"`);
		await shows(second.page, "the end\n$");
		const live = new LiveScreen(shell);
		atEnd(() => live.dispose());
		const tail = (found: string[]) => found.slice(-10);
		const truth = tail((await live.read()).screen.split("\n"));
		expect(tail(await lines(page))).toEqual(truth);
		expect(tail(await lines(second.page))).toEqual(truth);

		await second.page.getByText("has the keyboard, since").waitFor();
		await second.page.locator(".xterm-helper-textarea").first().focus();
		await second.page.keyboard.type("no");
		await page.getByRole("button", { name: "Hand it back" }).click();
		await second.page.getByRole("button", { name: "Take the keyboard" }).waitFor();
		await becomes(second.page, "holdfast.live.size.value.cols === 100 && holdfast.live.size.value.rows === 30"); // as it was before
		expect((await lines(second.page)).join("\n")).not.toContain("no");
		expect([...complaints, ...second.complaints]).toEqual([]);
	});
});
