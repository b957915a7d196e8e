/** The page all day long: by keyboard, with agents that ask in between. */
import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { untilWaiting } from "../../src/screen/index.js";
import { tempDir, testRuntime, until } from "../support/home.js";
import { connectTo } from "../support/mcp.js";
import { barriers, becomes, launch, missing, PHONE, serve, shows, visit, WIDE } from "./support.js";

const FOCUSED = "document.activeElement";
const inTerminal = (page: Page) => becomes(page, `${FOCUSED}.closest(".xterm") !== null`);
const on = (page: Page, selector: string) => becomes(page, `${FOCUSED}.matches(${JSON.stringify(selector)})`);

describe.skipIf(missing)("the page, all day long", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("is used by keys alone: they start a shell and type into it, go through the list, take a keyboard, and eat nothing that is typed", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const deploy = await runtime.spawn({
			command: "printf 'Deploy? [y/N] '; read -r answer; echo got $answer",
			terminal: true,
			name: "deploy",
			task: "release",
		});
		const editor = await runtime.spawn({ command: "exec vim -u NONE -N", terminal: true, name: "editor", task: "release" });
		const plain = await runtime.spawn({ command: "PS1='$ ' exec sh -i", terminal: true, name: "plain", task: "release" });
		for (const each of [deploy, editor, plain]) await untilWaiting(each, { timeout: 100_000 });
		const { page, complaints } = await visit(browser, server.link, WIDE);

		// Only what asks for a line or a password is loud; an editor and shells at their prompts are not.
		await page.getByRole("link", { name: /^deploy .*waits for a line/ }).waitFor();
		await page.getByRole("link", { name: /^editor .*idle/ }).waitFor();
		await page.getByRole("link", { name: /^plain .*idle/ }).waitFor();
		expect(await page.locator(".group.loud .row").count()).toBe(1);
		await becomes(page, `document.title === "(1) Holdfast"`);

		// An empty command is a shell, and who starts it types.
		await page.keyboard.press("n");
		await on(page, "textarea[name=command]");
		await page.getByLabel("Task").fill("by hand");
		expect(await barriers(page)).toEqual([]);
		await page.keyboard.press("Enter");
		await page.getByText("You have the keyboard.").waitFor();
		await inTerminal(page);
		await page.keyboard.type("echo no $((6*7)) jkt/?\n");
		await shows(page, "no 42 jkt/?");
		expect(await page.getByRole("dialog").count()).toBe(0);
		const [shell] = runtime.list({ task: "by hand" });
		expect(shell?.spec).toMatchObject({ name: "shell", task: "by hand" });
		await page.locator(".wordmark").focus(); // not even outside of the terminal, while its keyboard is ours
		await page.keyboard.press("n");
		await page.keyboard.press("?");
		expect(await page.getByRole("dialog").count()).toBe(0);
		await page.getByRole("button", { name: "Hand it back" }).click();
		await page.getByRole("button", { name: "Take the keyboard" }).waitFor();

		// Through the list with arrows and letters, into a terminal with Enter and t.
		await page.evaluate("document.activeElement.blur(); location.hash = '#/'");
		await page.getByText("Choose a terminal").waitFor();
		await page.keyboard.press("ArrowDown");
		await becomes(page, `${FOCUSED}.textContent.includes("deploy")`); // what waits comes first
		await page.keyboard.press("j");
		await page.keyboard.press("j");
		await page.keyboard.press("k");
		await becomes(page, `${FOCUSED} === document.querySelectorAll(".list a.row")[1]`);
		await page.keyboard.press("ArrowUp");
		await page.keyboard.press("Enter");
		await page.getByRole("button", { name: "Take the keyboard" }).waitFor();
		await shows(page, "Deploy?");
		// In a word it is no key of ours. Both at once: a busy machine may take longer from key to key than anybody who types.
		await page.evaluate(`for (const key of "gt") ${FOCUSED}.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))`);
		await becomes(page, `${FOCUSED}.matches("a.row")`);
		await page.getByRole("button", { name: "Take the keyboard" }).waitFor();
		await page.keyboard.press("Enter"); // once more: into the terminal
		await inTerminal(page);
		await page.keyboard.press("t"); // which belongs to the terminal, and that is read-only
		await becomes(page, "holdfast.knocked.value === 1");
		await page.keyboard.press("Shift+Tab");
		await page.keyboard.press("t");
		await page.getByText("You have the keyboard.").waitFor();
		await inTerminal(page);
		await page.keyboard.type("yes\n");
		await shows(page, "got yes");

		// Every part of the page within five Tabs.
		await page.evaluate("location.hash = '#/'");
		await page.getByText("Choose a terminal").waitFor();
		await page.keyboard.press("?");
		await page.getByRole("dialog", { name: "Keys" }).waitFor();
		expect(await barriers(page)).toEqual([]);
		await page.keyboard.press("Escape");
		await page.getByRole("dialog").waitFor({ state: "detached" });
		await page.evaluate(`location.hash = "#/p/${shell?.id}"`);
		await page.getByRole("button", { name: "Take the keyboard" }).waitFor();
		await page.evaluate("document.activeElement.blur(); getSelection().setPosition(document.body, 0)");
		for (const stop of [".skip", ".top a", "#filter", ".chip", ".list a.row"]) {
			await page.keyboard.press("Tab");
			await on(page, stop);
		}
		await page.getByRole("button", { name: "To the content" }).press("Enter");
		for (const stop of [".term-tools button", ".hands button", ".xterm textarea"]) {
			await page.keyboard.press("Tab");
			await on(page, stop);
		}
		await page.locator(".term-tools button").first().focus();
		await page.keyboard.press("ArrowRight");
		await on(page, ".term-tools button:nth-child(2)");
		expect(complaints).toEqual([]);
	});

	it("brings what agents ask to wherever one is, what blocks an agent first, with the time left, and takes Once and No", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const token = fs.readFileSync(path.join(home, "token"), "utf8").trim();
		const dir = tempDir("asked");
		const sleeper = await runtime.spawn({ command: "exec cat", terminal: true });
		for (const [name, options] of Object.entries({ wide: WIDE, phone: PHONE })) {
			const { page, complaints } = await visit(browser, server.link, options);
			await page.evaluate(`location.hash = "#/p/${sleeper.id}"`);
			await page.getByRole("button", { name: "Take the keyboard" }).click();
			await inTerminal(page);
			const agent = await connectTo(`${server.origin}/mcp?task=${name}`, token);
			const ask = (victim: string) => {
				fs.mkdirSync(path.join(dir, victim), { recursive: true });
				fs.writeFileSync(path.join(dir, "which"), path.join(dir, victim));
				return agent.call("terminal", { command: `rm -rf "$(cat ${dir}/which)"`, timeout: 30 });
			};
			const refused = ask("kept");
			const question = page.getByRole("region", { name: "Questions of agents" }).getByRole("article");
			await question.getByText("rm -rf").waitFor();
			await inTerminal(page); // it takes no focus
			expect(await question.textContent()).toMatch(new RegExp(`^${name} asksan agent waits, .*left`));
			expect(await barriers(page)).toEqual([]);
			await question.getByRole("button", { name: "No", exact: true }).click();
			expect(await refused).toMatchObject({ error: expect.stringMatching(/refused|no/i) });
			await question.waitFor({ state: "detached" });
			const allowed = ask("gone");
			await page.evaluate("location.hash = '#/files'");
			await question.getByRole("button", { name: "Once", exact: true }).click();
			await allowed;
			await until("what was allowed is done", () => !fs.existsSync(path.join(dir, "gone")) && fs.existsSync(path.join(dir, "kept")));
			expect(complaints).toEqual([]);
		}

		const { page } = await visit(browser, server.link, WIDE);
		const asked = (id: string, waiting: boolean, seconds: number) => ({
			...{ id, task: id, command: `echo ${id}`, cwd: "/", place: "local", parts: [], choices: ["once", "no"], state: "pending", waiting },
			...{ created_at: new Date().toISOString(), expires_at: new Date(Date.now() + seconds * 1_000).toISOString() },
		});
		const approvals = [asked("left behind", false, 50), asked("patient", true, 900), asked("urgent", true, 100), asked("also left", false, 60)];
		await page.route("**/api/approvals", (route) => route.fulfill({ json: { approvals } }));
		await page.reload();
		const tasks = page.locator(".question strong");
		await tasks.first().waitFor();
		expect(await tasks.allTextContents()).toEqual(["urgent", "patient"]);
		await page.getByRole("link", { name: "2 more to answer" }).click();
		await page.getByRole("heading", { name: "Approvals" }).waitFor();
		expect(await page.locator(".ask pre").allTextContents()).toEqual(["urgent", "patient", "left behind", "also left"].map((id) => `echo ${id}`));
		expect(await page.locator(".question").count()).toBe(0); // here they are anyway
	});
});
