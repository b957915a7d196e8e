/** A command in the persistent shell of another machine, beside the least that it takes to have one run there. */
import { answering, ran, remotePlaces } from "./far.mjs";
import { byTurns, median, percentile, timed } from "./lib.mjs";
import { atMost, missingRow, row } from "./report.mjs";
import { terminalOf } from "./shell.mjs";

const GAP_MS = 15;

export default async function places(bench) {
	const rows = [];
	for (const place of await remotePlaces(bench, "places"))
		rows.push(...(place.missing ? [missingRow(place.name, place.missing)] : await roundTrips(bench, place)));
	return rows;
}

async function roundTrips(bench, { name, runtime, there, each }) {
	const rounds = bench.count(20, 3);
	const block = bench.count(25, 10);
	const terminal = terminalOf(runtime);
	const echo = answering(bench, there("exec cat"));
	const fork = answering(bench, there("while read -r line; do /bin/true; echo; done"));
	for (let i = 0; i < 4 * block; i++) for (const run of [() => terminal("true"), () => echo("x"), () => fork("\n")]) await run();
	const times = await byTurns(rounds, [
		{ name: "terminal", time: () => timed(() => terminal("true")), block },
		{ name: "echo", time: () => timed(() => echo("x")), block },
		{ name: "fork", time: () => timed(() => fork("\n")), block },
		{ name: "apart", time: () => timed(() => terminal("true")), block, gap: GAP_MS },
		{ name: "prints", time: () => timed(() => terminal("echo x")), block, gap: GAP_MS },
		{ name: "each", time: () => timed(() => ran(there("bash -c true"))), block: 2 },
	]);
	const least = (of) => [
		{ name: "a byte there and back, with a fork and exec there", value: of(times.fork) },
		{ name: "a byte alone", value: of(times.echo) },
	];
	const p90 = (values) => percentile(values, 0.9);
	return [
		row({
			what: `${name}: \`true\` by \`runtime.terminal\`, back to back`,
			value: median(times.terminal),
			unit: "ms",
			baselines: least(median),
			target: atMost(3),
		}),
		row({ what: "the same, p90", value: p90(times.terminal), unit: "ms", baselines: least(p90) }),
		row({ what: `the same, ${GAP_MS} ms apart`, value: median(times.apart), unit: "ms", baselines: least(median) }),
		row({
			what: `${name}: \`true\`, beside ${each} a command`,
			value: median(times.terminal),
			unit: "ms",
			baselines: [{ name: each, value: median(times.each) }],
			faster: true,
		}),
		row({
			what: `${name}: \`echo x\`, which prints, ${GAP_MS} ms apart`,
			value: median(times.prints),
			unit: "ms",
			baselines: [{ name: each, value: median(times.each) }],
			faster: true,
		}),
	];
}
