/** Promise 3, no lie: whichever part of a keeper is killed, what is reported is what is known. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { childrenOf, type Identity, isAlive, readStat } from "../../src/base/proc.js";
import { readParts, readState } from "../../src/keeper/layout.js";
import type { PtyTool } from "../../src/keeper/tools.js";
import { fixture } from "../fixtures/programs.js";
import { PTY_TOOLS, runtimeWith } from "../fixtures/pty-tools.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";
import type { Process } from "../support/internal.js";

const ECHO = 'echo ready; while read -r line; do echo "got $line"; done; exit 3';

test("a command whose keeper is killed runs on with output and stdin, but its exit code is lost", async () => {
	const process = await (await testRuntime()).spawn({ command: ECHO });
	await process.wait({ until: { pattern: "ready" } });
	await kill9(readParts(process.dir).keeper);
	expect(process.status()).toEqual({ status: "running", pid: process.pid, exitUnseen: true });
	await process.write("this\n");
	expect(await process.wait({ until: { pattern: "got this" }, timeout: 100_000 })).toMatchObject({ matched: "pattern" });
	const pid = process.pid;
	await process.closeStdin();
	const { status } = await process.wait({ timeout: 100_000 });
	expect(status).toMatchObject({ status: "lost", pid, exitCode: null });
	expect(textOf(process)).toBe("ready\ngot this\n");
});

test("on a terminal the exit code is seen although the outer keeper was killed", async () => {
	const process = await (await testRuntime()).spawn({ command: `stty -echo; ${ECHO}`, terminal: true });
	await process.wait({ until: { pattern: "ready" } });
	await kill9(readParts(process.dir).keeper);
	expect(process.status()).toEqual({ status: "running", pid: process.pid });
	await process.write("this\n");
	await process.wait({ until: { pattern: "got this" }, timeout: 100_000 });
	await process.closeStdin();
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3, signal: null });
	expect(textOf(process)).toBe("ready\r\ngot this\r\n");
});

test("with the keeper inside the terminal killed, the end of the command is reported as lost", async () => {
	const process = await (await testRuntime()).spawn({ command: "trap '' HUP; echo ready; sleep 1000", terminal: true });
	await process.wait({ until: { pattern: "ready" } });
	await kill9(readParts(process.dir).terminal);
	expect(process.status()).toMatchObject({ status: "running", exitUnseen: true });
	expect(await process.kill()).toMatchObject({ status: "killed", survivors: [], final: { status: "lost", exitCode: null } });
});

test("with dd killed in the middle of the output the command goes on, and each possible hole is recorded", async () => {
	const runtime = await testRuntime();
	const hurry = path.join(runtime.home.root, "hurry");
	const process = await runtime.spawn({ command: ["perl", fixture("numbers.pl"), hurry] });
	const gaps = () => readLines(path.join(process.dir, "gaps")).map((line) => line.split(" ").map(Number) as [number, number]);
	for (let kills = 1; kills <= 5; kills++) {
		const before = process.log.bounds().end;
		await until("it prints", () => process.log.bounds().end > before);
		await kill9(await stoppedDd(process));
		expect(process.status()).toMatchObject({ status: "running" });
		await process.wait({ until: { pattern: "." }, from: process.log.bounds().end, timeout: 100_000 });
		expect(gaps()).toHaveLength(kills);
	}
	fs.writeFileSync(hurry, "");
	await process.write("done\n");
	const { status } = await process.wait({ timeout: 100_000 });
	expect(status).toMatchObject({ status: "exited", exitCode: 7 });
	expectWholeBut(gaps(), process.read(0, 10_000_000).bytes, Buffer.from(`${Array.from({ length: 1_000_000 }, (_, n) => n + 1).join("\n")}\ngot: done\n`));
});

test("a reader that already waits when dd is killed gets the rest as well", async () => {
	const process = await (await testRuntime()).spawn({ command: ECHO });
	await process.wait({ until: { pattern: "ready" } });
	const waiting = process.wait({ until: { pattern: "got this" }, timeout: 100_000 });
	await kill9(await stoppedDd(process));
	fs.writeFileSync(path.join(process.dir, "in"), "this\n"); // not process.write: that would look after dd
	expect(await waiting).toMatchObject({ matched: "pattern" });
});

test("with its collector killed a command is not killed by SIGPIPE, and its exit code is true", async () => {
	const go = path.join(tempDir(), "go");
	const process = await (await testRuntime()).spawn({ command: `echo one; until [ -e '${go}' ]; do sleep 0.02; done; echo two; exit 9` });
	await process.wait({ until: { pattern: "one" } });
	await killCollector(process);
	expect(process.status()).toMatchObject({ status: "running" });
	fs.writeFileSync(go, "");
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 9, signal: null });
});

test("with its collector killed a command that prints much is paused, and can be killed", async () => {
	const go = path.join(tempDir(), "go");
	const process = await (await testRuntime()).spawn({ command: `echo one; until [ -e '${go}' ]; do sleep 0.02; done; exec seq 1000000` });
	await process.wait({ until: { pattern: "one" } });
	await killCollector(process);
	fs.writeFileSync(go, "");
	await until("it is stuck on the full pipe", () => readStat(process.pid as number)?.comm === "seq" && readStat(process.pid as number)?.state === "S");
	expect(process.status()).toMatchObject({ status: "running" });
	expect(await process.kill()).toMatchObject({ status: "killed", survivors: [], final: { status: "killed", signal: "SIGTERM" } });
});

describe.each(PTY_TOOLS)("on a terminal made by $name", (pty) => {
	test("with that killed a command that reads its terminal finds the end of it, its exit code is true, and all that it printed is in the log", async (context) => {
		const process = await (await runtimeWith(pty, context)).spawn({ command: "trap '' HUP; seq 20000; echo ready; cat; exit 5", terminal: true });
		await process.wait({ until: { pattern: "ready\r\n" } });
		const { end } = process.log.bounds();
		await kill9(readParts(process.dir).child);
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 5, signal: null });
		await until("the log is closed", () => readState(process.dir).kind === "closed");
		expect(readState(process.dir)).toEqual({ kind: "closed", bytes: end });
		expect(process.log.bounds().end).toBe(end);
	});

	test("with that killed a command that ignores the hangup runs on, and is reported as running; another ends with it", async (context) => {
		const process = await (await runtimeWith(pty, context)).spawn({ command: "trap '' HUP; echo ready; sleep 1000", terminal: true });
		await process.wait({ until: { pattern: "ready" } });
		await kill9(readParts(process.dir).child);
		expect(process.status()).toEqual({ status: "running", pid: process.pid });
		expect(await process.kill()).toMatchObject({ status: "killed", survivors: [], final: { status: "killed", exitCode: 143, signal: "SIGTERM" } });
		if (pty.name === "script") return; // the hangup is for the leader of the session, which is not the command there
		const other = await (await runtimeWith(pty, context)).spawn({ command: "echo ready; sleep 1000; :", terminal: true });
		await other.wait({ until: { pattern: "ready" } });
		await kill9(readParts(other.dir).child);
		expect((await other.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 129, signal: "SIGHUP" });
	});

	test("with the collector killed the command goes on, and its exit code is true", async (context) => {
		const process = await (await runtimeWith(pty, context)).spawn({ command: `stty -echo; ${ECHO}`, terminal: true });
		await process.wait({ until: { pattern: "ready" } });
		await killCollector(process);
		await process.write("this\n\x04");
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3, signal: null });
	});
});

test("a terminal whose relay writes the log itself loses nothing when the dd beside it is killed, and its end is seen all the same", async (context) => {
	const pty = PTY_TOOLS.find(({ name }) => name === "perl") as PtyTool;
	const process = await (await runtimeWith(pty, context)).spawn({ command: `stty -echo; ${ECHO}`, terminal: true });
	await process.wait({ until: { pattern: "ready" } });
	for (const text of ["one", "two"]) {
		await kill9(await stoppedDd(process));
		await process.write(`${text}\n`);
		expect(await process.wait({ until: { pattern: `got ${text}` }, timeout: 100_000 })).toMatchObject({ matched: "pattern" });
	}
	await process.closeStdin();
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
	await until("the log is closed", () => readState(process.dir).kind === "closed");
	expect(textOf(process)).toBe("ready\r\ngot one\r\ngot two\r\n");
	expect(fs.existsSync(path.join(process.dir, "gaps"))).toBe(false);
});

test("a keeper that was stopped goes on once the command has ended, and tells how; a kill does not take it for running", async () => {
	const runtime = await testRuntime();
	const [waited, killed] = (await Promise.all([1, 2].map(() => runtime.spawn({ command: ECHO })))) as [Process, Process];
	for (const one of [waited, killed]) {
		await one.wait({ until: { pattern: "ready" } });
		const { keeper, child } = readParts(one.dir);
		process.kill(keeper?.pid as number, "SIGSTOP");
		await one.closeStdin();
		await until("the command has ended", () => !isAlive(child as Identity));
	}
	expect(await killed.kill()).toMatchObject({ status: "already_exited", final: { status: "exited", exitCode: 3 } });
	waited.status();
	expect((await waited.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
});

test("a dd that was stopped goes on once the command has ended, and nothing is missing", async () => {
	const process = await (await testRuntime()).spawn({ command: ECHO });
	await process.wait({ until: { pattern: "ready" } });
	await stoppedDd(process);
	await process.write("this\n");
	await process.closeStdin();
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
	expect(textOf(process)).toBe("ready\ngot this\n");
});

test.each([false, true])(
	"with the shell beside dd killed, the rest comes when the command has ended, and the log is closed (terminal: %s)",
	async (terminal) => {
		const process = await (await testRuntime()).spawn({ command: `[ ! -t 0 ] || stty -echo; ${ECHO}`, terminal });
		await process.wait({ until: { pattern: "ready" } });
		const { collector } = readParts(process.dir);
		const [runner] = childrenOf(collector?.pid as number);
		const [dd] = childrenOf(runner as number).map(readStat);
		await kill9(readStat(runner as number));
		await process.write("this\n");
		await until("that is copied, or dd ends for want of somebody to tell", () => textOf(process).includes("got this") || !isAlive(dd as Identity));
		await process.write("that\n");
		await process.closeStdin();
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
		await until("the log is closed", () => readState(process.dir).kind === "closed");
		const text = textOf(process).replaceAll("\r", "");
		expect(text).toMatch(/^ready\n(got this\n)?got that\n$/);
		if (!text.includes("got this")) expect(readLines(path.join(process.dir, "gaps"))[0]).toBe("6 4096");
		await until("the collector is gone", () => !isAlive(collector as Identity));
	},
);

/** Kill a part of the keeper, and wait until it is gone. */
async function kill9(part: Identity | undefined): Promise<void> {
	if (!part || !isAlive(part)) throw new Error("there is no such part");
	process.kill(part.pid, "SIGKILL");
	await until("it is dead", () => !isAlive(part));
}

/** The dd of the moment. One run of it follows another: stop one first, so that it is this one that is killed. */
async function stoppedDd(process: Process): Promise<Identity> {
	let found: Identity | undefined;
	await until("a dd is caught", () => {
		const { collector } = readParts(process.dir);
		const dd = childrenOf(collector?.pid ?? 0)
			.flatMap(childrenOf)
			.map(readStat)
			.find((stat) => stat?.comm === "dd");
		if (dd?.state === "T") found = dd;
		else if (dd) global.process.kill(dd.pid, "SIGSTOP");
		return found !== undefined;
	});
	return found as Identity;
}

/** The log is the truth but for holes: [where in the log, at most how many bytes]. */
function expectWholeBut(gaps: [number, number][], log: Buffer, truth: Buffer): void {
	let [from, at] = [0, 0]; // in the log, in the truth
	for (const [to, most] of [...gaps, [log.length, 0]] as [number, number][]) {
		expect(log.subarray(from, to).equals(truth.subarray(at, at + to - from))).toBe(true);
		at += to - from;
		const next = log.subarray(to, to + 100);
		const resumed = truth.indexOf(next, at);
		expect(resumed - at).toBeGreaterThanOrEqual(0);
		expect(resumed - at).toBeLessThanOrEqual(most);
		[from, at] = [to, resumed];
	}
	expect(at).toBe(truth.length);
}

const readLines = (file: string): string[] => (fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").filter(Boolean) : []);

/** The collector and its dd. */
async function killCollector(process: Process): Promise<void> {
	const dd = await stoppedDd(process);
	await kill9(readParts(process.dir).collector);
	await kill9(dd);
}
