/** The browser tools and web_extract: tokens of a snapshot, time from a click to the next snapshot, and the memory that a large page takes. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { openRuntime } from "holdfast";
import { chromium } from "playwright-core";
import { findBrowser, profileOf } from "../browser/dist/chrome/index.js";
import { endExtraction, extractIn } from "../browser/dist/extract/index.js";
import { browserAvailable, browserTools } from "../browser/dist/index.js";
import { atMost, missingRow, row } from "./report.mjs";

const CHARS_PER_TOKEN = 3.5; // as the agent estimates
const tokens = (text) => Math.ceil(text.length / CHARS_PER_TOKEN);

const sentence = "The harbour lay quiet under a sky of slate, and the boats had come home early. ";
const nav = `<nav><ul>${Array.from({ length: 30 }, (_, at) => `<li><a class="nav-link px-4" href="/section/${at}?utm_source=nav&utm_campaign=x">Section ${at}</a></li>`).join("")}</ul></nav>`;
const PAGES = {
	article: `<title>Article</title>${nav}<main><h1>Harbour</h1>${`<div class="wrap"><div class="inner"><p>${sentence.repeat(4)}</p></div></div>`.repeat(30)}</main>`,
	table: `<title>Table</title>${nav}<table>${Array.from({ length: 80 }, (_, at) => `<tr class="row"><td><span>Part ${at}</span></td><td>${at} mm</td><td><button class="btn btn-sm">Edit</button></td></tr>`).join("")}</table>`,
	form: `<title>Form</title>${nav}<form>${Array.from({ length: 30 }, (_, at) => `<div class="field"><div class="control"><label>Field ${at} <input name="f${at}" value="${at}"></label></div></div>`).join("")}<button>Send</button></form>`,
};
const click = `<title>Click</title><h1>Counter</h1><button onclick="this.textContent='Pressed '+(window.n=(window.n||0)+1)">Press</button>${"<p>text</p>".repeat(50)}`;

export default async function browser(bench) {
	const able = browserAvailable();
	if (!able.ok) return [missingRow("browser tools", able.why)];
	const server = http.createServer((request, response) => {
		const name = (request.url ?? "/").slice(1);
		response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><html><body>${PAGES[name] ?? click}</body></html>`);
	});
	await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
	const base = `http://127.0.0.1:${server.address().port}`;
	const runtime = await openRuntime({ home: bench.dir("browser"), task: "bench", warm: 0 });
	const { tools, close } = browserTools(runtime);
	bench.atEnd(async () => {
		await close();
		await runtime.endTask("bench");
		await runtime.close();
		server.closeAllConnections();
		server.close();
	});
	const task = runtime.task("bench");
	const call = async (name, args = {}) => {
		const result = await task.call(
			tools.find((tool) => tool.name === name),
			args,
		);
		if (result.status !== "ok") throw new Error(`${name}: ${result.error}`);
		return result.output;
	};
	const rows = [];
	await call("browser_navigate", { url: `${base}/` });
	if (!findBrowser(runtime, "bench")) throw new Error("there is no browser");
	const port = fs.readFileSync(`${profileOf(runtime, "bench")}/DevToolsActivePort`, "utf8").split("\n", 1)[0];
	const plain = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
	const [page] = plain.contexts()[0].pages();
	const theirs = await playwrightMcp(port);
	bench.atEnd(() => theirs.close());
	for (const name of Object.keys(PAGES)) {
		const url = `${base}/${name}`;
		await call("browser_navigate", { url });
		let ours = ""; // all parts of it, with what is around each
		for (let offset = 0; offset !== undefined; ) {
			const part = await call("browser_snapshot", { max_chars: 16_000, offset });
			const [, next] = /more characters: browser_snapshot with offset (\d+)/.exec(part) ?? [];
			offset = next === undefined ? undefined : Number(next);
			ours += part;
		}
		await theirs.call("browser_navigate", { url });
		const baselines = [
			{ name: "playwright-mcp", value: tokens(await theirs.call("browser_snapshot")) },
			{ name: "raw HTML", value: tokens(await (await fetch(url)).text()) },
		];
		rows.push(row({ what: `snapshot of a page: ${name}`, value: tokens(ours), unit: "tokens", baselines, target: atMost(1) }));
	}
	rows.push(await clickToSnapshot(bench, call, page, base));
	await plain.close();
	rows.push(await largePage());
	return rows;
}

async function clickToSnapshot(bench, call, page, base) {
	const rounds = bench.count(30, 5);
	const refIn = (text) => /button [^\n]*\[ref=(\w+)\]/.exec(text)?.[1];
	let ref = refIn(await call("browser_navigate", { url: `${base}/` }));
	const ours = [];
	for (let at = 0; at < rounds; at++) {
		const began = performance.now();
		const shown = await call("browser_click", { ref });
		ours.push(performance.now() - began);
		ref = refIn(shown);
	}
	const theirs = [];
	let plain = refIn(await page.ariaSnapshot({ mode: "ai" }));
	for (let at = 0; at < rounds; at++) {
		const began = performance.now();
		await page.getByRef(plain).click();
		const shown = await page.ariaSnapshot({ mode: "ai" });
		theirs.push(performance.now() - began);
		plain = refIn(shown);
	}
	return row({ what: "click to snapshot, p50", value: median(ours), unit: "ms", baselines: [{ name: "plain playwright", value: median(theirs) }] });
}

async function largePage() {
	const html = `<html><body><article><h1>Large</h1>${Array.from({ length: 12_000 }, (_, at) => `<h2>Chapter ${at}</h2><p>${sentence.repeat(5)}</p>`).join("")}</article></body></html>`;
	const before = process.memoryUsage.rss();
	let most = before;
	const timer = setInterval(() => {
		most = Math.max(most, process.memoryUsage.rss());
	}, 20);
	const began = performance.now();
	const { markdown } = await extractIn({ kind: "html", html, url: "http://example.org/" });
	const seconds = (performance.now() - began) / 1000;
	clearInterval(timer);
	await endExtraction();
	const note = `${(html.length / 1e6).toFixed(1)} MB of HTML, ${(markdown.length / 1e6).toFixed(1)} MB of text, ${seconds.toFixed(1)} s`;
	return row({ what: "extraction of a large page, memory above idle", value: (most - before) / 1024 / 1024, unit: "MB", target: atMost(768, "MB"), note });
}

/** Playwright's MCP server, which `@playwright/mcp` is too, on the same browser. */
async function playwrightMcp(port) {
	const cli = path.join(path.dirname(createRequire(import.meta.url).resolve("playwright-core/package.json")), "cli.js");
	const directory = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-bench-mcp-")); // it writes a file for each snapshot, by itself into the current directory
	const args = [cli, "mcp", "--cdp-endpoint", `http://127.0.0.1:${port}`, "--output-dir", directory];
	const child = spawn(process.execPath, args, { cwd: directory, stdio: ["pipe", "pipe", "ignore"] });
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	let last = 0;
	const ask = async (method, params) => {
		const id = ++last;
		child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
		for (;;) {
			const { value, done } = await lines.next();
			if (done) throw new Error("playwright's MCP server has ended");
			const message = JSON.parse(value);
			if (message.id === id) return message.result;
		}
	};
	await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } });
	child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
	return {
		async call(name, args = {}) {
			const { content, isError } = await ask("tools/call", { name, arguments: args });
			const text = content.map((block) => block.text ?? "").join("\n");
			if (isError) throw new Error(`playwright-mcp ${name}: ${text}`);
			return text;
		},
		async close() {
			child.stdin.end();
			child.kill();
			await new Promise((resolve) => (child.exitCode !== null || child.signalCode !== null ? resolve() : child.once("exit", resolve)));
			fs.rmSync(directory, { recursive: true, force: true });
		},
	};
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
