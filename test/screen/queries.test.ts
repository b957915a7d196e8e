import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { Lease } from "../../src/base/lease.js";
import { readProc } from "../../src/base/proc.js";
import { answerQueries, attend, readScreen, untilWaiting } from "../../src/screen/index.js";
import { atEnd, testRuntime, textOf, until } from "../support/home.js";
import type { Process, Runtime } from "../support/internal.js";
import { onTerminal, screenWith } from "./programs.js";

/** Asks for each line it gets: where is the cursor, and how are you. Prints the very bytes that come back, up to the `n` of the second answer. */
const ASKER = `stty -icanon -echo
while IFS= read -r -d '' -n 1 go; do
	printf 'asking\\n\\033[6n\\033[5n'
	IFS= read -r -d n answer
	printf 'answer %q;\\n' "$answer"
done`;
const ANSWER = (row: number) => `answer $'\\E[${row};1R\\E[0';`;

/** One that has come to where it waits to be told to ask; before that, what is typed would be echoed. */
async function asker(runtime: Runtime, before = ""): Promise<Process> {
	const process = await onTerminal(runtime, `${before}${ASKER}`);
	expect(await untilWaiting(process, { timeout: 100_000 })).toMatchObject({ matched: "input", waiting_for: "keys" });
	return process;
}

function answering(process: Process, options: { from?: number } = {}): { stop: () => Promise<void>; done: Promise<void> } {
	const stopper = new AbortController();
	const done = answerQueries(process, { ...options, signal: stopper.signal });
	const stop = () => {
		stopper.abort();
		return done;
	};
	atEnd(stop);
	return { stop, done };
}

const leaseOf = (process: Process) => path.join(process.dir, "answerer");
const isHeld = (process: Process) => until("an answerer has the lease", () => !Lease.isFree(leaseOf(process)));

async function ask(process: Process, answers: number): Promise<void> {
	await process.write("x");
	await process.wait({ until: { pattern: `(?:answer[^;]*;[^]*){${answers}}` }, timeout: 100_000 });
}

test("a program that asks for the cursor position gets one answer, also with two runtimes", async () => {
	const process = await asker(await testRuntime());
	answering(process);
	answering(process);
	await isHeld(process);
	await ask(process, 1);
	await ask(process, 2);
	await ask(process, 3);
	const view = await readScreen(process);
	expect(view.screen).toBe(["asking", ANSWER(2), "asking", ANSWER(4), "asking", ANSWER(6)].join("\n"));
	expect(textOf(process)).toContain("\x1b[6n"); // the log keeps what was printed
});

test("what was asked before is not answered later", async () => {
	const process = await asker(await testRuntime(), "printf 'before\\033[6n\\n'; ");
	answering(process);
	await isHeld(process);
	await ask(process, 1);
	expect((await readScreen(process)).screen).toBe(["before", "asking", ANSWER(3)].join("\n"));
});

test("the program that has just started it can answer from the beginning", async () => {
	const process = await onTerminal(
		await testRuntime(),
		"stty -icanon -echo; printf '\\033[5n'; IFS= read -r -d n answer; printf 'answer %q;' \"$answer\"; read -r x",
	);
	answering(process, { from: 0 });
	expect((await screenWith(process, "answer")).screen).toBe("answer $'\\E[0';");
});

test("the next one takes over when the first stops", async () => {
	const runtime = await testRuntime();
	const process = await asker(runtime);
	const first = answering(process);
	await isHeld(process);
	const lease = Lease.holder(leaseOf(process))?.about;
	const other = (await testRuntime({ home: runtime.home.root })).get(process.id);
	answering(other);
	await ask(process, 1);
	expect(Lease.holder(leaseOf(process))?.about).toEqual(lease);
	await first.stop();
	expect(Lease.isFree(leaseOf(process))).toBe(true);
	await ask(process, 2);
	expect((await readScreen(process)).screen).toBe(["asking", ANSWER(2), "asking", ANSWER(4)].join("\n"));
});

test("a stale lease of a killed program, or a damaged one, is taken over", async () => {
	const process = await asker(await testRuntime());
	const { pid } = spawnSync("true");
	for (const [round, stale] of [JSON.stringify({ pid, start: "1", nonce: "x" }), "not json"].entries()) {
		fs.writeFileSync(leaseOf(process), stale);
		const one = answering(process);
		const two = answering(process);
		await isHeld(process);
		await ask(process, round + 1);
		await Promise.all([one.stop(), two.stop()]);
	}
	expect((await readScreen(process)).screen).toBe(["asking", ANSWER(2), "asking", ANSWER(4)].join("\n"));
});

test("while a person's terminal is attached it answers, and we do not", async () => {
	const process = await asker(await testRuntime());
	answering(process);
	await isHeld(process);
	fs.writeFileSync(path.join(process.dir, "attached.1.1.dead"), ""); // one that was killed does not count
	const leave = attend(process);
	await process.write("x");
	await process.wait({ until: { pattern: "asking" }, timeout: 100_000 });
	await process.write("\x1b[7;7R\x1b[0n"); // the person's terminal
	await process.wait({ until: { pattern: "answer" }, timeout: 100_000 });
	leave();
	await ask(process, 2);
	expect((await readScreen(process)).screen).toBe(["asking", "answer $'\\E[7;7R\\E[0';", "asking", ANSWER(4)].join("\n"));
	expect(fs.readdirSync(process.dir).filter((name) => name.startsWith("attached"))).toEqual([]);
});

test("answering ends with the process, and leaves no lease", async () => {
	const process = await onTerminal(await testRuntime(), "read -r x");
	const { done } = answering(process);
	await isHeld(process);
	expect(Lease.holder(leaseOf(process))?.about).toMatchObject({ pid: globalThis.process.pid, start: startOf(globalThis.process.pid) });
	await process.write("\n");
	await done;
	expect(Lease.isFree(leaseOf(process))).toBe(true);
	await answerQueries(process); // of one that has ended
});

test("a question in the middle of a flood is answered", async () => {
	const flood = "stty -icanon -echo; seq 300000; printf '\\033[H\\033[6n'; IFS= read -r -d R answer; clear; printf 'answer %q;' \"$answer\"; read -r x";
	const process = await onTerminal(await testRuntime(), `read -r x; ${flood}`);
	answering(process);
	await isHeld(process);
	await process.write("\n");
	expect((await screenWith(process, "answer")).screen).toBe("answer $'\\E[1;1';");
});

const startOf = (pid: number): string | undefined => readProc(`/proc/${pid}/stat`)?.split(") ")[1]?.split(" ")[19];
