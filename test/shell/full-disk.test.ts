import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testRuntime, until } from "../support/home.js";
import { smallDisk } from "../support/small-disk.js";

const MIB = 1024 * 1024;

test("on a full disk the shell still runs what makes room, twice in a row", async (context) => {
	const disk = smallDisk(context, 16 * MIB);
	const runtime = await testRuntime({ home: disk.home });
	const reserve = path.join(disk.home, "reserve");
	const run = (command: string) => runtime.terminal({ command });
	await run("echo ready; A=1");
	for (const round of [1, 2]) {
		await until("there is a reserve", () => fs.existsSync(reserve));
		disk.fill({ leaving: 0 });
		expect(await run(`B=${round}`)).toMatchObject({ exit_code: 0 });
		expect(await run("ls -d /usr")).toMatchObject({ exit_code: 0, output: "/usr\n" });
		expect(await run("echo $A$B")).toMatchObject({ exit_code: 0, output: `1${round}\n` });
		expect(await run(`rm -f '${path.dirname(disk.home)}'/ballast`)).toMatchObject({ exit_code: 0 });
		expect(await run("echo $B")).toMatchObject({ exit_code: 0, output: `${round}\n` });
	}
});

test("of several tasks that meet the full disk at once, each has a shell that runs what makes room", async (context) => {
	const disk = smallDisk(context, 16 * MIB);
	const runtime = await testRuntime({ home: disk.home });
	const tasks = ["a", "b", "c"];
	for (const task of tasks) expect(await runtime.terminal({ command: "echo ready" }, { task })).toMatchObject({ exit_code: 0 });
	await until("there is a reserve", () => fs.existsSync(path.join(disk.home, "reserve")));
	disk.fill({ leaving: 0 });
	const results = await Promise.all(tasks.map((task) => runtime.terminal({ command: "ls -d /usr" }, { task })));
	expect(results.map(({ exit_code, output }) => [exit_code, output])).toEqual(tasks.map(() => [0, "/usr\n"]));
	disk.empty();
});
