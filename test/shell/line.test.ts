/** What a shell on another machine is told: a real far end, whose lives are told apart by what its host says. */
import { expect, test } from "vitest";
import { openHome } from "../../src/base/home.js";
import { procDir } from "../../src/keeper/layout.js";
import { Box } from "../../src/places/far/box.js";
import { Process } from "../../src/process/process.js";
import type { Spec } from "../../src/process/spec.js";
import { FarLine } from "../../src/shell/line.js";
import { atEnd, tempDir, until } from "../support/home.js";
import { ShellHost } from "../support/shell-host.js";

test("a shell of an earlier life of its machine takes nothing", async () => {
	const home = openHome(tempDir("home"));
	const host = new ShellHost();
	const begin = (instance: string) => {
		host.starting = async () => ({ notes: [], instance });
	};
	begin("first");
	const box = new Box(host, home, { key: "box", name: "a box", owner: "test" });
	atEnd(() => box.close());
	await box.ready();
	const spec = { id: "proc_000000000001", box: "box" } as Spec;
	const line = new FarLine(new Process(procDir(home, spec.id), spec, () => {}), box, { pid: 4_000_000, start: "1" }, () => {});
	atEnd(() => line.close());
	expect(line.write("true\n", { name: "one", placed: [] })).toBe(true);
	await line.delivery();
	begin("second");
	host.streams.at(-1)?.close();
	await until("it is known", () => box.life === "second");
	expect(line.write("true\n", { name: "two", placed: [] })).toBe(false);
});
