/** The floor: Node starts the program itself and reads its pipe. Nothing outlives anything. */
import { spawn } from "node:child_process";
import { median } from "./lib.mjs";

/** Start `echo hi` in bash; once it has ended, the ms until its first byte was here. */
export function bareStart() {
	return new Promise((resolve, reject) => {
		let first;
		const begun = performance.now();
		const child = spawn("bash", ["-c", "echo hi"], { stdio: ["ignore", "pipe", "inherit"] });
		child.stdout.once("data", () => {
			first = performance.now() - begun;
		});
		child.once("error", reject);
		child.once("close", () => resolve(first));
	});
}

/** A unit that other times can be counted in: the ms of one bare start, one after the other. */
export async function bareStartMs(count = 40) {
	const times = [];
	for (let i = 0; i < count; i++) times.push(await bareStart());
	return median(times);
}

/** Everything a command prints goes to `onData`; resolves at its end, which comes soon after `stopped` resolves. */
export function bareRead(argv, onData, stopped) {
	return new Promise((resolve, reject) => {
		const child = spawn(argv[0], argv.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
		child.stdout.on("data", onData);
		stopped?.then(() => child.kill());
		child.once("error", reject);
		child.once("close", resolve);
	});
}
