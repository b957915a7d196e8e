/** The browser tools and web_extract: tokens of a snapshot, time from a click to the next snapshot, and the memory that a large page takes. */
import fs from "node:fs";
import http from "node:http";
import { openRuntime } from "holdfast";
import { chromium } from "playwright-core";
import { findBrowser, profileOf } from "../browser/dist/chrome/index.js";
import { compact } from "../browser/dist/drive/index.js";
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
	for (const name of Object.keys(PAGES)) {
		await page.goto(`${base}/${name}`);
		const theirs = await page.ariaSnapshot({ mode: "ai" });
		const html = await page.content();
		const baselines = [
			{ name: "raw HTML", value: tokens(html) },
			{ name: "playwright's snapshot (that of playwright-mcp)", value: tokens(theirs) },
		];
		rows.push(row({ what: `snapshot of a page: ${name}`, value: tokens(compact(theirs)), unit: "tokens", baselines, target: atMost(1) }));
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

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
