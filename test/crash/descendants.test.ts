/** Some clients end a server with all of its descendants. What is kept is none of them. */
import { expect, test } from "vitest";
import { type Identity, isAlive, readStat } from "../../src/base/proc.js";
import { ProcessSnapshot } from "../../src/process/tree.js";
import { until } from "../support/home.js";
import { overStdio, testHome } from "../support/mcp.js";

test("a server killed with every descendant takes nothing with it: shell, processes, output and screen are there for the next", async () => {
	const home = testHome();
	const args = ["--task", "comes back"];
	const first = await overStdio(home, args);
	await first.call("terminal", { command: "cd /usr; x=1; f() { echo function $x; }" });
	const ticks = await first.call("terminal", { command: "while sleep 0.05; do echo tick; done", background: true });
	const python = await first.call("terminal", { command: "PS1='ready> ' exec bash --norc --noprofile", pty: true });
	await first.call("terminal", { session_id: python.session_id, input_keys: "y=2; echo screen $y<ENTER>" });

	const server = readStat(first.transport.pid as number) as Identity;
	for (const signal of ["SIGTERM", "SIGKILL"] as const) {
		await until("it has no descendant", () => {
			const found = descendants(server.pid);
			for (const pid of found) send(pid, signal);
			return found.length === 0;
		});
	}
	send(server.pid, "SIGKILL");
	await until("the server is gone", () => !isAlive(server));

	const { call } = await overStdio(home, args);
	expect((await call("terminal", { command: "pwd; f" })).output).toBe("/usr\nfunction 1\n");
	const { processes } = await call("process", { action: "list" });
	expect(processes?.map(({ session_id, status }) => [session_id, status]).sort()).toEqual(
		[
			[ticks.session_id, "running"],
			[python.session_id, expect.stringMatching(/running|waiting/)],
		].sort(),
	);
	const before = (await call("process", { action: "log", session_id: ticks.session_id })).output ?? "";
	expect(before).toMatch(/^(tick\n)+$/);
	await call("process", { action: "wait", session_id: ticks.session_id, timeout: 1 });
	expect(((await call("process", { action: "log", session_id: ticks.session_id })).output ?? "").length).toBeGreaterThan(before.length);
	const answer = await call("terminal", { session_id: python.session_id, input_keys: "echo again $((y + 1))<ENTER>" });
	expect(answer.screen).toContain("screen 2");
	expect(answer.screen).toContain("again 3");
});

function descendants(pid: number): number[] {
	const now = new ProcessSnapshot();
	const below = (parent: number): number[] => now.childrenOf(parent).flatMap((child) => [child, ...below(child)]);
	return below(pid).filter((child) => now.stats.get(child)?.state !== "Z");
}

function send(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(pid, signal);
	} catch {
		// gone meanwhile
	}
}
