/** A terminal over its WebSocket: what comes, in which order, and what a viewer may do. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { MESSAGE_BYTES, WINDOW_BYTES } from "../../src/doors/http/messages.js";
import { startedSchema } from "../../src/doors/http/schemas.js";
import { CLI } from "../support/cli.js";
import { atEnd, ringSettles, testRuntime, textOf, until } from "../support/home.js";
import { apiAt, loginTo, overApi, Viewer } from "../support/http.js";
import { openRuntime } from "../support/internal.js";
import { testHome } from "../support/mcp.js";
import { freePort } from "../support/ports.js";

test("the screen at once, then what is printed; typed, resized and ended", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const process = await runtime.spawn({
		command: "printf 'one\\r\\ntwo'; read -r line; echo \"got $line\"; read -r; stty size; exit 3",
		terminal: { cols: 80, rows: 24 },
	});
	await process.wait({ until: { pattern: "two" }, timeout: 100_000 });
	const viewer = await Viewer.connect(api, process.id);
	viewer.send({ type: "open", offset: null });
	await viewer.until("the screen", () => viewer.last("screen"));
	expect(viewer.last("screen")).toMatchObject({ cols: 80, rows: 24, approximate: false, data: expect.stringMatching(/one\r\n.*two/) });
	viewer.send({ type: "input", data: "hello\r" });
	await viewer.until("a refusal", () => viewer.last("error"));
	expect(viewer.last("error")).toMatchObject({ code: "KEYBOARD" });
	await viewer.takeKeyboard();
	viewer.send({ type: "input", data: "hello\r" });
	await viewer.until("an answer", () => viewer.text.includes("got hello"));
	viewer.send({ type: "resize", cols: 90, rows: 20 });
	await viewer.until("the new size", () => viewer.last("size"));
	expect(viewer.last("size")).toMatchObject({ cols: 90, rows: 20 });
	viewer.send({ type: "input", data: "\r" });
	await viewer.until("the end", () => viewer.last("ended"));
	expect(viewer.text).toContain("20 90");
	expect(viewer.last("ended")?.process).toMatchObject({ status: "exited", exit_code: 3 });
	expect(textOf(process).endsWith(viewer.text)).toBe(true);
});

test("the server is killed in the middle of a flood: another one goes on at the offset, nothing missing or doubled", async () => {
	const home = testHome();
	const first = await served(home, await freePort());
	const spawned = await first.api.call(startedSchema, "POST", "/api/processes", {
		command: 'stty -echo; read -r; for i in $(seq 60); do seq $((i * 1000)) $((i * 1000 + 999)); done; read -r line; echo "end $line"',
		task: "flood",
	});
	const login = await loginTo(first.api);
	const before = await Viewer.connect(first.api, spawned.session_id, login);
	before.send({ type: "open", offset: 0 });
	await before.takeKeyboard();
	before.send({ type: "input", data: "\r" });
	await before.until("some of it", () => before.output.length > 20_000);
	first.child.kill("SIGKILL");
	await before.until("cut off", () => before.closed);

	const second = await served(home, first.port); // the cookie is for this port, and lives through the restart
	const after = await Viewer.connect(second.api, spawned.session_id, login);
	after.send({ type: "open", offset: before.output.length });
	await after.until("opened", () => after.last("keyboard"));
	expect(after.last("keyboard")).toMatchObject({ keyboard: null, mine: false }); // the first one's hold on it died with it
	await after.takeKeyboard();
	after.send({ type: "input", data: "well\r" });
	await after.until("the end", () => after.last("ended"));
	const runtime = await openRuntime({ home, warm: 0 });
	atEnd(() => runtime.close());
	const log = runtime.get(spawned.session_id).read(0, 10_000_000).bytes;
	expect(Buffer.concat([before.output, after.output]).equals(log)).toBe(true);
	expect(log.toString().trim().endsWith("60999\r\nend well")).toBe(true);
});

test("a stalled viewer is sent no more than the window and slows no other viewer; later it gets the rest", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const process = await runtime.spawn({ command: "seq 300000", terminal: true });
	const stalled = await Viewer.connect(api, process.id);
	stalled.acks = false;
	stalled.send({ type: "open", offset: 0 });
	const other = await Viewer.connect(api, process.id);
	other.send({ type: "open", offset: 0 });
	await other.until("the end", () => other.last("ended"));
	expect(other.output.length).toBe(process.log.bounds().end);
	await stalled.until("the window is full", () => stalled.output.length >= WINDOW_BYTES);
	expect(stalled.output.length).toBe(WINDOW_BYTES);
	stalled.send({ type: "ack", offset: 10 ** 12 }); // of what was never sent
	stalled.send({ type: "ack", offset: 100_000 });
	await stalled.until("as much more", () => stalled.output.length >= WINDOW_BYTES + 100_000);
	expect(stalled.output.length).toBe(WINDOW_BYTES + 100_000);
	stalled.send({ type: "open", offset: null }); // to the present
	await stalled.until("the screen", () => stalled.last("screen"));
	expect(stalled.last("screen")?.data).toContain("300000");
	await stalled.until("the end", () => stalled.last("ended"));
});

test("a client that sends requests and never reads is disconnected before it fills the memory", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const process = await runtime.spawn({ command: "seq 200000; exec cat" });
	await process.wait({ until: { pattern: "200000\n" }, timeout: 100_000 });
	const viewer = await Viewer.connect(api, process.id);
	viewer.socket.pause();
	const refused = new Promise((resolve) => {
		const ask = () => viewer.socket.send('{"type":"open","offset":0}', (error) => error && resolve(error));
		const asking = setInterval(ask, 2);
		atEnd(() => clearInterval(asking));
	});
	expect(await refused).toBeInstanceOf(Error);
	const other = await Viewer.connect(api, process.id);
	other.send({ type: "open", offset: 0 });
	await other.until("it is all there for others", () => other.text.endsWith("200000\n"));
});

test("where the log has dropped something the viewer is told from where to where, and gets the rest", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const process = await runtime.spawn({ command: "seq 60000", log: { limit: 128 * 1024 } });
	await process.wait({ timeout: 100_000 });
	await ringSettles(process, 128 * 1024);
	const { first, end } = process.log.bounds();
	expect(first).toBeGreaterThan(0);
	const viewer = await Viewer.connect(api, process.id);
	viewer.send({ type: "open", offset: 0 });
	await viewer.until("the end", () => viewer.last("ended"));
	expect(viewer.last("gap")).toEqual({ type: "gap", from: 0, to: first });
	expect([viewer.start, viewer.start + viewer.output.length, viewer.text]).toEqual([first, end, textOf(process)]);
});

test("malformed, oversized and binary frames close the connection and nothing else", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const process = await runtime.spawn({ command: "cat", terminal: true });
	const bad: [string | Buffer, number][] = [
		["{", 4400],
		['{"type":"open"}', 4400],
		['{"type":"open","offset":-1}', 4400],
		['{"type":"input","data":""}', 4400],
		['{"type":"rm","data":"x"}', 4400],
		[`{"type":"input","data":"${"x".repeat(100_001)}"}`, 4400],
		[`"${"x".repeat(MESSAGE_BYTES)}"`, 1009],
		[Buffer.from("input"), 1003],
	];
	for (const [frame, code] of bad) {
		const viewer = await Viewer.connect(api, process.id);
		viewer.socket.send(frame);
		await viewer.until("closed", () => viewer.closed);
		expect([frame.toString().slice(0, 40), viewer.closed?.code]).toEqual([frame.toString().slice(0, 40), code]);
	}
	const viewer = await Viewer.connect(api, process.id);
	viewer.send({ type: "open", offset: 5_000 });
	await viewer.until("a refusal", () => viewer.last("error"));
	expect(viewer.last("error")).toMatchObject({ code: "INVALID" });
	viewer.send({ type: "open", offset: 0 });
	await viewer.until("opened", () => viewer.last("opened"));
	expect(process.status().status).toBe("running");
	await viewer.takeKeyboard();
	await process.kill();
	await viewer.until("the end", () => viewer.last("ended"));
	expect(viewer.last("keyboard")).toMatchObject({ keyboard: null, mine: false }); // there is nothing left to type at
	viewer.send({ type: "keyboard", action: "take" });
	await viewer.until("a refusal", () => viewer.last("error")?.code === "ENDED");
	await until("it is forgotten", () => runtime.prune({ olderThanMs: 0 }).removed.includes(process.id));
	await viewer.until("closed", () => viewer.closed);
	expect(viewer.closed?.code).toBe(4404);
});

test("the first screen of a long log is drawn from its end, and put right when the rest says otherwise", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	// The title and the region that scrolls were set long ago.
	const process = await runtime.spawn({ command: "printf '\\033]0;named\\007\\033[5;20r'; seq 200000; cat", terminal: { cols: 80, rows: 24 } });
	await process.wait({ until: { pattern: "200000\r\n" }, timeout: 100_000 });
	const viewer = await Viewer.connect(api, process.id);
	viewer.send({ type: "open", offset: null });
	await viewer.until("a screen", () => viewer.last("screen"));
	const first = viewer.messages.find(({ type }) => type === "screen"); // the right one may have come with it
	expect(first).toMatchObject({ approximate: true, data: expect.stringContaining("200000") });
	await viewer.until("the right one", () => viewer.last("screen")?.approximate === false);
	expect(viewer.last("screen")).toMatchObject({ title: "named", offset: process.log.bounds().end });
	const again = await Viewer.connect(api, process.id);
	again.send({ type: "open", offset: null });
	await again.until("a screen", () => again.last("screen"));
	expect(again.last("screen")).toMatchObject({ approximate: false, title: "named" });
});

/** `holdfast serve` as a program of its own. */
async function served(home: string, port: number) {
	const child = spawn(process.execPath, [CLI, "serve", "--json", "--home", home, "--port", String(port)], { stdio: ["ignore", "pipe", "inherit"] });
	atEnd(() => void child.kill("SIGKILL"));
	const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
	const { origin, token_file } = JSON.parse(line) as { origin: string; token_file: string };
	return { child, api: apiAt(origin, fs.readFileSync(token_file, "utf8").trim()), port: Number(new URL(origin).port) };
}
