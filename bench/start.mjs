/** From asking for a process to the first byte it prints. */
import { bareStart } from "./bare.mjs";
import { median, sleep } from "./lib.mjs";
import { codex, tmux } from "./others.mjs";
import { atMost, row } from "./report.mjs";

const GAP_MS = 15;
const SETTLE_MS = 60; // between two contestants: nobody pays for what another has left to do

export default async function start(bench) {
	const rounds = bench.count(8, 3);
	const block = bench.count(8, 5);
	const warm = await bench.runtime("start-warm");
	const cold = await bench.runtime("start-cold", { warm: 0 });
	const others = [await tmux(bench), await codex(bench)];
	const contestants = [
		{ name: "bare", start: bareStart, gap: GAP_MS },
		{ name: "warm", start: () => holdfastStart(warm), gap: GAP_MS },
		{ name: "busy", start: () => holdfastStart(warm, { toEnd: false }), gap: 0 },
		{ name: "cold", start: () => holdfastStart(cold), gap: GAP_MS },
		...others.filter((other) => other.start).map((other) => ({ ...other, gap: GAP_MS })),
	];
	const times = Object.fromEntries(contestants.map(({ name }) => [name, []]));
	await sleep(200); // the first warm keepers
	for (let round = 0; round < rounds; round++) {
		for (const { name, start, gap } of contestants) {
			for (let i = 0; i < block; i++) {
				times[name].push(await start());
				if (gap > 0) await sleep(gap);
			}
			await sleep(SETTLE_MS);
		}
	}
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
