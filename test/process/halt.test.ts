/** What is stopped only because it shares a group with the tree goes on afterwards. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import type { Kernel } from "../../src/base/kernel.js";
import { localKernel } from "../../src/base/local-kernel.js";
import { halt, haltBefore } from "../../src/process/halt.js";
import { atEnd } from "../support/home.js";

/** Starts a script of perl that leads a group of its own, which ends with the test. */
function leading(script: string) {
	const program = spawn("perl", ["-e", script], { detached: true, stdio: ["pipe", "pipe", "inherit"] });
	const pid = program.pid as number;
	const over = new Promise((resolve) => program.once("exit", resolve));
	atEnd(async () => {
		process.kill(-pid, "SIGKILL");
		await over;
	});
	return { program, pid };
}

/** Blocks TERM, as a shell does while it forks, has two children in its group, and prints their pids. */
const FORKING = `
	use POSIX; $| = 1;
	sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGTERM));
	for (1, 2) { my $pid = fork; if (!$pid) { exec "sleep", "600" } print "$pid\n" }
	sleep 600`;

/** Has a child, and another one once it has read a line. */
const FORKS_LATE = `
	$| = 1;
	for (1, 2) { my $pid = fork; if (!$pid) { exec "sleep", "600" } print "$pid\n"; <STDIN> if $_ == 1 }
	sleep 600`;

test("a process that one of Holdfast's own forks into the group of the tree just before that is stopped is continued", async () => {
	const { program: keeper, pid } = leading(FORKS_LATE);
	const pids = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
	const next = async () => Number((await pids.next()).value);
	const child = await next();
	let late: number | undefined;
	const kernel: Kernel = {
		...localKernel,
		async signal(sent) {
			if (late === undefined) {
				keeper.stdin.write("\n");
				late = await next();
			}
			return localKernel.signal(sent);
		},
	};
	const { others } = await halt(kernel, () => ({ pids: [child], ours: new Set([pid]), present: () => [child] }));
	expect(others.map((one) => one.pid).sort()).toEqual([pid, late].sort());
});

test("a process beside the tree is continued, however often a parent had to be waited for", async () => {
	const { program: leader, pid } = leading(FORKING);
	let said = "";
	for await (const piece of leader.stdout) {
		said += piece;
		if (said.split("\n").length > 2) break;
	}
	const [child, beside] = said.split("\n").map(Number) as [number, number];
	const { pids, others, forking } = await haltBefore(localKernel, () => ({ pids: [pid, child], ours: new Set() }), "SIGTERM");
	expect({ pids, forking }).toEqual({ pids: [pid, child], forking: [] });
	expect(others).toEqual([expect.objectContaining({ pid: beside, signal: "SIGCONT" })]);
});
