import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type Identity, isAlive } from "../../src/base/proc.js";
import { readParts, readState } from "../../src/keeper/layout.js";
import { findTools, type PtyTool } from "../../src/keeper/tools.js";
import { PTY_TOOLS, runtimeWith } from "../fixtures/pty-tools.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";

describe.each(PTY_TOOLS)("a terminal by $name", (pty) => {
	test("is one, of 120 columns and 30 rows unless told otherwise", async (context) => {
		const runtime = await runtimeWith(pty, context);
		const process = await runtime.spawn({ command: 'tty; stty size; echo "$TERM"; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all', terminal: true });
		await process.wait({ timeout: 100_000 });
		expect(textOf(process)).toMatch(/^\/dev\/pts\/\d+\r\n30 120\r\nxterm-256color\r\nall\r\n$/);
		expect(process.spec.terminal).toEqual({ cols: 120, rows: 30, by: pty.name });
		const other = await runtime.spawn({ command: "stty size", terminal: { cols: 77, rows: 11 } });
		await other.wait({ timeout: 100_000 });
		expect(textOf(other)).toBe("11 77\r\n");
	});

	test("tells its command of a new size", async (context) => {
		const runtime = await runtimeWith(pty, context);
		const process = await runtime.spawn({ command: "trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done", terminal: true });
		await process.wait({ until: { pattern: "ready" } });
		await process.resize(100, 40);
		expect(await process.wait({ until: { pattern: "^40 100\r$" }, timeout: 100_000 })).toMatchObject({ matched: "pattern" });
	});

	test("has the environment of its command for the command alone", async (context) => {
		const env = { PERL5OPT: "-Mno::such::module", PYTHONHOME: "/no/such/place", LD_PRELOAD: "/no/such/library.so", SHELL: "/no/such/shell" };
		const names = Object.keys(env);
		const process = await (await runtimeWith(pty, context)).spawn({
			command: `echo "${names.map((name) => `$${name}`).join(" ")}"; read -r`,
			env,
			terminal: true,
		});
		await process.wait({ until: { pattern: Object.values(env).join(" ") }, timeout: 100_000 });
		const { child, terminal } = readParts(process.dir);
		for (const part of [child, terminal]) expect(fs.readFileSync(`/proc/${part?.pid}/environ`, "utf8")).not.toContain("/no/such");
		expect(fs.statSync(path.join(process.dir, "environment")).size).toBe(0);
	});

	test("echoes what is typed, and Ctrl-D ends the input", async (context) => {
		const runtime = await runtimeWith(pty, context);
		const process = await runtime.spawn({ command: "cat; exit 3", terminal: true });
		expect(await process.write("héllo\n")).toBe(7);
		await process.wait({ until: { pattern: "héllo\r\nhéllo\r\n" }, timeout: 100_000 });
		await process.closeStdin();
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
		expect(textOf(process)).toBe("héllo\r\nhéllo\r\n");
	});

	test.each([
		["exit 0", 0, null],
		["exit 42", 42, null],
		["exit 137", 137, null],
		["kill -9 $$", 137, "SIGKILL"],
		["kill -TERM $$", 143, "SIGTERM"],
		["no-such-command-anywhere", 127, null],
	])("reports the end of `%s` as it was", async (command, exitCode, signal) => {
		const process = await (await testRuntime({ tools: { ...findTools(), pty } })).spawn({ command, terminal: true });
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode, signal });
	});

	test("passes on all that was printed before the end", async (context) => {
		const process = await (await runtimeWith(pty, context)).spawn({ command: "stty -onlcr; seq 200000", terminal: true });
		await process.wait({ timeout: 100_000 });
		expect(textOf(process)).toBe(`${Array.from({ length: 200_000 }, (_, n) => n + 1).join("\n")}\n`);
	});

	test("is not drained while its relay still has output in its hands, and a relay that was stopped is continued", async (context) => {
		const go = path.join(tempDir(), "go");
		const kept = await (await runtimeWith(pty, context)).spawn({
			command: `echo ready; until [ -e '${go}' ]; do sleep 0.01; done; echo last; exit 3`,
			terminal: true,
		});
		await kept.wait({ until: { pattern: "ready" } });
		const relay = readParts(kept.dir).child as Identity;
		process.kill(relay.pid, "SIGSTOP");
		fs.writeFileSync(go, "");
		await until("it has ended", () => kept.status().status === "exited");
		expect((await kept.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
		expect(textOf(kept)).toBe("ready\r\nlast\r\n");
	});

	test("takes a long paste without losing any of it", async (context) => {
		const process = await (await runtimeWith(pty, context)).spawn({ command: "stty raw -echo; echo ready; head -c 200000 | md5sum", terminal: true });
		await process.wait({ until: { pattern: "ready" } });
		const paste = Buffer.alloc(200_000, "0123456789abcdef\x03\x04\x11\x13\x1a\xff", "latin1");
		await process.write(paste);
		await process.wait({ timeout: 100_000 });
		expect(textOf(process)).toContain(createHash("md5").update(paste).digest("hex"));
	});

	test("lets a command that is killed say goodbye, and sees how it ends", async (context) => {
		const runtime = await runtimeWith(pty, context);
		const polite = await runtime.spawn({ command: "trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.02; done", terminal: true });
		await polite.wait({ until: { pattern: "ready" } });
		const result = await polite.kill();
		expect(result).toMatchObject({ status: "killed", survivors: [], final: { status: "killed", exitCode: 9, signal: null } });
		expect(textOf(polite)).toContain("bye\r\n");
		const { keeper, terminal, child } = readParts(polite.dir);
		for (const part of [keeper, terminal, child]) expect(result.signalled).not.toContain(part?.pid);
	});

	test("sees the end of a command that had to be killed the hard way", async (context) => {
		const deaf = await (await runtimeWith(pty, context)).spawn({ command: "trap '' TERM HUP INT; echo ready; while :; do sleep 0.02; done", terminal: true });
		await deaf.wait({ until: { pattern: "ready" } });
		expect(await deaf.kill({ graceMs: 100 })).toMatchObject({ status: "killed", survivors: [], final: { status: "killed", exitCode: 137, signal: "SIGKILL" } });
	});

	test("ends although a grandchild in a session of its own still holds it", async (context) => {
		const up = path.join(tempDir(), "up");
		const command = `setsid sh -c ": >'${up}'; exec sleep 1000" & until [ -e '${up}' ]; do sleep 0.01; done; echo done; exit 3`;
		const process = await (await runtimeWith(pty, context)).spawn({ command, terminal: true });
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
		await until("its relay has ended", () => !isAlive(readParts(process.dir).child as Identity));
		await until("its log is closed", () => readState(process.dir).kind === "closed");
		expect(textOf(process)).toBe("done\r\n");
		expect(await process.leftovers()).toHaveLength(1);
		expect(await process.kill()).toMatchObject({ status: "already_exited", survivors: [] });
		expect(await process.leftovers()).toEqual([]);
	});
});

test("a relay with an unread paste sleeps without polling", async (context) => {
	const pty = PTY_TOOLS.find(({ name }) => name === "perl") as PtyTool;
	const kept = await (await runtimeWith(pty, context)).spawn({ command: "stty raw -echo; echo ready; exec sleep 1000", terminal: true });
	await kept.wait({ until: { pattern: "ready" } });
	const abort = new AbortController();
	const paste = kept.write(Buffer.alloc(300_000, "x"), { signal: abort.signal }).catch((error: unknown) => error);
	const relay = readParts(kept.dir).child as Identity;
	const timeoutOfSelect = () => fs.readFileSync(`/proc/${relay.pid}/syscall`, "utf8").split(" ")[5];
	await until("it sleeps until something happens", () => timeoutOfSelect() === "0x0");
	abort.abort();
	expect(await paste).toMatchObject({ code: "ABORTED" });
});

test("a tool that cannot make a terminal is an error, and nothing runs", async () => {
	const ran = path.join(tempDir(), "ran");
	const runtime = await testRuntime({ tools: { ...findTools(), pty: { name: "script", program: "/bin/false", relay: "script" } } });
	await expect(runtime.spawn({ command: `: >'${ran}'`, terminal: true })).rejects.toMatchObject({ code: "START_FAILED" });
	expect(fs.existsSync(ran)).toBe(false);
	expect(runtime.list({ task: null })).toEqual([]);
});

test("on a box that can make no terminal one is refused, and nothing runs", async () => {
	const runtime = await testRuntime({ tools: { ...findTools(), pty: undefined } });
	await expect(runtime.spawn({ command: "true", terminal: true })).rejects.toMatchObject({
		name: "HoldfastError",
		code: "NO_TERMINAL",
		message: expect.stringContaining("script(1)"),
	});
	expect(runtime.list({ task: null })).toEqual([]);
});
