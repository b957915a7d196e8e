/** What programs print at their worst: too much of it, and every trick that terminals know. */
import fs from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tempDir, testRuntime } from "../support/home.js";
import { becomes, launch, lines, missing, serve, shows, takeOver, visit } from "./support.js";

const ESC = "\x1b";
const ST = `${ESC}\\`;
const BEL = "\x07";
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** Titles, the clipboard, links, questions, colours, sizes, pictures, and nonsense, each in more than one spelling. */
const TRICKS = [
	`${ESC}]0;<img src=x onerror=document.body.dataset.out=1>${BEL}`,
	`${ESC}]2;${"long ".repeat(5_000)}${ST}`,
	...["c", "p", "s0", ""].flatMap((target) => [`${ESC}]52;${target};${base64("stolen")}${BEL}`, `${ESC}]52;${target};?${ST}`]),
	...["javascript:document.body.dataset.out=1", "data:text/html,<script>1</script>", "file:///etc/passwd", "vbscript:x", "https://example.org/"].map(
		(url) => `${ESC}]8;;${url}${ST}click me${ESC}]8;;${ST} `,
	),
	...["c", ">c", "=c", "5n", "6n", "?6n", "?15n", ">q", "14t", "18t", "21t", "?1$p", "?2026$p"].map((question) => `${ESC}[${question}`),
	...["4;1;?", "10;?", "11;?", "12;?", "104", "1337;File=inline=1:AAAA", "777;notify;a;b", "9;hello", "7;file://x/", "133;A", "50;big"].map(
		(osc) => `${ESC}]${osc}${BEL}`,
	),
	`${ESC}P$qm${ST}${ESC}P+q544e${ST}${ESC}_Gf=100;AAAA${ST}${ESC}^private${ST}${ESC}Xstring${ST}`,
	...[
		"8;1;1t",
		"3;0;0t",
		"2t",
		"9;1t",
		"?3h",
		"?5h",
		"?1049h",
		"?1049l",
		"2147483647L",
		"2147483647b",
		"2147483647S",
		"2147483647I",
		"999999;999999H",
		"1J",
		"!p",
	].map((csi) => `${ESC}[${csi}`),
	`e${"\u0301".repeat(300_000)}\r\n`,
	`${ESC}[?1000h${ESC}[?1003h${ESC}[?1006h${ESC}[?1004h${ESC}[?2004h`,
	`${ESC}c`,
	Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString("latin1"),
	`${ESC}c${ESC}[?1000l${ESC}[?1003l${ESC}[?1004l<script>document.body.dataset.out=1</script>\r\nstill here\r\n`,
];

describe.skipIf(missing)("what a program prints", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("stays in its terminal: no clipboard, no title of the page, no window, no link but to the web, no key pressed", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const dir = tempDir("tricks");
		const file = path.join(dir, "tricks");
		fs.writeFileSync(file, Buffer.from(TRICKS.join(""), "utf8"));
		const typed = path.join(dir, "typed");
		const hostile = await runtime.spawn({
			command: `stty raw -echo; read -n 1 go; cat ${file}; head -c 1 >${typed}; cat >>${typed}`,
			terminal: { cols: 80, rows: 24 },
		});
		const { page, context, complaints } = await visit(browser, server.link, { permissions: ["clipboard-read", "clipboard-write"] });
		await page.evaluate("navigator.clipboard.writeText('mine')");
		const opened: string[] = [];
		context.on("page", (other) => opened.push(other.url()));
		page.on("dialog", (dialog) => opened.push(dialog.message()));
		await page.evaluate(`window.open = (url, target, how) => { (window.asked ??= []).push([url, target, how]); return null; }`);
		await takeOver(page, hostile.id);
		await page.evaluate(
			`window.sent = []; const send = WebSocket.prototype.send; WebSocket.prototype.send = function (data) { sent.push(data); send.call(this, data); }`,
		);
		await page.keyboard.type("g");
		await shows(page, "still here");
		expect(await page.evaluate("navigator.clipboard.readText()")).toBe("mine");
		expect(await page.title()).toMatch(/^(\(1\) )?Holdfast$/);
		expect(await page.evaluate("document.body.dataset.out ?? document.querySelectorAll('img, script:not([src]), iframe').length")).toBe(0);
		// What it asked was not answered from here: of all that was sent, the only input is the key that was typed.
		const sent = ((await page.evaluate("sent")) as string[]).map((text) => JSON.parse(text) as { type: string; data?: string });
		expect(sent.filter(({ type }) => type === "input")).toEqual([{ type: "input", data: "g" }]);
		expect((await page.locator(".term-title").allTextContents()).join("").length).toBeLessThanOrEqual(120);

		const links = (await page.evaluate(`(() => {
			const { linkHandler } = holdfast.pane.terminal.options;
			for (const url of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://example.org/a"]) linkHandler.activate(new MouseEvent("click"), url);
			return window.asked;
		})()`)) as string[][];
		expect(links).toEqual([["https://example.org/a", "_blank", "noopener,noreferrer"]]);
		expect({ opened, complaints }).toEqual({ opened: [], complaints: [] });
	});

	it("may be 64 MiB: the end is there at once, and everything before it on the way up", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const LINES = 1_250_000; // of 53 bytes: all that a log keeps
		const command = `seq -f 'line %010.0f of a log that is very, very long....' 1 ${LINES}; echo the very end`;
		const piped = await runtime.spawn({ command });
		const drawn = await runtime.spawn({ command, terminal: { cols: 80, rows: 24 } });
		await Promise.all([piped.wait(), drawn.wait()]);
		const { page, complaints } = await visit(browser, server.link);
		for (const process of [piped, drawn]) {
			await page.evaluate(`location.hash = "#/p/${process.id}"`);
			await becomes(page, `window.holdfast?.detail?.session_id === "${process.id}"`);
			await shows(page, "the very end");
			await page.locator(".screen:not(.away) .xterm-helper-textarea").focus();
			await page.evaluate("holdfast.pane.terminal.scrollToTop()");
			await page.keyboard.press("PageUp"); // over the edge
			await becomes(page, "holdfast.history.value?.shown.value.end > 0 && !holdfast.history.value.busy.value");
			const numbers = async () => (await lines(page)).flatMap((line) => /^line (\d+) of/.exec(line)?.[1] ?? []).map(Number);
			const inOrder = (found: number[]) => found.every((number, index) => index === 0 || number === (found[index - 1] as number) + 1);
			const near = await numbers();
			await page.evaluate("holdfast.history.value.older()");
			const older = await numbers();
			expect(older[0]).toBeLessThan(near[0] as number);
			expect(inOrder(near) && inOrder(older)).toBe(true);
			await page.keyboard.press("Home");
			await becomes(page, `holdfast.history.value.shown.value.start === ${process.log.bounds().first}`);
			const [oldest] = await numbers();
			expect(oldest).toBe(
				process.log.bounds().first === 0 ? 1 : Number(/line (\d+) of/.exec(process.read(process.log.bounds().first, 200).bytes.toString())?.[1]),
			);
			await page.getByRole("slider", { name: "Place in the log" }).focus();
			await page.keyboard.press("PageUp");
			await becomes(page, `holdfast.history.value.shown.value.start > ${process.log.bounds().first}`);
			expect(inOrder(await numbers())).toBe(true);
			await page.getByRole("button", { name: "Back to now" }).click();
			await shows(page, "the very end");
		}
		expect(complaints).toEqual([]);
	});
});
