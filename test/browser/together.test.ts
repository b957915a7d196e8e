/** A person and an agent at the same terminal. */
import fs from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { untilWaiting } from "../../src/screen/index.js";
import { tempDir, testRuntime, textOf } from "../support/home.js";
import { connectTo } from "../support/mcp.js";
import { launch, lines, missing, serve, shows, takeOver, visit } from "./support.js";

const LOGIN = `while :; do printf 'user: '; read user; printf 'password: '; read -s password; echo; echo "hello $user, \${#password} characters"; done`;
const SECRET = "hunter2-tr0ub4dor";

describe.skipIf(missing)("a person beside an agent", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("takes the keyboard and hands it back; the agent is held off meanwhile, and a password is nowhere afterwards", async () => {
		const home = tempDir("home");
		const runtime = await testRuntime({ home });
		const server = await serve(home);
		const token = fs.readFileSync(path.join(home, "token"), "utf8").trim();
		const agent = await connectTo(`${server.origin}/mcp?task=agent`, token);
		const heard: unknown[] = [];
		const call = async (name: "terminal" | "process", args: Record<string, unknown>) => {
			const result = await agent.call(name, args);
			heard.push(result);
			return result;
		};
		const { session_id: id } = await call("terminal", { command: LOGIN, pty: true, background: true });

		const { page, complaints } = await visit(browser, server.link);
		await page.getByRole("link", { name: /waits for a line/ }).click(); // it is in the list by itself, and loud
		await takeOver(page, id);
		const refused = await call("process", { action: "submit", session_id: id, data: "robot" });
		expect(refused).toMatchObject({ error: expect.stringContaining("keyboard") });
		await page.keyboard.type("ada\n");
		await shows(page, "password:");
		// The question comes before the echo is off: what is typed in between would be shown.
		expect(await untilWaiting(runtime.get(id), { timeout: 100_000 })).toMatchObject({ waiting_for: "password" });
		await page.keyboard.type(`${SECRET}\n`);
		await shows(page, `hello ada, ${SECRET.length} characters`);
		expect(textOf(runtime.get(id))).not.toContain("robot");

		await page.getByRole("button", { name: "Hand it back" }).click();
		await page.getByRole("button", { name: "Take the keyboard" }).waitFor();
		const typed = await call("process", { action: "submit", session_id: id, data: "robot" });
		expect(typed).toMatchObject({ bytes_written: 6, notices: [{ kind: "keyboard", session_id: id }] });
		await shows(page, "user: robot");

		heard.push(await lines(page));
		heard.push(await (await fetch(`${server.origin}/api/processes/${id}/recording`, { headers: { Authorization: `Bearer ${token}` } })).text());
		expect(JSON.stringify(heard)).not.toContain(SECRET);
		expect(filesWith(home, SECRET)).toEqual([]);
		expect(complaints).toEqual([]);
	});

	it("answers what the agent asks, from the inbox, with a note", async () => {
		const home = tempDir("home");
		await testRuntime({ home });
		const server = await serve(home);
		const token = fs.readFileSync(path.join(home, "token"), "utf8").trim();
		const dir = tempDir("asked");
		fs.mkdirSync(path.join(dir, "old"));
		const { page, complaints } = await visit(browser, server.link);
		await page.getByText("Nothing runs yet").waitFor(); // somebody is there
		const agent = await connectTo(`${server.origin}/mcp?task=agent`, token);
		fs.writeFileSync(path.join(dir, "which"), path.join(dir, "old"));
		const risky = `rm -rf "$(cat ${dir}/which)"`;
		const command = `echo 'wäre\u202e weg'; ${risky}`; // not ASCII before it: bytes are not characters; and something that turns what follows around
		const ask = () => agent.call("terminal", { command, timeout: 30 });

		const refused = ask();
		await page.getByRole("link", { name: "Approvals 1 to answer" }).click();
		const question = page.locator(".ask");
		await question.locator("mark").first().waitFor();
		expect(await question.locator("mark").allTextContents()).toEqual([risky]);
		expect(await question.locator("pre").textContent()).toBe(`echo 'wäre\\u202e weg'; ${risky}`);
		await question.getByPlaceholder("A note for the agent").fill("keep it, please");
		await question.getByRole("button", { name: "No" }).click();
		expect(await refused).toMatchObject({ status: "blocked", error: expect.stringContaining("keep it, please") });
		expect(fs.existsSync(path.join(dir, "old"))).toBe(true);
		await page.getByText("No pending approvals").waitFor();
		await page.getByText("agent: refused in the page").waitFor();

		const allowed = ask();
		await question.getByRole("button", { name: "Once" }).click();
		expect(await allowed).toMatchObject({ status: "exited", exit_code: 0 });
		expect(fs.existsSync(path.join(dir, "old"))).toBe(false);
		expect(complaints).toEqual([]);
	});
});

function filesWith(dir: string, text: string): string[] {
	return fs
		.readdirSync(dir, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => path.join(entry.parentPath, entry.name))
		.filter((file) => fs.readFileSync(file).includes(text));
}
