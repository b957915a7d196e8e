/** Conversations in the page: a real Chromium at a real `holdfast serve`, wide and on a phone. */
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentHome } from "../../src/base/index.js";
import { type EntryBody, Log } from "../../src/talk/index.js";
import { calls, say } from "../model-server/index.js";
import { until } from "../support/dirs.js";
import { startProgram } from "../support/program.js";
import { barriers, becomes, launch, missing, PHONE, type SharedSite, sharedSite, site, visit, WIDE } from "./support.js";

const HOLDER = fileURLToPath(new URL("fixtures/holder.mjs", import.meta.url));
const user = (text: string, platform = "chat"): EntryBody => ({ t: "user", id: `m-${text.slice(0, 30)}`, text, by: { platform, person: "me" } });
const answer = (text: string): EntryBody => ({ t: "assistant", text, calls: [], stop: "done", model: "scripted" });

async function written(home: AgentHome, lines: readonly EntryBody[]): Promise<string> {
	await using log = await Log.begin(home, { task: `agent/${randomUUID()}`, place: "local", model: "scripted" });
	for (const line of lines) await log.append(line);
	return log.id;
}

const message = (page: Page) => page.getByLabel("Message", { exact: true });
const turns = (page: Page) => page.locator(".ag-turns");
const status = (page: Page) => page.locator(".ag-status");

async function begin(page: Page, text: string): Promise<void> {
	await page.locator(".ag-filter").getByRole("link", { name: "New conversation" }).click();
	await page.getByLabel("What is to be done?").fill(text);
	await page.keyboard.press("Enter");
	await turns(page).getByText(text, { exact: true }).waitFor();
}

async function send(page: Page, text: string, key = "Enter"): Promise<void> {
	await message(page).fill(text);
	await message(page).press(key);
	await becomes(page, `document.getElementById("ag-message").value === ""`);
}

describe.skipIf(missing)("conversations in the page", () => {
	let browser: Browser;
	let one: SharedSite;
	beforeAll(async () => {
		[browser, one] = await Promise.all([launch(), sharedSite()]);
	});
	afterAll(async () => {
		await browser.close();
		await one.close();
	});

	it("an answer is shown while it arrives; calls are closed, with their result on a click and the way to their terminal", async () => {
		let goOn = () => {};
		const pause = { at: "text" as const, until: new Promise<void>((resolve) => (goOn = resolve)) };
		one.plays(
			"Please look",
			{ ...calls(["terminal", { command: "echo from-the-shell" }], ["terminal", { command: "echo kept; exec sleep 600", background: true }]), text: "I look." },
			say("It **works**, as far as can be seen from here.\n\n- one\n- the end", { pause }),
		);
		const { page, complaints } = await visit(browser, one);
		await begin(page, "Please look");
		await status(page).getByText("Answers").waitFor();
		await turns(page).locator(".ag-arriving").waitFor();
		expect(await turns(page).textContent()).not.toContain("the end");
		goOn();
		await turns(page).locator("strong", { hasText: "works" }).waitFor();
		await becomes(page, `document.querySelectorAll(".ag-md ul li").length === 2 && !document.querySelector(".ag-arriving")`);

		expect(await page.getByText("from-the-shell", { exact: true }).count()).toBe(0);
		await page.locator(".ag-call summary").first().press("Enter"); // by keyboard
		await page.locator(".ag-inside pre", { hasText: "from-the-shell" }).nth(1).waitFor();
		await page.getByRole("link", { name: "Open as a terminal" }).waitFor();
		await page.locator(".ag-call > .ag-process").click();
		await page.locator(".ag-pane .xterm-rows, .ag-pane .screen").first().waitFor();
		await becomes(page, `document.querySelector(".ag-pane")?.textContent.includes("running")`);
		await page.getByRole("button", { name: "Take it out of the row" }).click();
		await becomes(page, `!document.querySelector(".ag-pane")`);

		await page.getByRole("button", { name: "Change the title" }).click();
		await page.getByLabel("Title").fill("A look");
		await page.keyboard.press("Enter");
		await page.locator(".ag-row-name", { hasText: "A look" }).waitFor();
		expect(complaints).toEqual([]);
	});

	it("a queued message waits and can be taken back; Escape stops the turn; what is said next is answered", async () => {
		one.plays("Write a lot", say("word ".repeat(400), { wire: { dripMs: 20 } }), "Stopped, then.");
		const { page } = await visit(browser, one);
		await begin(page, "Write a lot");
		await page.locator(".ag-arriving", { hasText: "word word" }).waitFor();
		await send(page, "and then this", "Alt+Enter");
		await page.locator(".ag-waiting", { hasText: "and then this" }).waitFor();
		await message(page).press("ArrowUp");
		await becomes(page, `document.getElementById("ag-message").value === "and then this" && !document.querySelector(".ag-waiting")`);
		await message(page).press("Escape");
		await turns(page).getByText("Stopped.", { exact: true }).waitFor();
		await send(page, "What now?");
		await turns(page).getByText("Stopped, then.").waitFor();
		expect(one.asked("Write a lot")).toBe(2);
	});

	it("the server is killed in the middle of a command: the page and the turn go on, and every line is there once", async () => {
		const mine = await site(({ n }) => (n === 1 ? calls(["terminal", { command: `touch ${started}; sleep 3; echo survived` }]) : "It survived."));
		const started = path.join(mine.agentHome.root, "started");
		const { page } = await visit(browser, mine);
		await begin(page, "Run it");
		await status(page).getByText("Runs terminal").waitFor();
		await until("the command runs", () => fs.existsSync(started));
		await mine.again();
		await turns(page).getByText("It survived.").waitFor();
		expect(await turns(page).getByText("Run it").count()).toBe(1);
		expect(await page.locator(".ag-call").count()).toBe(1);
		await page.locator(".ag-how", { hasText: "found after a restart" }).waitFor();
		await page.locator(".ag-call summary").click();
		await page.locator(".ag-inside pre", { hasText: "survived" }).last().waitFor();
		expect(mine.model.requests).toHaveLength(2);
	});

	it("another program has the conversation: it is named, its lines come, and it gets what is written here", async () => {
		const id = await written(one.agentHome, [user("begun in a terminal"), answer("yes")]);
		const holder = startProgram(HOLDER, [one.agentHome.root, id]);
		expect(await holder.line()).toBe("held");
		const { page } = await visit(browser, one);
		await page.locator(".ag-row", { hasText: "begun in a terminal" }).click();
		await status(page).getByText(`chat (pid ${holder.pid}) has this conversation`).waitFor();
		expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(0);
		await send(page, "from the page");
		expect(await holder.line()).toBe("heard from the page");
		await turns(page).getByText("from the page").waitFor();
		expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(0); // also now that this server waits for its turn
		holder.say("Answer of the *other* program");
		await turns(page).locator("em", { hasText: "other" }).waitFor();
		// A page that no one sees has no connection; it goes on from there when it is seen again.
		const seen = (is: boolean) =>
			page.evaluate(
				`Object.defineProperty(document, "hidden", { configurable: true, get: () => ${!is} }); document.dispatchEvent(new Event("visibilitychange"))`,
			);
		await seen(false);
		holder.say("Said while no one looked");
		await until("the line is on the disk", () => Log.read(one.agentHome, id).entries.length === 7);
		await seen(true);
		await turns(page).getByText("Said while no one looked").waitFor();
		expect(await turns(page).getByText("from the page").count()).toBe(1);
		await holder.kill();
		await becomes(page, `!document.querySelector(".ag-status").textContent.includes("has this conversation")`);
		expect(one.asked("begun in a terminal")).toBe(0);
	});

	it("a question is answered where it is asked; a command that needs a person waits, and runs when it was allowed", async () => {
		const asks = "git push --force origin main || echo pushed-or-not";
		one.plays("Do it", calls(["ask_user", { question: "Which one?", choices: ["left", "right"] }]), calls(["terminal", { command: asks }]), "Done.");
		const { page } = await visit(browser, one);
		await begin(page, "Do it");
		await page.locator(".ag-question").getByText("Which one?").waitFor();
		await page.locator(".ag-state.wait", { hasText: "asks you" }).waitFor();
		await page.getByRole("button", { name: "right" }).click();
		const question = page.getByRole("region", { name: "Questions of agents" });
		await question.getByText("git push --force").waitFor();
		const box = await question.boundingBox();
		const composer = await page.locator(".ag-composer").boundingBox();
		expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(composer?.y ?? 0); // one can still write
		await question.getByRole("button", { name: "Once" }).click();
		await turns(page).getByText("Done.", { exact: true }).waitFor();
		const id = page.url().split("/").at(-1) ?? "";
		const log = fs.readFileSync(path.join(one.agentHome.conversations, `${id}.jsonl`), "utf8");
		expect(log).toContain("The user answers: right");
		expect(log).toContain("pushed-or-not");
	});

	it("nothing that a model, a tool or another person writes becomes part of the page, or leads out of it unseen", async () => {
		const evil = [
			"<script>window.owned = 1</script><img src=x onerror='window.owned = 1'><svg onload='window.owned=1'></svg>",
			"[a](javascript:window.owned=1) [b](JaVaScRiPt:window.owned=1) [c](data:text/html,x) [d](java&#115;cript:window.owned=1) [e][ref]\n\n[ref]: javascript:window.owned=1",
			"![track](https://evil.example/track.png) <https://good.example/> <javascript:window.owned=1>",
			"<iframe src='https://evil.example'></iframe>\n\n<div onclick='window.owned=1'>\n\n</div><style>body{display:none}</style>",
			"bidi \u202etxt.exe\u202c nul \u0000 esc \u001b[31m tags \u{e0041}\u{e0042}",
		].join("\n\n");
		const call = { id: "call_1", name: "<b>terminal</b>", args: JSON.stringify({ command: "echo \u202e<script>window.owned=1</script>" }) };
		await written(one.agentHome, [
			user(`<script>window.owned = 1</script> ${"lots ".repeat(30_000)}`),
			{
				t: "assistant",
				text: evil,
				reasoning: [{ text: "<img src=x onerror='window.owned=1'>", format: "chat" }],
				calls: [call],
				stop: "calls",
				model: "<i>m</i>",
			},
			{
				t: "result",
				call: "call_1",
				text: "<img src=x onerror='window.owned=1'>\u001b]0;x\u0007",
				failed: false,
				process: "javascript:window.owned=1",
				how: "ran",
			},
			answer(`${"> ".repeat(3_000)}deep\n\n${"*a ".repeat(20_000)}`),
			{ t: "set", title: "<img src=x onerror='window.owned=1'> \u202etitle" },
		]);
		const { page, complaints, strays } = await visit(browser, one);
		await page.locator(".ag-row", { hasText: "onerror" }).click();
		await page.locator(".ag-call summary").click();
		await page.locator(".ag-thought summary").first().click();
		await page.locator(".ag-inside pre").nth(1).waitFor();
		await page.getByText("Show all of", { exact: false }).first().click();
		const found = (await page.evaluate(`({
			owned: window.owned ?? null,
			elements: document.querySelectorAll(".agent :is(script, img, iframe, style, svg[onload], [onclick], [onerror])").length,
			links: [...document.querySelectorAll(".ag-md a")].map((a) => a.href),
			text: document.querySelector(".agent").textContent,
		})`)) as { owned: unknown; elements: number; links: string[]; text: string };
		expect([found.owned, found.elements]).toEqual([null, 0]);
		expect(found.links).toEqual(["https://evil.example/track.png", "https://good.example/"]);
		for (const shown of ["<script>window.owned = 1</script>", "<iframe src=", "\\u202etxt.exe", "\\u0000", "\\u001b[31m", "\\u{e0041}", "<b>terminal</b>"])
			expect([shown, found.text.includes(shown)]).toEqual([shown, true]);
		expect(found.text).not.toMatch(/[\u0000\u001b\u202e]/);
		await page.locator(".ag-md a").first().click({ modifiers: [] });
		expect(await page.evaluate("window.owned ?? null")).toBe(null);
		await message(page).fill("the page still answers");
		expect([complaints, strays.filter((url) => !url.includes("evil.example/track.png"))]).toEqual([[], []]); // that one was clicked, into a page of its own
	});

	it("a damaged conversation is said, and those beside it go on", async () => {
		one.plays("the good one", "Fine.");
		const id = await written(one.agentHome, [user("the good one"), answer("good")]);
		const bad = await written(one.agentHome, [user("the bad one"), answer("bad"), user("more"), answer("more")]);
		const file = path.join(one.agentHome.conversations, `${bad}.jsonl`);
		fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace('"t":"assistant"', '"t":"assist'));
		const { page } = await visit(browser, one);
		await page.locator(".ag-row", { hasText: "damaged" }).click();
		await page.getByRole("alert").getByText("This conversation cannot be read").waitFor();
		await page.getByRole("alert").getByText("line 3").waitFor();
		await page.locator(".ag-row", { hasText: "the good one" }).click();
		await send(page, "and on");
		await turns(page).getByText("Fine.").waitFor();
		expect(Log.read(one.agentHome, id).entries.at(-1)).toMatchObject({ t: "assistant", text: "Fine." });
		expect(fs.readFileSync(file, "utf8")).toContain('"t":"assist,');
	});

	it("without settings the page says what to run; a turn that was cut short long ago goes on when the person says so", async () => {
		const mine = await site(["Gone on."]);
		const id = await written(mine.agentHome, [user("cut short")]);
		const settings = fs.readFileSync(mine.agentHome.config);
		fs.rmSync(mine.agentHome.config);
		const { page } = await visit(browser, mine);
		await page.locator(".ag-row", { hasText: "cut short" }).click();
		await page.getByRole("button", { name: "Go on" }).click();
		await page.locator(".toast.bad", { hasText: "holdfast-agent setup" }).waitFor();
		await page.locator(".ag-filter").getByRole("link", { name: "New conversation" }).click();
		await page.getByRole("alert").getByText("holdfast-agent setup").waitFor();
		fs.writeFileSync(mine.agentHome.config, settings);
		await page.locator(".ag-row", { hasText: "cut short" }).click();
		expect(mine.model.requests).toEqual([]);
		await page.getByRole("button", { name: "Go on" }).click();
		await turns(page).getByText("Gone on.").waitFor();
		await until("the answer is on the disk", () => Log.read(mine.agentHome, id).entries.at(-1)?.t === "assistant");
	});

	it("a read-only link and a stranger see nothing of it", async () => {
		await written(one.agentHome, [user("secret plans"), answer("yes")]);
		const context = await browser.newContext(WIDE);
		const page = await context.newPage();
		await page.goto(`${one.origin}/#/parts/agent`);
		await page.getByText("Holdfast does not know this browser").waitFor();
		const api = (where: string, body: unknown) =>
			fetch(`${one.origin}${where}`, {
				method: "POST",
				headers: { Authorization: `Bearer ${one.token}`, "Content-Type": "application/json" },
				body: JSON.stringify(body),
			}).then((response) => response.json());
		const { session_id } = (await api("/api/processes", { command: "sleep 300", task: "t" })) as { session_id: string };
		const { url } = (await api("/api/viewers", { session_id })) as { url: string };
		const viewer = await context.newPage();
		await viewer.goto(url);
		await viewer.locator("article.terminal").waitFor();
		await viewer.evaluate(`location.hash = "#/parts/agent"`);
		expect(await viewer.getByRole("link", { name: "Agent" }).count()).toBe(0);
		expect(await viewer.locator(".agent").count()).toBe(0);
		await context.close();
	});

	it("on a phone it is the list or a conversation; no one is kept out, at any size and in both themes", async () => {
		await written(one.agentHome, [
			user("look around"),
			{
				t: "assistant",
				text: "I look.\n\n```sh\nls\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] one",
				calls: [{ id: "c1", name: "terminal", args: '{"command":"ls"}' }],
				stop: "calls",
				model: "scripted",
			},
			{ t: "result", call: "c1", text: "README.md", failed: true, process: "proc_0123456789ab", how: "ran" },
			{ t: "partial", text: "half an", why: "cut" },
			{ t: "stopped", why: "model", text: "The endpoint does not answer." },
		]);
		const phone = await visit(browser, one, { ...PHONE, colorScheme: "dark" });
		await phone.page.locator(".ag-row", { hasText: "look around" }).tap();
		await turns(phone.page).getByText("half an").waitFor();
		expect(await phone.page.locator(".ag-side").isVisible()).toBe(false);
		await phone.page.locator(".ag-call summary").tap();
		expect(
			await phone.page.evaluate(
				"document.documentElement.scrollWidth <= innerWidth && document.querySelector('.ag-log').scrollWidth <= document.querySelector('.ag-log').clientWidth",
			),
		).toBe(true);
		expect(await barriers(phone.page)).toEqual([]);
		await phone.page.getByRole("link", { name: "Back to the list" }).tap();
		await phone.page.locator(".ag-side").waitFor();
		const wide = await visit(browser, one, { ...WIDE, colorScheme: "light" });
		await wide.page.locator(".ag-row", { hasText: "look around" }).click();
		await turns(wide.page).getByText("half an").waitFor();
		await wide.page.locator(".ag-call summary").click();
		expect(await barriers(wide.page)).toEqual([]);
		await wide.page.locator(".ag-filter").getByRole("link", { name: "New conversation" }).click();
		await wide.page.getByLabel("Model").waitFor();
		expect(await barriers(wide.page)).toEqual([]);
		expect([...phone.complaints, ...wide.complaints]).toEqual([]);
	});
});
