/** From a child's write to the reader's callback. */
import { bareRead } from "./bare.mjs";
import { clockCommand, clockMissing, clockReader } from "./clock.mjs";
import { percentile } from "./lib.mjs";
import { atMost, missingRow, row } from "./report.mjs";

const EVERY_MS = 3;
const SKIP = 20; // lines printed while the reader was still coming

export default async function latency(bench) {
	const missing = clockMissing();
	if (missing) return [missingRow("write to callback", missing)];
	const runtime = await bench.runtime("latency");
	const argv = clockCommand(SKIP + bench.count(500, 150), EVERY_MS);
	const piped = [];
	const followed = [];
	for (let round = 0; round < bench.count(4, 2); round++) {
		await bareRead(argv, clockReader(piped, { skip: SKIP }));
		const process = await runtime.spawn({ command: argv });
		const onData = clockReader(followed, { skip: SKIP });
		for await (const slice of process.follow()) onData(slice.bytes);
	}
	const result = (share, target) =>
		row({
			what: `write to callback, p${share * 100}, a line every ${EVERY_MS} ms`,
			value: percentile(followed, share),
			unit: "µs",
			baselines: [{ name: "pipe", value: percentile(piped, share) }],
			target,
		});
	return [result(0.5, atMost(2)), result(0.99)];
}
