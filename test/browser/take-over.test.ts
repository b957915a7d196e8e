/** What a person's window does to a terminal, and does not. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sizeOf } from "../../src/process/terminal-sizes.js";
import { tempDir, testRuntime, until } from "../support/home.js";
import { barriers, becomes, launch, missing, serve, shows, takeOver, visit } from "./support.js";

const SHOWS_SIZE = "trap 'stty size' WINCH; stty size; while :; do read -r -t 0.1 line && echo \"<$line>\"; done";

describe.skipIf(missing)("a person's window", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("shows the last row whole at every height, and the terminal has its size back however the take-over ends", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const process = await runtime.spawn({ command: SHOWS_SIZE, terminal: { cols: 120, rows: 30 } });
		const other = await runtime.spawn({ command: "cat", terminal: true });
		const restored = () => until("its size is restored", () => sizeOf(process)?.cols === 120 && sizeOf(process)?.rows === 30);
		const changed = () => until("it follows the window", () => sizeOf(process)?.cols !== 120);

		const { page, complaints } = await visit(browser, server.link);
		await takeOver(page, process.id);
		await changed();
		for (const height of [600, 720, 768, 800, 900]) {
			await page.setViewportSize({ width: 1280, height });
			await becomes(page, FITS);
		}
		await page.getByRole("button", { name: "Hand it back" }).click();
		await restored();

		await takeOver(page, process.id);
		await changed();
		await page.evaluate(`location.hash = "#/p/${other.id}"`); // to another terminal
		await restored();

		await takeOver(page, process.id);
		await changed();
		expect(complaints).toEqual([]);
		await page.close(); // the tab
		await restored();

		const second = await visit(browser, server.link);
		await takeOver(second.page, process.id);
		await changed();
		await server.kill(); // nobody is left who could give it back: the agent's next call finds out
		await runtime.process({ action: "submit", session_id: process.id, data: "hello" });
		await restored();
	});

	it("has the keys that a phone lacks: Ctrl and Alt hold for the next key, and it pastes", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const keys = await runtime.spawn({ command: "stty raw -echo; echo ready; exec od -An -v -c -w1", terminal: true });
		const { page, complaints } = await visit(browser, server.link, {
			viewport: { width: 390, height: 780 },
			hasTouch: true,
			isMobile: true,
			permissions: ["clipboard-read", "clipboard-write"],
		});
		await takeOver(page, keys.id);
		await shows(page, "ready");
		expect(await barriers(page)).toEqual([]);
		await press(page, "Ctrl");
		await page.keyboard.type("x"); // from the phone's own keyboard
		await shows(page, "030");
		await press(page, "Alt");
		await page.keyboard.type("b");
		await shows(page, /033\s+b/);
		await page.keyboard.type("x"); // neither holds any more
		await shows(page, /b\s+x/);
		await press(page, "PgUp");
		await shows(page, /033\s+\[\s+5\s+~/);
		await press(page, "Ctrl");
		await press(page, "Left");
		await shows(page, /1\s+;\s+5\s+D/);
		await page.evaluate("navigator.clipboard.writeText('paste')");
		await press(page, "Paste");
		await shows(page, /p\s+a\s+s\s+t\s+e/);
		expect(complaints).toEqual([]);
	});
});

const press = (page: Page, name: string): Promise<void> => page.getByRole("toolbar", { name: "Keys" }).getByRole("button", { name, exact: true }).click();

/** The program has as many rows as there is room for, and the last of them ends inside of the box. */
const FITS = `(() => {
	const screen = document.querySelector(".screen:not(.away) .xterm-screen").getBoundingClientRect();
	const box = document.querySelector(".screen:not(.away)").getBoundingClientRect();
	const { rows } = holdfast.live.size.value;
	const row = screen.height / holdfast.pane.terminal.rows;
	return holdfast.pane.terminal.rows === rows && screen.bottom <= box.bottom && box.bottom - screen.bottom < 2 * row;
})()`;
