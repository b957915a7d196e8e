/** Many tasks at once, each with a shell of its own, whose model thinks for a while between two commands. */
import { cpuOfAll, median, sleep, timed } from "./lib.mjs";
import { atMost, row } from "./report.mjs";
import { terminalOf } from "./shell.mjs";

const THINK_MS = 5_000;

export default async function concurrent(bench) {
	bench.leaveProfilesOut();
	const cpu = cpuOfAll(bench);
	const count = bench.count(200, 40);
	const runtime = await bench.runtime("concurrent");
	await terminalOf(runtime)("echo x"); // what a program does once
	const tasks = Array.from({ length: count }, (_, number) => terminalOf(runtime, { task: `task ${number}` }));
	const births = [];
	const one = async (terminal) => {
		births.push(await timed(() => terminal("echo begun")));
		await sleep(THINK_MS);
		await terminal("echo done");
	};
	const before = cpu.missing ? 0 : cpu.ms();
	const wall = await timed(() => Promise.all(tasks.map(one)));
	const spent = cpu.missing ? 0 : cpu.ms() - before;
	return [
		row({
			what: `${count} tasks at once: a command that starts the shell, ${THINK_MS / 1000} s of thinking, another command; until the last is done`,
			value: wall,
			unit: "ms",
			baselines: [{ name: "the thinking", value: THINK_MS }],
			target: atMost(1.5),
			...(cpu.missing ? {} : { note: `CPU of all processes ${Math.round(spent / count)} ms a task` }),
		}),
		row({ what: "the same: the first command of a task, median", value: median(births), unit: "ms" }),
	];
}
