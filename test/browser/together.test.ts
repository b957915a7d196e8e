/** A person and an agent at the same terminal. */
import fs from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tempDir, testRuntime, textOf } from "../support/home.js";
import { connectTo } from "../support/mcp.js";
import { launch, lines, missing, serve, shows, takeOver, visit } from "./support.js";

const LOGIN = `while :; do printf 'user: '; read user; printf 'password: '; read -s password; echo; echo "hello $user, \${#password} characters"; done`;
const SECRET = "hunter2-tr0ub4dor";

describe.skipIf(missing)("a person takes the keyboard from an agent", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await launch();
	});
	afterAll(() => browser.close());

	it("and hands it back; the agent is held off meanwhile, and a password is nowhere afterwards", async () => {
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
		await page.keyboard.type(`${SECRET}\n`);
		await shows(page, `hello ada, ${SECRET.length} characters`);
		expect(textOf(runtime.get(id))).not.toContain("robot");

		await page.getByRole("button", { name: "Hand it back" }).click();
		await page.getByRole("button", { name: "Take the keyboard" }).waitFor();
		const typed = await call("process", { action: "submit", session_id: id, data: "robot" });
		expect(typed).toMatchObject({ bytes_written: 6 });
		await shows(page, "user: robot");
		const told = await untilTold(call, id);
		expect(told).toMatch(/keyboard/);

		heard.push(await lines(page));
		heard.push(await (await fetch(`${server.origin}/api/processes/${id}/recording`, { headers: { Authorization: `Bearer ${token}` } })).text());
		expect(JSON.stringify(heard)).not.toContain(SECRET);
		expect(filesWith(home, SECRET)).toEqual([]);
		expect(complaints).toEqual([]);
	});
});

/** The notice that the keyboard is back comes with the agent's next calls. */
async function untilTold(call: (name: "process", args: Record<string, unknown>) => Promise<unknown>, id: string): Promise<string> {
	let said = "";
	for (let tries = 0; tries < 50 && !/keyboard/.test(said); tries++) said = JSON.stringify(await call("process", { action: "poll", session_id: id }));
	return said;
}

function filesWith(dir: string, text: string): string[] {
	return fs
		.readdirSync(dir, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => path.join(entry.parentPath, entry.name))
		.filter((file) => fs.readFileSync(file).includes(text));
}
