import { expect, test } from "vitest";
import { encodeKeys, LiveScreen, readScreen } from "../../src/screen/index.js";
import { testRuntime } from "../support/home.js";
import { lookUntil, missing, onTerminal, screenWhenWaiting, screenWith, which } from "./programs.js";

const PLAIN = { applicationCursor: false, applicationKeypad: false, bracketedPaste: false, focusEvents: false, mouse: "none" };

test("shows text, without colours, where the cursor is, and for which offset", async () => {
	const process = await onTerminal(await testRuntime(), "printf 'one\\n\\033[1;31mtwo\\033[0m  \\n\\nname: '; read -r x");
	const view = await screenWhenWaiting(process);
	expect(view).toEqual({
		screen: "one\ntwo\n\nname:",
		cursor: { row: 3, col: 6 },
		alt_screen: false,
		title: "",
		cols: 80,
		rows: 24,
		modes: PLAIN,
		offset: process.log.bounds().end,
	});
});

test("wraps long lines, scrolls, and never leaves the screen with its cursor", async () => {
	const runtime = await testRuntime();
	const long = await onTerminal(runtime, "printf '%0.s.' $(seq 85); echo; printf '%0.s=' $(seq 80); read -r x", { terminal: { cols: 80, rows: 5 } });
	expect(await screenWhenWaiting(long)).toMatchObject({ screen: `${".".repeat(80)}\n.....\n${"=".repeat(80)}`, cursor: { row: 2, col: 79 } });
	const many = await onTerminal(runtime, "seq 100; read -r x", { terminal: { cols: 80, rows: 5 } });
	expect(await screenWhenWaiting(many)).toMatchObject({ screen: "97\n98\n99\n100", cursor: { row: 4, col: 0 } });
});

test("wide and combined characters keep their places; a character cut in two pieces of the log is one", async () => {
	const process = await onTerminal(await testRuntime(), "stty -echo; printf '日本|e\\xcc\\x81|'; printf '\\xe2\\x82'; read -r x; printf '\\xac|'; read -r x");
	const live = new LiveScreen(process);
	await screenWhenWaiting(process);
	expect((await live.read()).screen).toBe("日本|e\u0301|");
	await process.write("\n");
	await process.wait({ until: { pattern: "€" }, timeout: 100_000 });
	expect((await live.read()).screen).toContain("日本|e\u0301|");
	expect((await live.read()).screen).toContain("€|");
	live.dispose();
});

test("modes and the title are as the program has set them", async () => {
	const process = await onTerminal(await testRuntime(), "printf '\\033[?1h\\033=\\033[?2004h\\033[?1004h\\033[?1002h\\033]2;my title\\007ready'; read -r x");
	expect(await screenWhenWaiting(process)).toMatchObject({
		title: "my title",
		modes: { applicationCursor: true, applicationKeypad: true, bracketedPaste: true, focusEvents: true, mouse: "drag" },
	});
});

test.skipIf(!which("less"))(`less is on the alternate screen, and takes it away when it leaves${missing("less")}`, async () => {
	const process = await onTerminal(await testRuntime(), "echo before; seq 100 | less; echo after; read -r x");
	const view = await screenWhenWaiting(process);
	expect(view).toMatchObject({ alt_screen: true, cursor: { row: 23, col: 1 } });
	expect(view.screen).toBe(`${Array.from({ length: 23 }, (_, row) => row + 1).join("\n")}\n:`);
	await process.write(encodeKeys("<SPACE>", view.modes));
	expect((await screenWhenWaiting(process)).screen).toMatch(/^24\n/);
	await process.write("q");
	expect(await screenWith(process, "after")).toMatchObject({ alt_screen: false, screen: expect.stringMatching(/^before\nafter$/) });
});

test.skipIf(!which("vim"))(`vim can be used through its screen and keys${missing("vim")}`, async () => {
	const process = await onTerminal(await testRuntime(), "vim -u NONE -N file; cat file");
	const view = await screenWhenWaiting(process);
	expect(view).toMatchObject({ alt_screen: true, cursor: { row: 0, col: 0 } });
	expect(view.screen).toMatch(/^\n~\n~/);
	await process.write(encodeKeys("ihello<ENTER>wörld<ESC><UP>", view.modes));
	const typed = await screenWhenWaiting(process);
	expect(typed.screen).toMatch(/^hello\nwörld\n~/);
	expect(typed.cursor).toEqual({ row: 0, col: 4 });
	await process.write(encodeKeys(":wq<ENTER>", typed.modes));
	await process.wait({ timeout: 100_000 });
	const left = await readScreen(process);
	expect(left).toMatchObject({ alt_screen: false, screen: expect.stringContaining("hello\nwörld") });
});

test("a new size counts from where it was set", async () => {
	const process = await onTerminal(await testRuntime(), "stty -echo; printf '%0.sa' $(seq 50); read -r x; printf '\\n%0.sb' $(seq 50); stty size; read -r x", {
		terminal: { cols: 40, rows: 10 },
	});
	const live = new LiveScreen(process);
	await screenWhenWaiting(process);
	expect(await live.read()).toMatchObject({ cols: 40, rows: 10, screen: `${"a".repeat(40)}\n${"a".repeat(10)}` });
	await process.resize(60, 12);
	await lookUntil(live, ({ cols }) => cols === 60);
	await process.write("\n");
	const after = await screenWith(process, "12 60\r\n"); // to the end of the line, which may come a moment later
	expect(after).toMatchObject({ cols: 60, rows: 12 });
	expect(after.screen).toContain("\nb12 60");
	expect(await live.read()).toEqual(after);
	live.dispose();
});

test("another runtime sees the same screen, also when the process has ended", async () => {
	const runtime = await testRuntime();
	const process = await onTerminal(runtime, "printf 'hello \\033[7mworld\\033[0m\\n'; read -r x; echo bye");
	const view = await screenWhenWaiting(process);
	const other = await testRuntime({ home: runtime.home.root });
	expect(await readScreen(other.get(process.id))).toEqual(view);
	await process.write("\n");
	await process.wait({ timeout: 100_000 });
	expect((await readScreen(other.get(process.id))).screen).toBe("hello world\n\nbye");
});

test("a live screen follows from look to look; several looks at once agree", async () => {
	const process = await onTerminal(await testRuntime(), 'stty -echo; while read -r line; do echo "got $line"; done');
	using live = new LiveScreen(process);
	for (const word of ["one", "two", "three"]) {
		await process.write(`${word}\n`);
		await process.wait({ until: { pattern: `got ${word}\r\n` }, timeout: 100_000 }); // to the end of the line: nothing more comes
		const views = await Promise.all([live.read(), live.read(), readScreen(process)]);
		expect(views[1]).toEqual(views[0]);
		expect(views[2]).toEqual(views[0]);
		expect(views[0].screen).toMatch(new RegExp(`got ${word}$`));
	}
});

test("a closed screen says so", async () => {
	const process = await onTerminal(await testRuntime(), "echo hi; read -r x");
	const live = new LiveScreen(process);
	const looking = live.read();
	live.dispose();
	live.dispose();
	await expect(looking).rejects.toMatchObject({ code: "ABORTED" });
	await expect(live.read()).rejects.toMatchObject({ code: "ABORTED" });
});

test("a process without a terminal has no screen", async () => {
	const process = await (await testRuntime()).spawn({ command: "true" });
	await expect(readScreen(process)).rejects.toMatchObject({ code: "NO_TERMINAL" });
	await process.wait({ timeout: 100_000 });
});

test("the screen of a program that never stops printing can be read", async () => {
	const process = await onTerminal(await testRuntime(), "yes");
	await process.wait({ until: { pattern: "y\r\ny" }, timeout: 100_000 });
	expect((await readScreen(process)).screen).toMatch(/^y\n/);
});
