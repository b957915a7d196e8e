/** Programs that print their clock, and a reader that compares it with ours: the way from a write to a callback. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("clock.pl", import.meta.url));

export const clockCommand = (count, everyMs) => ["perl", SCRIPT, String(count), String(everyMs * 1000)];

/** Why these programs cannot run here; undefined when they can. */
export function clockMissing() {
	const { status } = spawnSync("perl", ["-MTime::HiRes=clock_gettime", "-e", "1"], { stdio: "ignore" });
	return status === 0 ? undefined : "no perl with Time::HiRes";
}

/** Returns a function to give each piece of output to. The microseconds that lines took are added to `latencies`; `skip` lines are not counted. */
export function clockReader(latencies, { skip = 0, counts = () => true } = {}) {
	let rest = "";
	let seen = 0;
	return (bytes) => {
		const now = Number(process.hrtime.bigint());
		const lines = (rest + bytes.toString("latin1")).split("\n");
		rest = lines.pop();
		for (const line of lines) {
			if (++seen > skip && counts()) latencies.push((now - Number(line)) / 1000);
		}
	};
}
