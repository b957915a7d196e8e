/** A hundred tasks with a shell each: what they cost, and what they cost each other. */
import { bareStart } from "./bare.mjs";
import { byTurns, inLanes, LANES, median, mustRun, percentile, sleep, timed } from "./lib.mjs";
import { keeperPids, pssKb, sumPssKb } from "./memory.mjs";
import { row } from "./report.mjs";
import { terminalOf } from "./shell.mjs";

export default async function tasks(bench) {
	bench.leaveProfilesOut();
	const count = bench.count(100, 20);
	const rounds = bench.count(20, 4);
	const alone = await bench.runtime("tasks-alone");
	const one = terminalOf(alone);
	await one("true");
	const many = await bench.runtime("tasks-many");
	const terminals = Array.from({ length: count }, (_, i) => terminalOf(many, { task: `task ${i}` }));
	await sleep(500); // what opening two runtimes has left to do
	const before = pssKb("self");
	let next = 0;
	const startMs = await timed(() => inLanes(count, () => terminals[next++]("true")));
	const bareMs = await timed(() => inLanes(count, bareStart));
	await sleep(1_000);
	const listed = many.list({ task: null, shells: true });
	const shells = listed.filter(({ spec }) => spec.kind === "shell");
	if (shells.length !== count) throw new Error(`${shells.length} shells for ${count} tasks`);
	if (listed.length > shells.length) console.error(`${listed.length - shells.length} foreground commands stayed in the list`);
	const bash = sumPssKb(shells.map((shell) => shell.pid)) / count;
	const keeper = sumPssKb(shells.flatMap(keeperPids)) / count;
	const runtime = (pssKb("self") - before) / count;
	for (let i = 0; i < 50; i++) await one("true");
	let turn = 0;
	const inTurn = () => terminals[turn++ % count];
	const times = await byTurns(rounds, [
		{ name: "alone", time: () => timed(() => one("true")), block: 20 },
		{ name: "same", time: () => timed(() => terminals[0]("true")), block: 20 },
		{ name: "in turn", time: () => timed(() => inTurn()("true")), block: 20 },
	]);
	mustRun(shells);
	const beside = (of) => [{ name: "one shell open", value: of(times.alone) }];
	const p90 = (values) => percentile(values, 0.9);
	const roundTrip = (what, name, of = median) => row({ what, value: of(times[name]), unit: "ms", baselines: beside(of) });
	return [
		row({
			what: `the first command in each of ${count} tasks, which starts its shell, ${LANES} at a time`,
			value: startMs,
			unit: "ms",
			baselines: [{ name: `${count} bare starts`, value: bareMs }],
		}),
		row({
			what: `memory (PSS) of ${count} tasks, per task`,
			value: bash + keeper + runtime,
			unit: "KB",
			note: `bash ${Math.round(bash)}, its keeper ${Math.round(keeper)} in ${keeperPids(shells[0]).length} processes, the runtime ${Math.round(runtime)}`,
		}),
		roundTrip(`\`true\` in one of ${count} tasks, again and again`, "same"),
		roundTrip(`\`true\` in each of ${count} tasks in turn`, "in turn"),
		roundTrip("the same, p90", "in turn", p90),
	];
}
