/** The seats of unused tasks are forgotten; no other ever is. */
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { namesIn } from "../../src/base/files.js";
import { procDir } from "../../src/keeper/layout.js";
import { currentOf, Seat } from "../../src/shell/seat.js";
import { pruneSeats } from "../../src/shell/seats.js";
import { cli } from "../support/cli.js";
import { tempDir, testRuntime, until } from "../support/home.js";
import { testShell } from "./harness.js";

const DAY_MS = 86_400_000;

/** Makes all of them look unused for so long. */
function age(home: string, days: number): void {
	const then = Date.now() / 1000 - days * 86_400;
	for (const name of namesIn(path.join(home, "shells"))) fs.utimesSync(path.join(home, "shells", name), then, then);
}

test("a seat goes when its shell is forgotten and it was unused for 7 days; the task begins anew", async () => {
	const shell = await testShell();
	const { runtime } = shell;
	const { root } = runtime.home;
	const seats = () => namesIn(path.join(root, "shells")).length;
	const chores = runtime.chores.splice(0); // what the runtime does by itself now and then is done here by hand
	const current = () => currentOf(runtime, { task: shell.task, place: "local" }) as string;
	const end = () => runtime.get(current()).kill({ graceMs: 0 });
	const forgotten = () =>
		until("its shells are forgotten", () => {
			runtime.list({ task: null, shells: true }); // whoever looks notes that one has ended
			runtime.prune({ olderThanMs: 0, now: Date.now() + DAY_MS });
			return !fs.existsSync(procDir(runtime.home, current()));
		});
	await shell.run("cd /usr; x=1");
	age(root, 8);
	expect(pruneSeats(runtime)).toBe(0); // it lives
	await end(); // and has ended, but is kept, with its state
	age(root, 8);
	expect(pruneSeats(runtime)).toBe(0);
	expect((await shell.run("echo $x; pwd")).out).toBe("1\n/usr\n");
	await end();
	await forgotten();
	expect([pruneSeats(runtime), seats()]).toEqual([0, 1]); // it was used just now
	age(root, 8);
	expect(JSON.parse((await cli(root, ["prune", "--dry-run", "--json"])).stdout)).toMatchObject({ shells: 1, dry_run: true });
	expect(seats()).toBe(1);
	expect((await cli(root, ["prune"])).stdout).toMatch(/forgot 1 shell that ended long ago\n$/);
	expect(seats()).toBe(0);
	expect((await shell.run("echo ${x-none}; pwd")).out).toBe(`none\n${process.cwd()}\n`);
	expect(seats()).toBe(1);
	await end();
	await forgotten();
	age(root, 8);
	for (const chore of chores) chore();
	expect(seats()).toBe(0);
});

test("a seat in use is left alone; the remains of a killed program's seat are removed", async () => {
	const runtime = await testRuntime();
	const { root } = runtime.home;
	const seat = Seat.of(runtime, "task");
	expect(seat.take("command")).toBe(true);
	fs.mkdirSync(path.join(root, "shells", "0123456789ab.4711"));
	age(root, 8);
	expect(pruneSeats(runtime)).toBe(0);
	expect(namesIn(path.join(root, "shells"))).toHaveLength(1);
	seat.giveBack();
	age(root, 8);
	expect(pruneSeats(runtime)).toBe(1);
	expect(namesIn(path.join(root, "shells"))).toEqual([]);
	// A program that forgets a seat has come so far that the seat is empty.
	const [dir] = [path.join(root, "shells", "empty")];
	fs.mkdirSync(dir);
	const other = new Seat(runtime, dir);
	expect(other.take("command")).toBe(true);
	expect(new Seat(runtime, dir).take("another")).toBe(false);
});

test("programs that remove and take the same seat at the same time never hold it together", async () => {
	const home = tempDir("home");
	const program = () => promisify(execFile)(process.execPath, ["test/fixtures/seats.mjs", home, "300"]);
	const done = (await Promise.all([program(), program(), program()])).map(({ stdout }) => JSON.parse(stdout) as { taken: number; forgotten: number });
	for (const { taken, forgotten } of done) expect([taken > 0, forgotten > 0]).toEqual([true, true]);
});

test("the first calls of a new program keep their order: the one that came first has the shell", async () => {
	const before = await testRuntime({ task: "t" });
	await before.terminal({ command: "cd /tmp" });
	await before.close();
	for (let round = 0; round < 4; round++) {
		const runtime = await testRuntime({ home: before.home.root, task: "t" });
		const [first, second] = await Promise.all(["a", "b"].map((word) => runtime.terminal({ command: `sleep 0.3; echo ${word}` })));
		expect(first).toMatchObject({ output: "a\n", cwd: "/tmp" });
		expect(first).not.toHaveProperty("note");
		expect(second).toMatchObject({ output: "b\n", note: expect.stringContaining("ran in a shell of its own") });
		await runtime.close();
	}
});
