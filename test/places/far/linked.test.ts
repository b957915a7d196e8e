/** The kernel of another machine over a real link: its own quick way to answer small questions, and its own way to run scripts. */
import { describe, expect, test } from "vitest";
import { nearKernel } from "../../../src/base/near.js";
import { readStat, type Stat } from "../../../src/base/proc.js";
import { farKernel } from "../../../src/places/far/kernel.js";
import { untilWaiting } from "../../../src/screen/index.js";
import { onTerminal } from "../../screen/programs.js";
import { seenFrom } from "../../support/far.js";
import { testRuntime, textOf, until } from "../../support/home.js";
import { linkTo, ShellHost } from "../../support/shell-host.js";

const KINDS = [
	{ shell: "dash" as const, perl: true },
	{ shell: "dash" as const, perl: false },
	{ shell: "busybox" as const, perl: false },
];

describe.each(KINDS)("a link to $shell, perl: $perl", ({ shell, perl }) => {
	async function open() {
		const link = await linkTo(new ShellHost({ shell }), { perl });
		return farKernel({ run: (script) => link.run(script), look: (questions) => link.look(questions) });
	}

	test("answers as the kernel here does", async () => {
		const far = await open();
		const process = await onTerminal(await testRuntime(), "cat");
		await untilWaiting(process, { timeout: 20_000 });
		const pid = process.pid as number;
		const paths = ["cmdline", "environ", "fd/0", "exe", "missing"].map((name) => `/proc/${pid}/${name}`);
		expect(await far.read([paths[0] as string, paths[1] as string])).toEqual(await nearKernel.read([paths[0] as string, paths[1] as string]));
		expect(await far.links(paths)).toEqual(await nearKernel.links(paths));
		const inodes = (await nearKernel.inodes(paths)).map((inode) => inode && { dev: inode.dev, rdev: inode.rdev });
		expect(await far.inodes(paths)).toEqual(inodes);
		expect((await far.names([`/proc/${pid}/fd`]))[0]?.toSorted()).toEqual((await nearKernel.names([`/proc/${pid}/fd`]))[0]?.toSorted());
		expect(await far.terminal(`/proc/${pid}/fd/0`)).toMatch(/\bicanon\b/);
		const { state: _, ...stat } = readStat(pid) as Stat;
		expect((await far.processes()).stats.get(pid)).toMatchObject(stat);
	});

	test.each([
		["read -r -s x", "password"],
		["python3 -q", "keys"],
		["node", "keys"],
	])("sees that it waits: %s", async (command, kind) => {
		const far = await open();
		const process = seenFrom(await onTerminal(await testRuntime(), command), far);
		expect(await untilWaiting(process, { timeout: 30_000 })).toMatchObject({ matched: "input", waiting_for: kind });
	});

	test("kills a tree", async () => {
		const far = await open();
		const process = await (await testRuntime({ cgroup: "off" })).spawn({
			command: "(setsid bash -c 'echo $$; exec sleep 620' &); trap '' TERM; sleep 621; sleep 622",
		});
		await until("it has said its pid", () => /^\d+\n/.test(textOf(process)));
		const result = await seenFrom(process, far).kill({ graceMs: 200 });
		expect(result).toMatchObject({ status: "killed", survivors: [] });
		expect(result.signalled).toContain(Number.parseInt(textOf(process), 10));
	});
});
