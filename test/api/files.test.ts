/** `task.files` on this machine and in a sandbox of it; and what only this machine can show. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { agentOf } from "../../src/api/index.js";
import { openRuntime, readAudit } from "../../src/index.js";
import { atEnd, endAll, tempDir } from "../support/home.js";
import { noSandbox } from "../support/sandbox.js";
import { smallDisk } from "../support/small-disk.js";
import { saidBy, taskFilesSuite } from "./files-suite.js";

taskFilesSuite({ name: "local", options: () => ({}), tmp: () => tempDir("files") });

taskFilesSuite({
	name: "local+sandbox",
	missing: noSandbox,
	options: (work) => ({ place: "local+sandbox", sandbox: { directory: work } }),
	tmp: () => "/tmp",
});

async function local(home = tempDir("home")) {
	const runtime = await openRuntime({ home, warm: 0 });
	atEnd(() => endAll(agentOf(runtime)));
	return runtime.task("t", { cwd: tempDir("work") });
}

test("a full disk is said, and the file is as it was", async (context) => {
	const disk = smallDisk(context, 2 * 1024 * 1024);
	fs.mkdirSync(disk.home);
	const task = await local();
	const file = path.join(disk.home, "f");
	await task.files.write(file, "old");
	disk.fill({ leaving: 64 * 1024 });
	expect(await saidBy(() => task.files.write(file, Buffer.alloc(1024 * 1024)))).toMatch(/^NO_SPACE: the disk is full there; .*f is as it was/);
	expect(fs.readFileSync(file, "utf8")).toBe("old");
	expect(fs.readdirSync(disk.home)).toEqual(["f"]);
});

test("a link in the place leads its reader and its writer, as it does a command; a copy does not go through one", async () => {
	const task = await local();
	const other = tempDir("other");
	fs.writeFileSync(path.join(other, "f"), "outside");
	await task.terminal({ command: `mkdir d && ln -s ${other} d/out && ln -s ${other}/f file` });
	expect((await task.files.read("file")).toString()).toBe("outside");
	const back = path.join(tempDir(), "d");
	expect(await task.files.copyOut("d", back)).toMatchObject({ files: 0, links: 1 });
	expect(fs.readlinkSync(path.join(back, "out"))).toBe(other);
	const given = path.join(tempDir(), "given");
	fs.mkdirSync(path.join(given, "out"), { recursive: true });
	fs.writeFileSync(path.join(given, "out", "f"), "planted");
	expect(await saidBy(() => task.files.copyIn(`${given}/.`, "d"))).toMatch(/^(INVALID|FORBIDDEN): /);
	expect(fs.readFileSync(path.join(other, "f"), "utf8")).toBe("outside");
});

test("a folder is not copied into itself, and a file that changes all the time is not read as a mixture", async () => {
	const task = await local();
	const { output } = await task.terminal({ command: "mkdir d && echo x > d/f && pwd" });
	expect(await saidBy(() => task.files.copyIn(path.join(output.trim(), "d"), "d/inner"))).toMatch(/^INVALID: a directory cannot be copied into itself/);
	const file = path.join(output.trim(), "busy");
	fs.writeFileSync(file, Buffer.alloc(4 * 1024 * 1024));
	const read = async () => {
		for await (const _ of task.files.stream("busy")) fs.appendFileSync(file, "x");
	};
	expect(await saidBy(read)).toMatch(/^CONFLICT: .*busy was changed while it was read/);
});

test("what is written is on record", async () => {
	const runtime = await openRuntime({ home: tempDir("home"), warm: 0 });
	atEnd(() => endAll(agentOf(runtime)));
	const task = runtime.task("t", { cwd: tempDir("work") });
	await task.files.write("f", "four");
	const { output } = await task.terminal({ command: "pwd" });
	expect(await task.files.read("/proc/version")).toEqual(fs.readFileSync("/proc/version"));
	expect(readAudit(runtime, { task: "t" })).toMatchObject([
		{ event: "file", tool: "files.write", command: `cat > '${output.trim()}/f'`, by: "library", bytes: 4 },
		{},
		{},
	]);
});
