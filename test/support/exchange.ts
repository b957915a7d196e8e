/** Two names that change places all the time, as fast as the kernel does it: for what must not be led astray by that. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { atEnd } from "./home.js";

const RENAMEAT2: Readonly<Record<string, number>> = { x64: 316, arm64: 276 };

/** Why it cannot be done on this machine. */
export const noExchange: string | undefined = RENAMEAT2[process.arch] === undefined ? `the number of renameat2 on ${process.arch} is not known` : undefined;

const LOOP = `$| = 1; my ($call, $one, $other, $parent) = @ARGV;
print "begun\\n";
while (getppid() == $parent) { syscall($call + 0, -100, $one, -100, $other, 2); select(undef, undef, undef, 0.0003) }`;

/** Until the test is over, or until the returned function is called. */
export async function exchanging(one: string, other: string): Promise<() => Promise<void>> {
	const child = spawn("perl", ["-e", LOOP, String(RENAMEAT2[process.arch]), one, other, String(process.pid)], { stdio: ["ignore", "pipe", "inherit"] });
	const ended = once(child, "close");
	const stop = async () => {
		child.kill("SIGKILL");
		await ended;
	};
	atEnd(stop);
	await once(child.stdout, "data");
	return stop;
}
