/** What waits is reported, what does not is never. Real programs; those that are not installed are skipped by name. */
import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, test, vi } from "vitest";
import { readScreen, untilWaiting, waitingFor } from "../../src/screen/index.js";
import { noProgram32, program32 } from "../fixtures/program32.js";
import { PTY_TOOLS, runtimeWith } from "../fixtures/pty-tools.js";
import { atEnd, testRuntime, until } from "../support/home.js";
import type { Process } from "../support/internal.js";
import { NOT_WAITING, WAITING } from "./cases.mjs";
import { missing, onTerminal, which } from "./programs.js";
import { talking } from "./talking.js";

describe("waits for input", () => {
	for (const [program, command, kind, screen] of WAITING) {
		test.skipIf(!which(program))(`${command}: ${kind}${missing(program)}`, async () => {
			const process = await onTerminal(await testRuntime(), command);
			const result = await untilWaiting(process, { timeout: 100_000 });
			expect(result).toMatchObject({ matched: "input", waiting_for: kind, waiting_evidence: expect.stringContaining("on the terminal") });
			const view = await readScreen(process);
			expect(view.screen).toMatch(screen);
			expect(view.offset).toBe(result.offset);
			// Again, rather than one look: node wakes up now and then for reasons of its own, and is not waiting at that moment.
			expect(await untilWaiting(process, { timeout: 100_000 })).toMatchObject({ matched: "input", waiting_for: kind, offset: result.offset });
		});
	}
});

describe("does not wait for input", () => {
	for (const [program, command] of NOT_WAITING) {
		test.skipIf(!which(program))(`${command}${missing(program)}`, async () => {
			const process = await onTerminal(await testRuntime(), command);
			await neverWaits(process, process.wait({ until: { pattern: "up" }, timeout: 100_000 }));
		});
	}

	test.skipIf(!which("curl"))(`curl on a server that takes its time${missing("curl")}`, async () => {
		let asked = () => {};
		const request = new Promise<void>((resolve) => {
			asked = resolve;
		});
		const server = http.createServer(() => asked());
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		atEnd(() => {
			server.closeAllConnections();
			return new Promise((resolve) => server.close(resolve));
		});
		const process = await onTerminal(await testRuntime(), `curl http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
		await neverWaits(process, request);
	});
});

test("looking again at a terminal that waits asks for its modes no more, until its reader has run", async () => {
	const process = await onTerminal(await testRuntime(), "read -r x; read -r -s y; read -r z");
	expect(await untilWaiting(process, { timeout: 100_000 })).toMatchObject({ waiting_for: "line" });
	const asked = vi.spyOn(process.kernel, "terminal");
	atEnd(() => asked.mockRestore());
	for (let look = 0; look < 5; look++) expect(await waitingFor(process, { reuse: true })).toMatchObject({ waiting_for: "line" });
	expect(asked).toHaveBeenCalledTimes(1);
	await process.write("\n");
	expect(await untilWaiting(process, { timeout: 100_000 })).toMatchObject({ waiting_for: "password" });
	expect(await waitingFor(process, { reuse: true })).toMatchObject({ waiting_for: "password" });
});

const noSudo = process.getuid?.() !== 0 || !which("sudo") ? " (skipped: needs root and sudo)" : "";

test.skipIf(noSudo)(`a program under sudo, which gives it a terminal of its own, is seen to wait as well${noSudo}`, async () => {
	const runtime = await testRuntime();
	const asks = await onTerminal(runtime, "sudo bash -c 'read -r -s -p \"inside? \" x'");
	expect(await untilWaiting(asks, { timeout: 100_000 })).toMatchObject({ matched: "input", waiting_for: "password" });
	expect((await readScreen(asks)).screen).toBe("inside?");
	const works = await onTerminal(runtime, "sudo bash -c 'echo up; sleep 30'");
	await neverWaits(works, works.wait({ until: { pattern: "up" }, timeout: 100_000 }));
});

const noSu = process.getuid?.() !== 0 || !which("setsid") ? " (skipped: needs root)" : "";

test.skipIf(noSu)(`a program whose session is not that of its terminal, or has taken it away, is seen as well${noSu}`, async () => {
	const runtime = await testRuntime();
	for (const command of ["su -s /bin/bash nobody -c 'read -r -p \"inside? \" x'", "setsid -c -w bash -c 'read -r -p \"inside? \" x'"]) {
		const asks = await onTerminal(runtime, command);
		expect(await untilWaiting(asks, { timeout: 100_000 })).toMatchObject({ matched: "input", waiting_for: "line" });
		expect((await readScreen(asks)).screen).toBe("inside?");
		await asks.write("x\n");
		expect((await asks.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
	}
});

test("a program that is stopped because it uses the terminal from the background is said to be, at once and at every look", async () => {
	const process = await onTerminal(await testRuntime(), "timeout 600 cat; :");
	const found = await untilWaiting(process, { timeout: 100_000 });
	const stopped = expect.stringMatching(/^cat \(pid \d+\) is stopped in a background process group .*timeout --foreground/);
	expect(found).toMatchObject({ matched: null, status: { status: "running" }, stopped });
	expect(await waitingFor(process)).toEqual({ waiting: false, stopped });
});

test.skipIf(!which("tmux"))(`in tmux, where another process reads the terminal, silence decides${missing("tmux")}`, async () => {
	const process = await onTerminal(await testRuntime(), "tmux -S ./socket -f /dev/null new cat");
	const found = await untilWaiting(process, { timeout: 100_000, idleMs: 500 });
	expect(found).toMatchObject({
		matched: "input",
		waiting_for: "idle",
		waiting_evidence: expect.stringMatching(/nothing printed for 0\.5 s; tmux: client .* passes keys on/),
	});
});

/** Look from its start on, and sixty times more once it is `up`. */
async function neverWaits(process: Process, up: Promise<unknown>): Promise<void> {
	let left = Number.POSITIVE_INFINITY;
	void up.then(() => {
		left = 60;
	});
	for (; left > 0; left--) {
		expect(await waitingFor(process)).toEqual({ waiting: false });
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	expect(process.status().status).toBe("running");
	expect(await untilWaiting(process, { timeout: 400 })).toMatchObject({ matched: null });
}

talking({ rounds: 8, looks: 30 });

describe("on a terminal made by", () => {
	for (const pty of PTY_TOOLS)
		test(`${pty.name}, too`, async (context) => {
			const runtime = await runtimeWith(pty, context);
			const process = await onTerminal(runtime, "while read -r -p 'n? ' x; do echo \"got $x\"; done");
			for (let round = 1; round <= 10; round++) {
				expect(await untilWaiting(process, { timeout: 100_000 })).toMatchObject({ matched: "input", waiting_for: "line" });
				expect((await readScreen(process)).screen).toMatch(round === 1 ? /^n\?$/ : new RegExp(`got ${round - 1}\\nn\\?$`));
				await process.write(`${round}\n`);
			}
		});
});

test("where only silence tells, what was typed ends it", async () => {
	const process = await onTerminal(await testRuntime(), `stty raw -echo; cp "$(command -v cat)" telnet; ./telnet >out`);
	const idleMs = 3_000;
	expect(await untilWaiting(process, { idleMs, timeout: 100_000 })).toMatchObject({ waiting_for: "idle" });
	expect(await waitingFor(process, { idleMs })).toMatchObject({ waiting_for: "idle" });
	await process.write("x");
	await until("it has taken that", () => fs.statSync(path.join(process.spec.cwd, "out")).size > 0);
	expect(await waitingFor(process, { idleMs })).toEqual({ waiting: false });
});

test.skipIf(noProgram32)(`a program of 32 bits, whose system calls have other numbers, is seen as well${noProgram32}`, async () => {
	const file = program32();
	const process = await onTerminal(await testRuntime(), `printf 'n? '; ${file}`);
	expect(await untilWaiting(process, { timeout: 100_000 })).toMatchObject({
		matched: "input",
		waiting_for: "line",
		waiting_evidence: expect.stringMatching(/^program32 .* the terminal takes lines and echoes$/),
	});
	await process.write("x\n");
	expect(await process.wait({ timeout: 100_000 })).toMatchObject({ status: { status: "exited", exitCode: 0 } });
});

test("the end of the program ends the wait, with its last output", async () => {
	const runtime = await testRuntime();
	const process = await onTerminal(runtime, "sleep 0.1; echo last; exit 3");
	const result = await untilWaiting(process, { timeout: 100_000 });
	expect(result).toEqual({ matched: "exit", status: expect.objectContaining({ status: "exited", exitCode: 3 }), offset: "last\r\n".length });
	expect(await untilWaiting(process)).toMatchObject({ matched: "exit" });
	expect(await waitingFor(process)).toEqual({ waiting: false });
});

test("a wait can be interrupted, and the process goes on", async () => {
	const process = await onTerminal(await testRuntime(), "sleep 600");
	const stop = new AbortController();
	const waiting = untilWaiting(process, { signal: stop.signal });
	stop.abort();
	await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
	expect(process.status().status).toBe("running");
});

test("without a terminal it is unknown whether a program waits", async () => {
	const process = await (await testRuntime()).spawn({ command: "cat" });
	await expect(waitingFor(process)).rejects.toMatchObject({ code: "NO_TERMINAL" });
	await expect(untilWaiting(process)).rejects.toMatchObject({ code: "NO_TERMINAL" });
});
