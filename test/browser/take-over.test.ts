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

	it("has the keys that a phone lacks: Ctrl and Alt hold for the next key, and it pastes; the cursor stays in sight of a small window", async () => {
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

		const long = await runtime.spawn({ command: "seq 40; printf '%0110d' 0; exec cat >/dev/null", terminal: { cols: 120, rows: 30 } });
		await page.setViewportSize({ width: 320, height: 480 });
		await page.evaluate(`location.hash = "#/p/${long.id}"`);
		await shows(page, "0000");
		await becomes(page, inSight("down"));
		expect(await page.evaluate(inSight("right"))).toBe(false); // who only looks has the beginning of the line
		await page.evaluate(LOOK_UP);
		await long.write("x"); // a person who looks at something else is left there
		await shows(page, /0x$/);
		await page.evaluate("new Promise(requestAnimationFrame)");
		expect(await page.evaluate(inSight("down"))).toBe(false);
		await page.getByRole("button", { name: "Take the keyboard" }).click();
		await page.getByText("You have the keyboard.").waitFor();
		await page.keyboard.type("y");
		await shows(page, /0xy$/);
		await becomes(page, `${inSight("down")} && ${inSight("right")}`);
		expect(complaints).toEqual([]);
	});
});

const press = (page: Page, name: string): Promise<void> => page.getByRole("toolbar", { name: "Keys" }).getByRole("button", { name, exact: true }).click();

/** The cell of the cursor is in the box, from top to bottom or from left to right. */
const inSight = (way: "down" | "right"): string => `(() => {
	const { terminal } = holdfast.pane;
	const { cursorX, cursorY } = terminal.buffer.active;
	const box = holdfast.host.getBoundingClientRect();
	const screen = holdfast.host.querySelector(".xterm-screen").getBoundingClientRect();
	const [at, size, from, to] = ${way === "down" ? "[screen.top + (cursorY * screen.height) / terminal.rows, screen.height / terminal.rows, box.top, box.bottom]" : "[screen.left + (cursorX * screen.width) / terminal.cols, screen.width / terminal.cols, box.left, box.right]"};
	return at >= from - 1 && at + size <= to + 1;
})()`;
/** As a finger would scroll. */
const LOOK_UP = `(() => {
	holdfast.host.scrollTop = 0;
	holdfast.host.dispatchEvent(new Event("touchmove"));
	return new Promise(requestAnimationFrame);
})()`;

/** The program has as many rows as there is room for, and the last of them ends inside of the box. */
const FITS = `(() => {
	const screen = document.querySelector(".screen:not(.away) .xterm-screen").getBoundingClientRect();
	const box = document.querySelector(".screen:not(.away)").getBoundingClientRect();
	const { rows } = holdfast.live.size.value;
	const row = screen.height / holdfast.pane.terminal.rows;
	return holdfast.pane.terminal.rows === rows && screen.bottom <= box.bottom && box.bottom - screen.bottom < 2 * row;
})()`;
