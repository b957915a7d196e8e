/** What an agent did, afterwards and live: from the command line, over HTTP, in the page and in an exported file. */
import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cli } from "../support/cli.js";
import { tempDir } from "../support/home.js";
import { overStdio, testHome } from "../support/mcp.js";
import { barriers, becomes, launch, missing, PHONE, serve, visit, WIDE } from "./support.js";

const COMMANDS = 200;
const TASK = "many/commands & <more>";
/** In a subshell: the shell itself stays, which is what most commands of agents do. */
const commandOf = (n: number): string => `echo "line of ${n}"; (exit ${n % 3})`;

interface Entry {
	readonly kind: string;
	readonly command: string;
	readonly exit_code: number;
	readonly output: string;
	readonly session_id: string;
}

const expected = Array.from({ length: COMMANDS }, (_, n) => ["command", commandOf(n), n % 3, `line of ${n}\n`]);
const told = (entries: readonly Entry[]) => entries.map(({ kind, command, exit_code, output }) => [kind, command, exit_code, output]);

const rows = (page: Page): Promise<string[]> => page.locator(".entries code").allTextContents();

describe.skipIf(missing)("the transcript of a task", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("has each of 200 foreground commands of an MCP client, with code and output: command line, HTTP, page, live, and export", async () => {
		const home = testHome();
		const agent = await overStdio(home, ["--task", TASK]);
		for (let n = 0; n < COMMANDS; n++) await agent.call("terminal", { command: commandOf(n) });

		const lines = (await cli(home, ["log", TASK, "--json"])).stdout.split("\n").filter(Boolean);
		expect(told(lines.map((line) => JSON.parse(line)))).toEqual(expected);

		const server = await serve(home);
		const token = fs.readFileSync(path.join(home, "token"), "utf8").trim();
		const get = async (route: string, query: Record<string, string>) => {
			const response = await fetch(`${server.origin}${route}?${new URLSearchParams(query)}`, { headers: { Authorization: `Bearer ${token}` } });
			return { status: response.status, body: await response.json() };
		};
		const page = async (query: Record<string, string>) => (await get("/api/tasks/log", { task: TASK, ...query })).body;
		const newest = await page({ limit: "150" });
		const older = await page({ before: newest.entries[0].entry_id });
		expect(older).toMatchObject({ earlier: false, later: true });
		const all: Entry[] = [...older.entries, ...newest.entries];
		for (const entry of [all[0], all[101], all.at(-1)] as Entry[])
			expect((await get("/api/tasks/log/output", { session_id: entry.session_id })).body).toMatchObject({
				output: expect.stringMatching(/^line of \d+\n$/),
				omitted_bytes: 0,
			});
		expect(all.map(({ command, exit_code }) => [command, exit_code])).toEqual(expected.map(([, command, code]) => [command, code]));
		expect((await page({ after: newest.entries[100].entry_id, limit: "20" })).entries.map(({ command }: Entry) => command)).toEqual(
			expected.slice(151, 171).map(([, command]) => command),
		);
		expect((await page({ search: "LINE OF 177" })).entries).toMatchObject([{ command: commandOf(177), lines: ["line of 177"] }]);
		expect(await get("/api/tasks/log", { task: "many/command" })).toMatchObject({
			status: 404,
			body: { error: { message: expect.stringContaining("did you mean") } },
		});

		const { page: tab, complaints } = await visit(browser, server.link, { acceptDownloads: true });
		// A task that has only run commands in the foreground is in no list of processes; its transcript is found all the same.
		await tab.getByRole("link", { name: "What tasks did" }).click();
		await tab.getByRole("link", { name: TASK, exact: true }).click();
		await becomes(tab, `document.querySelectorAll(".entry").length === ${COMMANDS}`);
		await agent.call("terminal", { command: "sleep 300", background: true });
		await tab.locator(".entries code", { hasText: /^sleep 300$/ }).waitFor();
		await tab.evaluate('location.hash = "#/"');
		await tab.getByRole("link", { name: `log of ${TASK}` }).click();
		await becomes(tab, `document.querySelectorAll(".entry").length === ${COMMANDS}`);
		await tab.getByRole("button", { name: "Show earlier entries" }).click();
		await becomes(tab, `document.querySelectorAll(".entry").length === ${COMMANDS + 1}`);
		expect(await rows(tab)).toEqual([...expected.map(([, command]) => command), "sleep 300"]);
		const entry = tab.getByRole("listitem").filter({ hasText: commandOf(42) });
		await entry.locator("summary").click();
		expect(await entry.locator("pre").textContent()).toBe("line of 42\n");
		// Live: a command that is over in a moment comes by itself, and what ran has ended.
		await agent.call("terminal", { command: "echo '<img src=x onerror=alert(1)>'; (exit 7)" });
		await tab.getByText("exit 7", { exact: true }).waitFor();
		const [{ session_id }] = (await page({ search: "sleep 300" })).entries;
		await cli(home, ["kill", session_id]);
		await tab.locator(".entry b", { hasText: "killed SIGTERM" }).waitFor();
		await tab.getByLabel("Text in commands and output of this task").fill("onerror");
		await tab.keyboard.press("Enter");
		await becomes(tab, `document.querySelectorAll(".entry").length === 1`);
		await tab.getByText("<img src=x onerror=alert(1)>", { exact: true }).waitFor();
		for (const colorScheme of ["light", "dark"] as const) {
			await tab.emulateMedia({ colorScheme });
			expect(await barriers(tab)).toEqual([]);
		}
		await tab.setViewportSize(PHONE.viewport);
		await becomes(tab, "document.documentElement.scrollWidth <= innerWidth");
		expect(await barriers(tab)).toEqual([]);
		await tab.setViewportSize(WIDE.viewport);

		const downloaded = tab.waitForEvent("download");
		await tab.getByRole("button", { name: "HTML" }).click();
		const file = path.join(tempDir("export"), "log.html");
		await (await downloaded).saveAs(file);
		expect(complaints).toEqual([]);

		const { page: exported, complaints: inside } = await visit(browser, `file://${file}`);
		await becomes(exported, `document.querySelectorAll("article").length === ${COMMANDS + 3}`);
		const outputs = await exported.locator("article details pre").allTextContents();
		expect(outputs).toEqual([...expected.map(([, , , output]) => output), "<img src=x onerror=alert(1)>\n"]);
		expect((await exported.locator("article b").allTextContents()).slice(0, COMMANDS)).toEqual(expected.map(([, , code]) => `exit ${code}`));
		await exported.getByRole("searchbox").fill("line of 123");
		await becomes(exported, `document.querySelectorAll("article:not([hidden])").length === 1`);
		expect(await exported.locator("article:not([hidden]) details pre").isVisible()).toBe(true);
		expect(await barriers(exported)).toEqual([]);
		expect(inside).toEqual([]);
	});
});
