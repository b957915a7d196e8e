import fs from "node:fs";
import { describe, expect, test } from "vitest";
import { CLI, hasTmux, Terminal } from "../support/cli.js";
import { testRuntime, textOf, until } from "../support/home.js";

const holdfast = (...args: string[]): string => [process.execPath, CLI, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");

describe.skipIf(!hasTmux)("at a person's terminal (needs tmux)", () => {
	test("attach shows the program, passes keys and sizes on, and detaches with Ctrl-]", async () => {
		const runtime = await testRuntime();
		const env = { HOLDFAST_HOME: runtime.home.root };
		const process = await runtime.spawn({
			command: "trap 'stty size' WINCH; stty size; while :; do read -r -t 0.1 line && echo \"got $line\"; done",
			terminal: { cols: 80, rows: 24 },
		});
		await process.wait({ until: { pattern: "24 80" }, timeout: 10_000 });
		const terminal = new Terminal(holdfast("attach", process.id), env);
		await terminal.shows("24 80");
		await terminal.shows("30 100");
		await terminal.type("hello", "Enter");
		await terminal.shows("got hello");
		await terminal.resize(90, 20);
		await process.wait({ until: { pattern: "20 90" }, timeout: 10_000 });
		const attached = () => fs.readdirSync(process.dir).some((name) => name.startsWith("attached."));
		expect(attached()).toBe(true); // so that nobody else answers what the program asks its terminal
		await terminal.type("C-]");
		await terminal.shows(`detached; ${process.id} goes on`);
		expect(attached()).toBe(false);
		expect(process.status().status).toBe("running");
	});

	test("two people attached to one process both see what either types", async () => {
		const runtime = await testRuntime();
		const env = { HOLDFAST_HOME: runtime.home.root };
		const process = await runtime.spawn({ command: "echo ready; cat", terminal: true });
		const [one, two] = [new Terminal(holdfast("attach", process.id), env), new Terminal(holdfast("attach", process.id), env)];
		await one.shows("ready");
		await two.shows("ready");
		await one.type("from one", "Enter");
		await two.shows("from one");
		await two.type("from two", "Enter");
		await one.shows("from two");
		await one.type("C-d");
		expect((await process.wait({ timeout: 10_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
	});

	test("run --pty is interactive, and its exit code is passed on", async () => {
		const runtime = await testRuntime();
		const terminal = new Terminal(`${holdfast("run", "--pty", "--", "read -p 'name? ' n; echo hello $n; exit 5")}; echo code $?`, {
			HOLDFAST_HOME: runtime.home.root,
		});
		await terminal.shows("name?");
		await terminal.type("Ada", "Enter");
		await terminal.shows("hello Ada");
		await terminal.shows("code 5");
	});

	test("Ctrl-C reaches the command; a second one kills it and its tree", async () => {
		const runtime = await testRuntime();
		const env = { HOLDFAST_HOME: runtime.home.root };
		const polite = new Terminal(`${holdfast("run", "--", "trap 'echo bye; exit 4' INT; echo ready; while :; do sleep 0.1; done")}; echo code $?`, env);
		await polite.shows("ready");
		await polite.type("C-c");
		await polite.shows("bye");
		await polite.shows("code 4");
		const deaf = new Terminal(`${holdfast("run", "--", "trap 'echo heard' INT; echo ready; while :; do sleep 0.1; done")}; echo code $?`, env);
		await deaf.shows("ready");
		await deaf.type("C-c");
		await deaf.shows("heard"); // two signals of a kind that come at once are one
		await deaf.type("C-c");
		await deaf.shows("killing it");
		await deaf.shows(/code (143|137)/);
		expect(runtime.list({ ended: false })).toEqual([]);
	});

	test("a full-screen program can be used through attach and is drawn anew for who comes later", async () => {
		const runtime = await testRuntime();
		const env = { HOLDFAST_HOME: runtime.home.root };
		const process = await runtime.spawn({ command: "seq 1 500 | LESS= less", terminal: { cols: 80, rows: 24 } });
		const first = new Terminal(holdfast("attach", process.id), env);
		await first.shows(/^29$/m);
		await first.type("G");
		await first.shows(/^500$/m);
		const second = new Terminal(holdfast("attach", process.id), env);
		await second.shows(/^500$/m);
		await second.type("q");
		expect((await process.wait({ timeout: 10_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
		await until("its log is whole", () => textOf(process).length > 0);
	});

	test("a table for people has colour, one in a pipe has none", async () => {
		const runtime = await testRuntime();
		await runtime.spawn({ command: "sleep 600", name: "sleeper" });
		const terminal = new Terminal(`${holdfast("ps")} | cat -v; ${holdfast("ps")} >/dev/tty; echo end`, { HOLDFAST_HOME: runtime.home.root });
		expect(await terminal.shows("end")).not.toContain("^[");
	});
});
