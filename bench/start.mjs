/** From asking for a process to the first byte it prints. */
import { bareStart } from "./bare.mjs";
import { codexOverStdio } from "./codex.mjs";
import { byTurns, median, sleep } from "./lib.mjs";
import { atMost, row } from "./report.mjs";
import { tmux } from "./tmux.mjs";

const GAP_MS = 15;

export default async function start(bench) {
	const rounds = bench.count(8, 3);
	const block = bench.count(8, 5);
	const warm = await bench.runtime("start-warm");
	const cold = await bench.runtime("start-cold", { warm: 0 });
	const others = [await tmux(bench), await codexOverStdio(bench)];
	await sleep(200); // the first warm keepers
	const times = await byTurns(rounds, [
		{ name: "bare", time: bareStart, block, gap: GAP_MS },
		{ name: "warm", time: () => holdfastStart(warm), block, gap: GAP_MS },
		{ name: "busy", time: () => holdfastStart(warm, { toEnd: false }), block },
		{ name: "cold", time: () => holdfastStart(cold), block, gap: GAP_MS },
		...others.filter((other) => other.start).map(({ name, start }) => ({ name, time: start, block, gap: GAP_MS })),
	]);
	const of = (name) => median(times[name]);
	const bare = { name: "bare", value: of("bare") };
	const beside = others.map(({ name, missing }) => (missing ? { name, missing } : { name, value: of(name) }));
	const result = (what, name, more = {}) => row({ what, value: of(name), unit: "ms", baselines: [bare], ...more });
	return [
		result(`start to first byte, ${GAP_MS} ms apart`, "warm", { baselines: [bare, ...beside], target: atMost(2.5) }),
		result("start to first byte, back to back", "busy"),
		result("start to first byte, no warm keepers", "cold"),
	];
}

/** The ms from `spawn` to the first bytes of `follow`. */
export async function holdfastStart(runtime, { toEnd = true } = {}) {
	let first;
	const begun = performance.now();
	const started = await runtime.spawn({ command: "echo hi" });
	for await (const _ of started.follow()) {
		first ??= performance.now() - begun;
		if (!toEnd) break;
	}
	return first;
}
