/** Runs one measurement and sends its rows to scripts/bench.mjs. Each has a program of its own, so that none sees another's memory. */
import { Bench } from "./lib.mjs";

const [name, root, ...flags] = process.argv.slice(2);
const bench = new Bench({ root, quick: flags.includes("--quick") });
let stopping = false;

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop);
process.once("disconnect", stop); // scripts/bench.mjs was killed: nobody else ends the servers

async function stop() {
	if (stopping) return;
	stopping = true;
	await bench.end();
	process.exit(130);
}

try {
	const { default: measure } = await import(`./${name}.mjs`);
	const rows = await measure(bench);
	process.send({ rows });
} catch (error) {
	if (!stopping) process.send({ rows: [{ failed: error.message }] });
} finally {
	if (!stopping) await bench.end();
}
process.off("disconnect", stop);
process.disconnect();
