/** The server is killed and comes back: the page goes on by itself. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tempDir, testRuntime, textOf } from "../support/home.js";
import type { Process } from "../support/internal.js";
import { freePort } from "../support/ports.js";
import { becomes, launch, lines, missing, serve, shows, takeOver, visit } from "./support.js";

/** Numbered lines without end, while it takes commands: nothing of them may be missing or doubled. */
const COUNT = `{ i=0; while :; do i=$((i+1)); echo "line $i"; sleep 0.01; done; } & read stop; kill $!; wait; echo "stopped by $stop"`;

describe.skipIf(missing)("kill -9 of the server", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("is a pause: nothing missing, nothing doubled, the keyboard still in hand, and no reload", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const first = await serve(home, await freePort());
		const counter = await runtime.spawn({ command: COUNT, terminal: { cols: 80, rows: 24 } });
		const piped = await runtime.spawn({ command: COUNT });
		const { page, complaints } = await visit(browser, first.link);
		const other = await visit(browser, first.link);
		await takeOver(page, counter.id);
		await other.page.evaluate(`location.hash = "#/p/${piped.id}"`);
		await page.evaluate("window.stillTheSame = true");
		for (const each of [page, other.page]) await shows(each, /line \d+\n.*line/s);

		await first.kill();
		await page.getByText("The server does not answer.").waitFor();
		await page.getByText("Not connected:").waitFor();
		const newer = (process: Process) => `line ${(textOf(process).match(/line \d+/g)?.length ?? 0) + 30}\n`;
		const wanted = [counter, piped].map(newer);
		const second = await serve(home, first.port);
		await shows(page, wanted[0] as string);
		await shows(other.page, wanted[1] as string);
		await page.getByText("The server does not answer.").waitFor({ state: "detached" });
		await page.getByText("You have the keyboard.").waitFor();
		await page.locator(".xterm-helper-textarea").first().focus();
		await page.keyboard.type("me\n");
		await shows(page, "stopped by me");
		await other.page.getByRole("button", { name: "Take the keyboard" }).click(); // a pipe: a line of input instead of keys
		await other.page.getByLabel("A line for its input").fill("them");
		await other.page.keyboard.press("Enter");
		await shows(other.page, "stopped by them");
		await becomes(page, "holdfast.live.ended.value && stillTheSame");
		for (const [each, process] of [
			[page, counter],
			[other.page, piped],
		] as const) {
			const shown = (await lines(each)).filter((line) => line.startsWith("line "));
			const truth = textOf(process)
				.split(/\r?\n/)
				.filter((line) => line.startsWith("line "));
			expect(shown).toEqual(truth.slice(-shown.length));
			expect(shown.length).toBeGreaterThan(30);
		}
		expect([...complaints, ...other.complaints]).toEqual([]);
		await second.kill();
	});
});
