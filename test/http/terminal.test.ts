/** A terminal over its WebSocket: what comes, in which order, and what a viewer may do. */
import { expect, test } from "vitest";

import { testRuntime, textOf } from "../support/home.js";
import { overApi, Viewer } from "../support/http.js";

test("the screen at once, then what is printed; typed, resized and ended", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const process = await runtime.spawn({
		command: "printf 'one\\r\\ntwo'; read -r line; echo \"got $line\"; read -r; stty size; exit 3",
		terminal: { cols: 80, rows: 24 },
	});
	await process.wait({ until: { pattern: "two" }, timeout: 10_000 });
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
