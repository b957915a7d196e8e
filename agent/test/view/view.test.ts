import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { calls, modelServer, say } from "../model-server/index.js";
import { barriers, becomes, launch, missing, PHONE, WIDE } from "../page/support.js";
import { atEnd, until } from "../support/dirs.js";
import { configFor, MAIN, newWorld, type World } from "../support/seat.js";

function program(world: World, ...args: readonly string[]): { readonly child: ChildProcess; said(): string } {
	const env = { ...world.env, TEST_ROOT: process.env.TEST_ROOT ?? "" };
	const child = spawn(process.execPath, [MAIN, ...args], { cwd: world.work, env, stdio: ["ignore", "pipe", "inherit"] });
	atEnd(async () => {
		if (child.exitCode !== null || child.signalCode !== null) return;
		child.kill("SIGKILL");
		await once(child, "close");
	});
	let said = "";
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		said += text;
	});
	return { child, said: () => said };
}

describe.skipIf(missing)("the page of a run", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("a terminal is live in the page, a person takes its keyboard, and the result says so; nobody is kept out, wide or on a phone", async () => {
		const command = 'echo from-the-episode; read answer; printf "$answer" > out.txt';
		let asked = 0; // news of the keyboard come as messages, too
		const server = await modelServer({
			script: ({ results }) => {
				if (++asked === 1) return calls(["terminal", { command, pty: true, background: true }]);
				const session_id = /proc_[0-9a-f]{12}/.exec(results[0]?.text ?? "")?.[0];
				return asked === 2 ? calls(["process", { action: "wait", session_id, timeout: 90 }]) : say("done");
			},
		});
		atEnd(() => server.close());
		const world = newWorld(configFor(server, { toolsets: ["terminal"] }));
		fs.writeFileSync(path.join(world.work, "rows.jsonl"), `${JSON.stringify({ prompt: "ask", id: "asks", expect: { file: "out.txt", content: "yes" } })}\n`);
		const run = program(world, "run", "rows.jsonl", "-o", "out", "--place", "local", "--json");
		await until("the episode is under way", () => /"type":"start"/.test(run.said()));
		const view = program(world, "view", "out");
		await until("the page is served", () => /#token=\S+\n/.test(view.said()));

		const context = await browser.newContext(WIDE);
		atEnd(() => context.close());
		context.setDefaultTimeout(100_000);
		const page = await context.newPage();
		const complaints: string[] = [];
		page.on("pageerror", (error) => complaints.push(`${error}`));
		await page.goto(view.said().trim());
		await page.getByRole("link", { name: /^episode 0, asks, repeat 1: under way/ }).click();
		await becomes(page, SHOWN);
		await page.locator(".run-live").getByRole("button", { name: "Take the keyboard" }).click();
		await page.getByText("You have the keyboard.").waitFor();
		await page.locator(".run-live .xterm-screen").click();
		await page.keyboard.type("yes");
		await page.keyboard.press("Enter");
		await page.getByText("a person had the keyboard 1 times").waitFor(); // by itself, when the result is there
		await page.locator(".run-step.command").getByText("exit 0").first().waitFor();
		expect(await barriers(page)).toEqual([]);
		await page.setViewportSize(PHONE.viewport);
		await page.getByRole("link", { name: "Back to the run" }).click();
		await page.getByRole("link", { name: /^episode 0, asks, repeat 1: 1 / }).waitFor();
		expect(await barriers(page)).toEqual([]);
		expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
		expect(complaints).toEqual([]);
		if (run.child.exitCode === null) await once(run.child, "close");
		expect(run.child.exitCode, run.said()).toBe(0);
		const rows = fs.readFileSync(path.join(world.work, "out/ledger.jsonl"), "utf8").trim().split("\n");
		expect(JSON.parse(rows.at(-1) ?? "")).toMatchObject({ t: "result", touched: 1, outcome: { kind: "scored", score: { reward: 1 } } });
	});
});

const SHOWN = `(() => {
	const terminal = window.holdfast?.shown?.terminal ?? window.holdfast?.terminal;
	if (!terminal) return false;
	const { active } = terminal.buffer;
	return Array.from({ length: active.length }, (_, at) => active.getLine(at).translateToString(true)).join("\\n").includes("from-the-episode");
})()`;
