/** `screen.json`: there to save time, never to be relied on. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { LiveScreen, readScreen } from "../../src/screen/index.js";
import { testRuntime } from "../support/home.js";
import type { Process } from "../support/internal.js";
import { lookUntil, onTerminal, screenWhenWaiting } from "./programs.js";

const fileOf = (process: Process) => path.join(process.dir, "screen.json");
const load = (process: Process) => JSON.parse(fs.readFileSync(fileOf(process), "utf8"));
const save = (process: Process, snapshot: unknown) => fs.writeFileSync(fileOf(process), typeof snapshot === "string" ? snapshot : JSON.stringify(snapshot));

/** More than two MiB, then something to look at, on the alternate screen, in unusual modes. */
const LONG = `printf '\\033]2;long\\007normal\\n\\033[?1049h\\033[?2004h\\033[?1h'; seq 350000; printf '\\033[5;20r\\033[3;7Hhere'; read -r x`;

test("a long log is replayed once, and then only from the snapshot on", async () => {
	const runtime = await testRuntime();
	const process = await onTerminal(runtime, LONG);
	const view = await screenWhenWaiting(process);
	expect(view).toMatchObject({ alt_screen: true, title: "long", cursor: { row: 2, col: 10 }, modes: { bracketedPaste: true, applicationCursor: true } });
	expect(view.screen).toMatch(/\n349980here\n.*350000$/s);

	const snapshot = load(process);
	expect(snapshot).toMatchObject({ v: 1, cols: 80, rows: 24, title: "long", modes: { bracketedPaste: true } });
	expect(snapshot.offset).toBeGreaterThan(1024 * 1024);
	expect(fs.statSync(fileOf(process)).mode & 0o777).toBe(0o600);
	expect(fs.readdirSync(process.dir).filter((name) => name.startsWith("screen.json"))).toEqual(["screen.json"]);

	const other = await testRuntime({ home: runtime.home.root });
	expect(await readScreen(other.get(process.id))).toEqual(view);

	save(process, { ...snapshot, offset: view.offset, state: "made up" });
	expect((await readScreen(process)).screen).toBe("made up"); // so it is really used
});

test("a snapshot that cannot be used is ignored", async () => {
	const process = await onTerminal(await testRuntime(), LONG);
	const view = await screenWhenWaiting(process);
	const snapshot = load(process);
	const wrong = { ...snapshot, offset: view.offset, state: "wrong" };
	for (const bad of [
		"",
		"{",
		JSON.stringify(wrong).slice(0, -3),
		"null",
		{ ...wrong, v: 2 },
		{ ...wrong, cols: 0 },
		{ ...wrong, offset: view.offset + 1 },
		{ v: 1 },
	]) {
		save(process, bad);
		expect(await readScreen(process)).toEqual(view);
	}
	fs.rmSync(fileOf(process));
	fs.mkdirSync(fileOf(process)); // nor can one be written here
	expect(await readScreen(process)).toEqual(view);
});

test("a size that is set after a snapshot counts, also at the same offset", async () => {
	const process = await onTerminal(await testRuntime(), "stty -echo; seq 350000; printf last; read -r x; stty size; read -r x");
	const view = await screenWhenWaiting(process);
	const live = new LiveScreen(process);
	await live.read();
	const snapshot = load(process);
	save(process, { ...snapshot, offset: view.offset, state: "frozen here" });
	await process.resize(50, 20);
	await lookUntil(live, ({ cols }) => cols === 50);
	await process.write("\n");
	await process.wait({ until: { pattern: "20 50" }, timeout: 100_000 });
	expect(await readScreen(process)).toMatchObject({ cols: 50, rows: 20, screen: expect.stringMatching(/^frozen here/) });
	expect(await live.read()).toMatchObject({ cols: 50, rows: 20, screen: expect.stringMatching(/last20 50$/) });
	live.dispose();
});

test("when the ring has dropped the beginning, the screen starts at the oldest output there is", async () => {
	const process = await onTerminal(await testRuntime(), "printf '\\033[?1049h'; seq 100000; read -r x", { log: { limit: 64 * 1024 } });
	const view = await screenWhenWaiting(process);
	expect(process.log.bounds().first).toBeGreaterThan(0);
	expect(view).toMatchObject({ cursor: { row: 23, col: 0 }, offset: process.log.bounds().end });
	expect(view.screen).toMatch(/^99978\n.*\n100000$/s);
	save(process, { v: 1, offset: 10, resized: 0, cols: 80, rows: 24, state: "old", modes: {}, title: "" });
	expect(await readScreen(process)).toEqual(view);
});

test("a live screen that the ring has overtaken goes on from the oldest output", async () => {
	const process = await onTerminal(await testRuntime(), "printf 'first\\033]0;half a title'; read -r x; seq 100000; read -r x", { log: { limit: 64 * 1024 } });
	const live = new LiveScreen(process);
	await process.wait({ until: { pattern: "half a title" }, timeout: 100_000 });
	expect((await live.read()).screen).toBe("first");
	await process.write("\n");
	await process.wait({ until: { pattern: "^100000\r\n" }, timeout: 100_000 }); // the end of the line scrolls once more
	expect((await live.read()).screen).toMatch(/^99978\n.*\n100000$/s);
	live.dispose();
});
