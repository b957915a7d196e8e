// Pictures of the page for docs/images, made with a server and processes of their own: `node scripts/screenshots.mjs`.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";
import { ensureBuilt, root } from "./setup.mjs";

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 780 };
const OUT = path.join(root, "docs/images");

ensureBuilt();
const { openAgentRuntime } = await import(path.join(root, "dist/tools/index.js"));
const dir = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-pictures-"));
const home = path.join(dir, "home");
// A short name for the pictures, if it is free.
const plain = path.join(os.tmpdir(), "shop");
const shop = fs.existsSync(plain) ? path.join(dir, "shop") : plain;
fs.mkdirSync(path.join(shop, "src"), { recursive: true });
for (const name of ["package.json", "README.md", "src/cart.ts", "src/index.ts", "deploy.sh"]) fs.writeFileSync(path.join(shop, name), `// ${name}\n`);
const TESTS = ["32m✓", "32m✓", "31m✗"].map(
	(mark, at) => `printf '\\e[${mark}\\e[0m ${["cart totals", "empty cart", "rounding of 0.1 + 0.2"][at]}\\n'; sleep 0.5`,
);
fs.writeFileSync(path.join(shop, "run-tests"), `#!/bin/sh\n${TESTS.join("\n")}\nprintf '\\n2 passed, 1 failed\\n'\n`, { mode: 0o755 });
process.chdir(shop);

const runtime = await openAgentRuntime({ home, warm: 0 });
const server = spawn(process.execPath, [path.join(root, "dist/bin/holdfast.js"), "serve", "--port", "0"], {
	env: { ...process.env, HOLDFAST_HOME: home, HOLDFAST_AGENT_HOME: path.join(dir, "agent"), HOME: dir },
});
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
try {
	const link = await new Promise((resolve) => server.stdout.on("data", (text) => /http\S+#token=\S+/.test(text) && resolve(/http\S+#token=\S+/.exec(text)[0])));
	const watching = await browser.newPage(); // somebody is there, so the agent asks and waits
	await watching.goto(link);
	await watching.getByText("Nothing runs yet").waitFor();
	const ids = await seed();
	fs.mkdirSync(OUT, { recursive: true });
	for (const colorScheme of ["light", "dark"]) {
		for (const [size, viewport] of Object.entries({ wide: WIDE, phone: PHONE })) await pictures({ link, ids, colorScheme, size, viewport });
	}
} finally {
	await browser.close();
	server.kill("SIGTERM");
	await new Promise((resolve) => server.once("close", resolve));
	await Promise.all(runtime.list({ task: null, shells: true }).map((kept) => kept.kill({ graceMs: 100 })));
	await runtime.close();
	for (const made of [dir, shop]) fs.rmSync(made, { recursive: true, force: true });
}

async function seed() {
	const start = (task, command, more = {}) => runtime.spawn({ task, command, cwd: shop, ...more });
	const terminal = { cols: 120, rows: 30 };
	await start(
		"checkout rewrite",
		`for i in 1 2 3; do echo "GET /cart 200 $((RANDOM % 40)) ms"; sleep 0.1; done; echo listening on http://127.0.0.1:5173/; exec sleep 1000`,
		{ name: "dev server" },
	);
	await (await start("checkout rewrite", "echo '211 passed, 0 failed'", { name: "npm test" })).wait();
	const tests = await start("flaky test", "echo 'FAIL src/cart.test.ts > totals'; echo '1 failed, 210 passed'; exit 1", { name: "npm test -- --repeat 50" });
	await tests.wait();
	await start("flaky test", "exec cat", { name: "tail -f app.log" });
	const deploy = await start("checkout rewrite", `printf 'Deploy shop to production? [y/N] '; read answer`, { name: "./deploy.sh", terminal });
	const shell = await start("checkout rewrite", "PS1='\\[\\e[36m\\]shop\\[\\e[0m\\] $ ' exec bash --norc --noprofile -i", { name: "bash", terminal });
	await shell.wait({ until: { silence: 1 } });
	for (const line of ["ls", "./run-tests"]) {
		await shell.write(`${line}\n`);
		await new Promise((resolve) => setTimeout(resolve, 2_000));
	}
	for (const command of ["cat package.json", "grep -rn cart src", "./run-tests; (exit 1)"])
		await runtime.terminal({ command, workdir: shop }, { task: "checkout rewrite" });
	void runtime.terminal({ command: "git push --force origin main", timeout: 60 }, { task: "flaky test" }).catch(() => {});
	await new Promise((resolve) => setTimeout(resolve, 1_500));
	return { shell: shell.id, deploy: deploy.id, tests: tests.id, conversation: await converse(tests.id, shell.id) };
}

/** Conversations as an agent would have had them. Returns the id of one. */
async function converse(tests, shell) {
	const [{ openAgentHome }, { Log }] = await Promise.all(["base", "talk"].map((room) => import(path.join(root, `agent/dist/${room}/index.js`))));
	const agent = openAgentHome(path.join(dir, "agent"));
	const by = { platform: "page", person: "owner" };
	const said = (text) => ({ t: "user", id: text.slice(0, 40), text, by });
	const answer = (text, calls = []) => ({
		t: "assistant",
		text,
		calls,
		stop: calls.length > 0 ? "calls" : "done",
		model: "sonnet",
		usage: { input: 8_400, output: 310 },
	});
	const result = (call, text, more = {}) => ({ t: "result", call, text, failed: false, how: "ran", ...more });
	const write = async (task, lines) => {
		const log = await Log.begin(agent, { task, place: "local", model: "sonnet" });
		for (const line of lines) await log.append(line);
		await log.leave();
		return log.id;
	};
	await write("agent/1", [said("Which of these dependencies are out of date?"), answer("Two are: `hono` and `ws`.")]);
	await write("agent/2", [said("Move the docs to the new layout"), answer("All 22 pages are moved, and every link was checked.")]);
	return write("flaky test", [
		said("The cart test fails now and then. Find out why, and fix it."),
		answer("I run it fifty times and look at what fails.", [
			{ id: "c1", name: "terminal", args: JSON.stringify({ command: "npm test -- --repeat 50", background: true }) },
			{ id: "c2", name: "search_files", args: JSON.stringify({ pattern: "toBe\\(0\\.", path: "src" }) },
		]),
		result("c1", `[running] ${tests}`, { process: tests }),
		result("c2", "src/cart.test.ts:41: expect(total([0.1, 0.2])).toBe(0.3)"),
		answer("", [
			{ id: "c3", name: "patch", args: JSON.stringify({ path: "src/cart.ts" }) },
			{ id: "c4", name: "terminal", args: JSON.stringify({ command: "./run-tests", pty: true }) },
		]),
		result("c3", "patched src/cart.ts"),
		result("c4", "2 passed, 1 failed", { failed: true, process: shell }),
		answer(
			"It is **rounding**: prices are added as floating-point numbers, and `0.1 + 0.2` is not `0.3`.\n\n| test | before | now |\n|---|---:|---:|\n| cart totals | 3 of 50 failed | 0 of 50 |\n| empty cart | 0 | 0 |\n\nPrices are counted in cents from here on:\n\n```ts\nexport const total = (cents: number[]) => cents.reduce((sum, price) => sum + price, 0);\n```\n\nOne test still expects the old value. Shall I change it?",
		),
	]);
}

async function pictures({ link, ids, colorScheme, size, viewport }) {
	const context = await browser.newContext({ viewport, colorScheme, hasTouch: size === "phone", locale: "en-GB" });
	const page = await context.newPage();
	await page.goto(link);
	await page.getByRole("navigation", { name: "Terminals" }).getByText("dev server").waitFor();
	const shot = async (name, hash, sign, act = "0") => {
		await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
		await page.getByText(sign).first().waitFor();
		await page.waitForTimeout(900);
		await page.evaluate(act);
		await page.waitForTimeout(act === "0" ? 200 : 900);
		await page.screenshot({ path: path.join(OUT, `${name}-${size}-${colorScheme}.png`) });
	};
	if (size === "phone") await shot("list", "#/", "dev server");
	await shot("terminal", `#/p/${ids.shell}`, "Take the keyboard");
	await page.getByRole("button", { name: "Later" }).click(); // the question is on one picture, not on all
	await shot("approvals", "#/approvals", "Approvals");
	await shot("wall", "#/wall", /^\d+ running$/);
	await shot("task", "#/t/checkout%20rewrite", "grep -rn cart src", `[...document.querySelectorAll(".entry summary")].at(-1).click()`);
	await shot(
		"agent",
		`#/parts/agent/${ids.conversation}`,
		"rounding",
		size === "wide" ? `document.querySelector(".ag-process[href*='${ids.shell}']").click()` : "0",
	);
	if (size === "wide") {
		await shot("side", `#/side/${ids.shell}/${ids.deploy}/${ids.tests}`, "Take the keyboard");
		await shot("timeline", "#/timeline", "Timeline");
		await shot("files", `#/files?session_id=${ids.shell}`, "package.json");
		await shot("recording", `#/p/${ids.shell}/recording`, "skip silence", "holdfast.seek(0.9 * holdfast.cast.seconds)");
	}
	await context.close();
}
