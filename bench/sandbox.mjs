/** What a sandbox costs: its making, starting a process in it, and a command in its shell, beside the same without one. */
import { byTurns, median, timed } from "./lib.mjs";
import { row } from "./report.mjs";
import { holdfastStart } from "./start.mjs";

const GAP_MS = 15;

export default async function sandbox(bench) {
	bench.leaveProfilesOut();
	const rounds = bench.count(10, 3);
	const block = bench.count(10, 5);
	const local = await bench.runtime("sandbox-local");
	const inside = await bench.runtime("sandbox", { place: "local+sandbox" });
	const run = async (runtime, args, call) => {
		const result = await runtime.terminal(args, call);
		if (result.exit_code !== 0) throw new Error(JSON.stringify(result));
	};
	const first = [];
	const firstLocal = [];
	for (let n = 0; n < bench.count(10, 3); n++) {
		firstLocal.push(await timed(() => run(local, { command: "true" }, { task: `task ${n}` })));
		first.push(await timed(() => run(inside, { command: "true" }, { task: `task ${n}` })));
	}
	for (let n = 0; n < bench.count(10, 3); n++) for (const runtime of [local, inside]) await runtime.shells.end(`task ${n}`);
	for (let n = 0; n < 50; n++) for (const runtime of [local, inside]) await run(runtime, { command: "true" });
	const times = await byTurns(
		rounds,
		[
			["local", local],
			["sandbox", inside],
		].flatMap(([name, runtime]) => [
			{ name: `${name}, true`, time: () => timed(() => run(runtime, { command: "true" })), block: 2 * block },
			{ name: `${name}, prints`, time: () => timed(() => run(runtime, { command: "echo x" })), block, gap: GAP_MS },
			{ name: `${name}, start`, time: () => holdfastStart(runtime), block, gap: GAP_MS },
			{ name: `${name}, terminal`, time: () => timed(() => run(runtime, { command: "true", pty: true })), block: 2, gap: GAP_MS },
		]),
	);
	const result = (what, name) =>
		row({ what, value: median(times[`sandbox, ${name}`]), unit: "ms", baselines: [{ name: "local", value: median(times[`local, ${name}`]) }] });
	return [
		result("`true` by `runtime.terminal`, back to back", "true"),
		result(`\`echo x\`, which prints, ${GAP_MS} ms apart`, "prints"),
		result(`start to first byte, ${GAP_MS} ms apart`, "start"),
		result("`true` on a terminal, to its end", "terminal"),
		row({
			what: "the first command of a task: sandbox and shell are made",
			value: median(first),
			unit: "ms",
			baselines: [{ name: "local", value: median(firstLocal) }],
		}),
	];
}
