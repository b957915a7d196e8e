/** The page in a real Chromium: keys to their echo, alone and in a crowd; the first screen of a long log; how much has to be loaded. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import WebSocket from "ws";
import { byTurns, median, percentile } from "./lib.mjs";
import { plainPage } from "./plain-page.mjs";
import { atMost, missingRow, row } from "./report.mjs";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
export const CHROMIUM = "/usr/bin/chromium";
const READER = "stty -icanon min 1; cat >/dev/null"; // key by key: the line buffer of a terminal would be full after 4096
const SIZE = { cols: 80, rows: 24 };
const VIEWERS = 50;
const LONG = "seq -f 'line %010.0f of a log that is very, very long....' 1 1250000; printf 'the end'";

/** In the page: types one key as a person would, and gives the ms until its echo is on the terminal. */
const KEY = (terminal) => `new Promise((resolve) => {
	const begun = performance.now();
	const echo = ${terminal}.onWriteParsed(() => { echo.dispose(); resolve(performance.now() - begun); });
	${terminal}.input("x", true);
})`;

export default async function page(bench) {
	if (!fs.existsSync(CHROMIUM)) return [missingRow("the page", "no /usr/bin/chromium"), weight()];
	const runtime = await bench.runtime("page");
	const server = await serve(bench, runtime.home.root);
	const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
	bench.atEnd(() => browser.close());
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
	const terminalOf = (id) => open(context, server, id);

	const reader = await runtime.spawn({ command: READER, terminal: SIZE });
	const mine = await terminalOf(reader.id);
	await take(mine);
	const plain = await plainPage(bench, browser, READER, SIZE);
	const contestants = [
		{ name: "holdfast", time: () => mine.evaluate(KEY("holdfast.pane.terminal")) },
		...(plain.missing ? [] : [{ name: "plain", time: () => plain.page.evaluate(KEY("terminal")) }]),
	].map((contestant) => ({ ...contestant, block: bench.count(20, 10), gap: 5 }));
	const type = () => byTurns(bench.count(5, 2), contestants);
	await type(); // warm
	const alone = await type();

	const others = await Promise.all(Array.from({ length: VIEWERS }, () => view(server, reader.id)));
	const crowded = await type();
	const seen = new Set(others.map(({ end }) => end()));
	for (const { socket } of others) socket.close();

	const yes = await runtime.spawn({ command: "yes", terminal: SIZE });
	const flooded = await terminalOf(yes.id);
	const stopPlain = plain.missing ? undefined : await plain.flood();
	const besideYes = await type();
	await stopPlain?.();
	await flooded.close();
	await yes.kill({ graceMs: 0 });

	const long = await runtime.spawn({ command: LONG });
	const drawn = await runtime.spawn({ command: LONG, terminal: SIZE });
	const short = await runtime.spawn({ command: "printf 'the end'" });
	await Promise.all([long, drawn, short].map((kept) => kept.wait()));
	const firsts = await byTurns(
		bench.count(5, 2),
		Object.entries({ long, drawn, short }).map(([name, { id }]) => ({ name, time: () => firstScreen(mine, id), block: 1, gap: 50 })),
	);

	const baseline = (times, of = median) => [
		plain.missing ? { name: "node-pty + ws + xterm.js", missing: plain.missing } : { name: "node-pty + ws + xterm.js", value: of(times.plain) },
	];
	const p90 = (values) => percentile(values, 0.9);
	const ms = (what, value, more) => row({ what, value, unit: "ms", ...more });
	return [
		ms("key to its echo in the page", median(alone.holdfast), { baselines: baseline(alone), target: atMost(2) }),
		ms("the same, p90", p90(alone.holdfast), { baselines: baseline(alone, p90) }),
		ms("with `yes` in another terminal of the browser, both sides", median(besideYes.holdfast), { baselines: baseline(besideYes), target: atMost(3) }),
		ms("with 50 more viewers of the terminal", median(crowded.holdfast), {
			baselines: [{ name: "alone", value: median(alone.holdfast) }],
			note: seen.size === 1 ? "all saw the same" : `they saw ${seen.size} different ends`,
		}),
		ms("first screen of a log of 64 MiB", median(firsts.long), { baselines: [{ name: "a log of 7 bytes", value: median(firsts.short) }], target: atMost(3) }),
		ms("the same on a terminal", median(firsts.drawn), { baselines: [{ name: "a log of 7 bytes", value: median(firsts.short) }], target: atMost(3) }),
		weight(),
	];
}

export async function serve(bench, home, env = process.env) {
	const child = spawn(process.execPath, [path.join(ROOT, "dist/bin/holdfast.js"), "serve", "--port", "0", "--json"], {
		env: { ...env, HOLDFAST_HOME: home },
		stdio: ["ignore", "pipe", "inherit"],
	});
	const ended = new Promise((resolve) => child.once("close", resolve));
	bench.atEnd(async () => {
		child.kill("SIGTERM");
		await ended;
	});
	let said = "";
	const greeting = await new Promise((resolve, reject) => {
		child.stdout.on("data", (text) => {
			said += text;
			try {
				resolve(JSON.parse(said));
			} catch {
				// not all of it yet
			}
		});
		ended.then(() => reject(new Error(`holdfast serve ended: ${said}`)));
	});
	return { ...greeting, token: fs.readFileSync(greeting.token_file, "utf8").trim() };
}

async function open(context, { url, origin }, id) {
	const page = await context.newPage();
	await page.goto(context.pages().length > 1 ? `${origin}/#/p/${id}` : url);
	await page.getByRole("navigation", { name: "Terminals" }).waitFor();
	await firstScreen(page, id, "");
	return page;
}

async function take(page) {
	await page.evaluate(`localStorage.setItem("holdfast.fit", "no")`);
	await page.getByRole("button", { name: "Take the keyboard" }).click();
	await page.getByText("You have the keyboard.").waitFor();
}

/** From following the link to the text on the terminal, counted in the page. */
const firstScreen = (page, id, text = "the end") =>
	page.evaluate(`new Promise((resolve) => {
		location.hash = "#/";
		setTimeout(() => {
			const begun = performance.now();
			location.hash = "#/p/${id}";
			const { port1, port2 } = new MessageChannel();
			port1.onmessage = () => {
				const view = window.holdfast;
				const { active } = view?.pane?.terminal?.buffer ?? {};
				const there = view?.detail?.session_id === "${id}" && view.live.ready.value && Array.from({ length: active.length }, (_, at) => active.length - 1 - at).slice(0, 60).some((at) => active.getLine(at)?.translateToString(true).includes(${JSON.stringify(text)}));
				if (there) resolve(performance.now() - begun);
				else setTimeout(() => port2.postMessage(0), 1);
			};
			port2.postMessage(0);
		}, 100);
	})`);

/** A viewer that reads everything, without a browser around it. */
async function view({ origin, token }, id) {
	const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
	const answer = await fetch(`${origin}/api/tickets`, { method: "POST", headers, body: JSON.stringify({ for: "terminal", session_id: id }) });
	const socket = new WebSocket(new URL((await answer.json()).url, origin.replace("http", "ws")), { origin });
	let end = 0;
	await new Promise((resolve, reject) => {
		socket.once("error", reject);
		socket.on("open", () => socket.send(JSON.stringify({ type: "open", offset: null })));
		socket.on("message", (data, binary) => {
			if (binary) {
				end = Number(data.readBigUInt64BE(0)) + data.length - 16; // a few bytes in all: nothing that needs to be acknowledged
			} else if (JSON.parse(data).type === "opened") resolve();
		});
	});
	return { socket, end: () => end };
}

/** All that is loaded but xterm.js with its add-ons, and its styles. */
function weight() {
	const assets = path.join(ROOT, "dist/web/assets");
	const files = [path.join(ROOT, "dist/web/index.html"), ...fs.readdirSync(assets).map((name) => path.join(assets, name))];
	const ours = files.filter((file) => !/\/create-[^/]+$/.test(file));
	const bytes = ours.reduce((sum, file) => sum + gzipSync(fs.readFileSync(file), { level: 9 }).length, 0);
	return row({ what: "the page without xterm.js, gzip", value: bytes / 1024, unit: "KB", target: atMost(100, "KB") });
}
