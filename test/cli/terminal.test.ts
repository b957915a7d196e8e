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
		await process.wait({ until: { pattern: "24 80" }, timeout: 100_000 });
		const terminal = new Terminal(holdfast("attach", process.id), env);
		await terminal.shows("24 80");
		await terminal.shows("30 100");
		await terminal.type("hello", "Enter");
		await terminal.shows("got hello");
		await terminal.resize(90, 20);
		await process.wait({ until: { pattern: "20 90" }, timeout: 100_000 });
		const attached = () => fs.readdirSync(process.dir).some((name) => name.startsWith("attached."));
		expect(attached()).toBe(true); // so that nobody else answers what the program asks its terminal
		await terminal.type("C-]");
		await terminal.shows(`detached; ${process.id} goes on`);
		expect(attached()).toBe(false);
		expect(process.status().status).toBe("running");
	});

	test("attach --read-only sends no key and leaves the size alone", async () => {
		const runtime = await testRuntime();
		const process = await runtime.spawn({ command: "echo ready; read -r line; stty size; cat", terminal: { cols: 90, rows: 20 } });
		const looking = new Terminal(holdfast("attach", "--read-only", process.id), { HOLDFAST_HOME: runtime.home.root });
		await looking.shows("ready");
		await looking.type("typed", "Enter");
		await runtime.process({ action: "submit", session_id: process.id, data: "the agent's" });
		await looking.shows("20 90");
		await looking.type("C-]");
		await looking.shows(`detached; ${process.id} goes on`);
		expect(textOf(process)).not.toContain("typed");
	});

	test("an answer that the terminal gives by itself does not take the keyboard; a key does", async () => {
		const runtime = await testRuntime();
		const env = { HOLDFAST_HOME: runtime.home.root };
		// It asks what the terminal is, as vim does, and shows the answer.
		const again = await runtime.spawn({
			command: "read -r x; stty raw -echo; printf '\\033[c'; dd bs=1 count=3 2>/dev/null | od -An -c; stty sane; cat",
			terminal: true,
		});
		const attached = new Terminal(holdfast("attach", again.id), env);
		await until("it is attached", () => fs.readdirSync(again.dir).some((name) => name.startsWith("attached.")));
		expect(await runtime.process({ action: "submit", session_id: again.id, data: "go" })).toMatchObject({ error: null });
		await attached.shows("033   [");
		expect(await runtime.process({ action: "submit", session_id: again.id, data: "still the agent's" })).toMatchObject({ error: null });
		await attached.type("x");
		await until("a key has taken it", () => fs.readdirSync(again.dir).some((name) => name.startsWith("keyboard")));
		expect(await runtime.process({ action: "submit", session_id: again.id, data: "refused" })).toMatchObject({ error: expect.stringContaining("keyboard") });
	});

	test("logs lets no escape sequence of a process act on the terminal; --raw does", async () => {
		const runtime = await testRuntime();
		const evil = await runtime.spawn({ command: "printf 'before\\033]0;evil title\\007\\033[6n\\033[2J\\033[31mafter\\n'", terminal: true });
		await evil.wait({ timeout: 100_000 });
		const show = async (...args: string[]) => {
			const shown = await runtime.spawn({ command: `${holdfast("logs", evil.id, ...args, "--home", runtime.home.root)}`, terminal: true });
			await shown.wait({ timeout: 100_000 });
			return textOf(shown);
		};
		expect(await show()).toBe("before\x1b[31mafter\r\r\n\x1b[0m");
		expect(await show("--raw")).toContain("\x1b]0;evil title");
	});

	test("run --background tells a person at once of a command that is not there", async () => {
		const runtime = await testRuntime();
		const run = await runtime.spawn({ command: holdfast("run", "--background", "--home", runtime.home.root, "--", "no-such-program-here"), terminal: true });
		await run.wait({ timeout: 100_000 });
		expect(textOf(run)).toMatch(/it has ended already: .*127[\s\S]*no-such-program-here/);
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
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
	});

	test("run takes a terminal when it is on one, is interactive, and passes the exit code on; --no-pty takes none", async () => {
		const runtime = await testRuntime();
		const terminal = new Terminal(
			`${holdfast("run", "--no-pty", "--", "tty")}; ${holdfast("run", "--", "read -p 'name? ' n; echo hello $n; exit 5")}; echo code $?`,
			{
				HOLDFAST_HOME: runtime.home.root,
			},
		);
		expect(await terminal.shows("name?")).toContain("not a tty");
		await terminal.type("Ada", "Enter");
		await terminal.shows("hello Ada");
		await terminal.shows("code 5");
	});

	test("Ctrl-C reaches the command; a second one kills it and its tree", async () => {
		const runtime = await testRuntime();
		const env = { HOLDFAST_HOME: runtime.home.root };
		const polite = new Terminal(
			`${holdfast("run", "--no-pty", "--", "trap 'echo bye; exit 4' INT; echo ready; while :; do sleep 0.1; done")}; echo code $?`,
			env,
		);
		await polite.shows("ready");
		await polite.type("C-c");
		await polite.shows("bye");
		await polite.shows("code 4");
		const deaf = new Terminal(`${holdfast("run", "--no-pty", "--", "trap 'echo heard' INT; echo ready; while :; do sleep 0.1; done")}; echo code $?`, env);
		await deaf.shows("ready");
		await deaf.type("C-c");
		await deaf.shows("heard"); // two signals of a kind that come at once are one
		await deaf.shows("Ctrl-C again kills it");
		await deaf.type("C-c");
		await deaf.shows("killing it");
		await deaf.shows(/code (143|137)/);
		expect(runtime.list({ ended: false })).toEqual([]);
	});

	test("a full-screen program works through attach and is redrawn for a later viewer", async () => {
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
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
		await until("its log is whole", () => textOf(process).length > 0);
	});

	test("shell opens a persistent shell, and its name leads back to it; it cannot be entered from inside", async () => {
		const runtime = await testRuntime();
		const env = { HOLDFAST_HOME: runtime.home.root, SHELL: "/bin/bash", PS1: "" };
		const again = `${holdfast("shell", "work")}; echo left $?; ${holdfast("shell", "work")}; echo ended $?`;
		const terminal = new Terminal(again, env);
		await terminal.shows("Ctrl-] leaves it running");
		await terminal.type("kept=here; echo $((40 + 2)) in it", "Enter");
		await terminal.shows(/^42 in it/m);
		await terminal.type("C-]");
		await terminal.shows("left 0");
		await until("the second one is attached", () =>
			runtime.list({ ended: false }).some(({ dir }) => fs.readdirSync(dir).some((name) => name.startsWith("attached."))),
		);
		await terminal.type("echo still $kept", "Enter");
		await terminal.shows(/^still here/m);
		await terminal.type(`HOLDFAST_HOME=${runtime.home.root} ${holdfast("attach", "work")}`, "Enter");
		await terminal.shows("itself, and would show");
		await terminal.type("exit 7", "Enter");
		await terminal.shows("ended 7");
		expect(runtime.list()).toMatchObject([{ spec: { name: "work" } }]);
	});

	test("attach without an id takes the only one; of several a person chooses", async () => {
		const runtime = await testRuntime();
		const env = { HOLDFAST_HOME: runtime.home.root };
		const first = await runtime.spawn({ command: "echo the first; cat", terminal: true, task: "one" });
		await runtime.spawn({ command: "sleep 1000" }); // has no terminal
		const only = new Terminal(holdfast("attach"), env);
		await only.shows(/^the first$/m); // printed, not in a list
		await runtime.spawn({ command: "echo the second; cat", terminal: true, name: "two", task: "two" });
		const chooser = new Terminal(holdfast("attach"), env);
		expect(await chooser.shows("Which one? [1-2")).toMatch(new RegExp(`1 +proc_\\w+ +two .*\n2 +${first.id} +one `));
		await chooser.type("1", "Enter");
		await chooser.shows(/^the second$/m);
		const none = new Terminal(`${holdfast("attach")}; echo code $?`, env);
		await none.shows("Which one?");
		await none.type("Enter");
		expect(await none.shows("code 2")).toContain("none was chosen");
	});

	test("a table for people has colour, one in a pipe has none", async () => {
		const runtime = await testRuntime();
		await runtime.spawn({ command: "sleep 600", name: "sleeper" });
		const terminal = new Terminal(`${holdfast("ps")} | cat -v; ${holdfast("ps")} >/dev/tty; echo end`, { HOLDFAST_HOME: runtime.home.root });
		expect(await terminal.shows("end")).not.toContain("^[");
	});
});
