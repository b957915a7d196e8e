import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { testRuntime } from "holdfast/testing";
import { expect, it } from "vitest";
import { offeredToolsets, serveToolsets } from "../../src/doors/index.js";
import { missing } from "../support/browser.js";

it("offers both sets, with what turns them on", async () => {
	const [web, browser] = offeredToolsets({ settings: { browser: { executable: "/no/such" } } });
	expect([web?.available(), browser?.available()]).toEqual([
		{ ok: true },
		{ ok: false, why: "there is no program /no/such", fix: "correct browser.executable in web.json" },
	]);
	for (const [place, ok] of [
		["local+sandbox", false],
		["docker://image", true],
	] as const)
		expect([place, offeredToolsets({ settings: { browser: { executable: "/no/such" } }, place })[1]?.available().ok]).toEqual([place, ok]);
	await using runtime = await testRuntime({ task: "t" });
	for (const set of offeredToolsets({ settings: { search: { provider: "searxng", url: "http://127.0.0.1:1" } } })) {
		const opened = await set.open(runtime);
		expect(opened.tools.map(({ name }) => name).sort(), set.name).toEqual([...set.tools].sort());
		await opened.close();
	}
	await expect(serveToolsets({ names: ["wep"], home: runtime.home.root })).rejects.toThrow('there is no toolset "wep"; there are web, browser');
});

it("is behind `holdfast mcp --toolsets`", async () => {
	const dir = fs.mkdtempSync(path.join(process.env.TEST_ROOT ?? "", "mcp-"));
	const child = spawn(
		process.execPath,
		[path.resolve("dist/bin/holdfast.js"), "mcp", "--home", path.join(dir, "home"), "--task", "t", "--toolsets", "web,browser"],
		{ stdio: ["pipe", "pipe", "pipe"], cwd: dir },
	);
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	let said = "";
	child.stderr.on("data", (piece) => {
		said += piece;
	});
	const ask = async (id: number, method: string, params: object): Promise<Record<string, unknown>> => {
		child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
		for (;;) {
			const { value, done } = await lines.next();
			if (done) throw new Error(`it ended: ${said}`);
			const message = JSON.parse(value) as { id?: number; result?: Record<string, unknown> };
			if (message.id === id) return message.result ?? message;
		}
	};
	await ask(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } });
	child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
	const { tools } = (await ask(2, "tools/list", {})) as { tools: { name: string }[] };
	const names = tools.map(({ name }) => name);
	expect(names).toEqual(expect.arrayContaining(["terminal", "web_extract", "browser_navigate", "browser_close"]));
	expect(names).not.toContain("web_search"); // no provider is configured
	const result = await ask(3, "tools/call", { name: "web_extract", arguments: { urls: ["http://169.254.169.254/latest/"] } });
	expect(result).toMatchObject({ isError: true, structuredContent: { status: "error", error: expect.stringContaining("link-local") } });
	if (!missing) {
		// A browser through the same client, with a picture for its model.
		const opened = await ask(4, "tools/call", { name: "browser_navigate", arguments: { url: "about:blank" } });
		expect(opened).toMatchObject({ structuredContent: { status: "ok", output: expect.stringContaining("about:blank") } });
		const shot = await ask(5, "tools/call", { name: "browser_screenshot", arguments: { path: path.join(dir, "shot.png"), show: true } });
		expect(shot.content).toEqual([
			{ type: "text", text: expect.stringContaining("shot.png") },
			{ type: "image", mimeType: "image/png", data: fs.readFileSync(path.join(dir, "shot.png")).toString("base64") },
		]);
		expect(JSON.stringify(shot.structuredContent).length).toBeLessThan(1_000);
		expect(await ask(6, "tools/call", { name: "browser_close", arguments: {} })).toMatchObject({ structuredContent: { status: "ok" } });
	}
	child.stdin.end();
	await new Promise((resolve) => child.once("exit", resolve));
	expect(said).toContain("web_search is off: no search provider is configured");
	fs.rmSync(dir, { recursive: true, force: true });
});

it("says which package a toolset needs", async () => {
	const dir = fs.mkdtempSync(path.join(process.env.TEST_ROOT ?? "", "mcp-"));
	const child = spawn(process.execPath, [path.resolve("dist/bin/holdfast.js"), "mcp", "--home", path.join(dir, "home"), "--toolsets", "wep"], {
		stdio: ["pipe", "ignore", "pipe"],
	});
	let said = "";
	child.stderr.on("data", (piece) => {
		said += piece;
	});
	const code = await new Promise((resolve) => child.once("exit", resolve));
	expect([code, said]).toEqual([expect.any(Number), expect.stringContaining('--toolsets: there is no toolset "wep"; there are web, browser')]);
	expect(code).not.toBe(0);
	fs.rmSync(dir, { recursive: true, force: true });
});
