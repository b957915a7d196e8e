/** What a shell on a remote machine is told: a real remote end, whose lives are told apart by what its host says. */
import { expect, test } from "vitest";
import { openHome } from "../../../src/base/home.js";
import { procDir } from "../../../src/keeper/layout.js";
import type { Spec } from "../../../src/keeper/spec.js";
import { RemoteMachine } from "../../../src/places/remote/machine.js";
import { atEnd, tempDir, until } from "../../support/home.js";
import { ShellHost } from "../../support/shell-host.js";

test("a shell of an earlier life of its machine takes nothing", async () => {
	const home = openHome(tempDir("home"));
	const host = new ShellHost();
	const begin = (instance: string) => {
		host.starting = async () => ({ notes: [], instance });
	};
	begin("first");
	const machine = new RemoteMachine(host, home, { key: "box", name: "a box", owner: "test" });
	atEnd(() => machine.reach.close());
	await machine.ready();
	const spec = { id: "proc_000000000001", box: "box" } as Spec;
	const shell = { id: spec.id, dir: procDir(home, spec.id), spec, bash: { pid: 4_000_000, start: "1" }, at: (file: string) => file };
	const line = machine.line(shell, () => {});
	atEnd(() => line.close());
	expect(line.write("true\n", { name: "one", placed: () => [] })).toBe(true);
	await line.delivery();
	begin("second");
	host.streams.at(-1)?.close();
	await until("it is known", () => machine.life === "second");
	expect(line.write("true\n", { name: "two", placed: () => [] })).toBe(false);
});
