/** A box with nothing but busybox: all that needs no terminal works, and what does not work is said. */
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, type TestContext, test } from "vitest";
import { linkOf } from "../../src/base/proc.js";
import { readParts, readState } from "../../src/keeper/layout.js";
import { findTools } from "../../src/keeper/tools.js";
import { ringSettles, tempDir, testRuntime, textOf, until } from "../support/home.js";
import type { Runtime } from "../support/internal.js";

test("output, exit code and signal are as the command's own", async (context) => {
	const { runtime, env } = await busyboxRuntime(context);
	const process = await runtime.spawn({ command: "echo out; echo err >&2; exit 7", env });
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 7, signal: null });
	expect(textOf(process)).toBe("out\nerr\n");
	const killed = await runtime.spawn({ command: "kill -9 $$", env });
	expect((await killed.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 137, signal: "SIGKILL" });
	const high = await runtime.spawn({ command: "exit 137", env });
	expect((await high.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 137, signal: null });
});

test("shell text is run by sh, and the spec says so", async (context) => {
	const { runtime, env } = await busyboxRuntime(context);
	const process = await runtime.spawn({ command: 'cat <<\'E\'\nit\'s "$HOME"\nE\necho "${BASH_VERSION-none}"', env });
	await process.wait({ timeout: 100_000 });
	expect(process.spec.shell).toBe("sh");
	expect(textOf(process)).toBe('it\'s "$HOME"\nnone\n');
	const words = await runtime.spawn({ command: ["printf", "%s|", "a b", "it's", "$HOME", ""], env });
	await words.wait({ timeout: 100_000 });
	expect(textOf(words)).toBe("a b|it's|$HOME||");
});

test("stdin takes bytes until it is closed", async (context) => {
	const { runtime, env } = await busyboxRuntime(context);
	const process = await runtime.spawn({ command: "cat; echo end", env });
	for (const part of Object.values(readParts(process.dir))) expect(linkOf(`/proc/${part.pid}/exe`)).toMatch(/busybox$/);
	const sent = Buffer.alloc(300_000, "é, zeros \0 and \xff\n", "latin1");
	expect(await process.write(sent)).toBe(sent.length);
	await process.closeStdin();
	await process.wait({ timeout: 100_000 });
	expect(process.read(0, 1_000_000).bytes.equals(Buffer.concat([sent, Buffer.from("end\n")]))).toBe(true);
});

test("3000 lines, each a write of its own, arrive in order", async (context) => {
	const { runtime, env } = await busyboxRuntime(context);
	const process = await runtime.spawn({ command: "n=0; while [ $n -lt 3000 ]; do n=$((n + 1)); echo line $n; done", env });
	await process.wait({ timeout: 100_000 });
	expect(textOf(process)).toBe(Array.from({ length: 3000 }, (_, n) => `line ${n + 1}\n`).join(""));
});

test("a ring log keeps its limit over many writes, and the newest output", async (context) => {
	const { runtime, env } = await busyboxRuntime(context);
	const limit = 64 * 1024;
	const process = await runtime.spawn({ command: "seq 60000; n=60000; while [ $n -lt 70000 ]; do n=$((n + 1)); echo $n; done; exit 3", env, log: { limit } });
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
	await until("the log is closed", () => readState(process.dir).kind === "closed");
	const truth = Buffer.from(`${Array.from({ length: 70_000 }, (_, n) => n + 1).join("\n")}\n`);
	await ringSettles(process, limit);
	const { first, end } = process.log.bounds();
	expect(end).toBe(truth.length);
	expect(end - first).toBeGreaterThan(limit / 2);
	expect(process.read(0, limit).bytes.equals(truth.subarray(first))).toBe(true);
});

test("a kill takes the whole tree", async (context) => {
	const { runtime, env } = await busyboxRuntime(context);
	const process = await runtime.spawn({ command: "sleep 1000 & setsid sleep 1000 & trap '' TERM; echo ready; while :; do sleep 1000; done", env });
	await process.wait({ until: { pattern: "ready" } });
	const result = await process.kill({ graceMs: 200 });
	expect(result).toMatchObject({ status: "killed", survivors: [], final: { status: "killed", exitCode: 137, signal: "SIGKILL" } });
	expect(result.signalled.length).toBeGreaterThanOrEqual(4);
});

test("a terminal is refused with a reason", async (context) => {
	const { runtime, env } = await busyboxRuntime(context);
	await expect(runtime.spawn({ command: "true", env, terminal: true })).rejects.toMatchObject({ code: "NO_TERMINAL" });
	expect(runtime.list({ task: null })).toEqual([]);
});

/** A runtime that finds nothing but the applets of busybox, and an environment in which commands do neither. */
async function busyboxRuntime({ skip }: TestContext): Promise<{ runtime: Runtime; env: Record<string, string> }> {
	const busybox = findBusybox() ?? (process.getuid?.() === 0 ? installBusybox() : undefined);
	if (!busybox) return skip("there is no busybox, and it cannot be installed here (apt-get install busybox-static, as root)");
	const bin = path.join(tempDir("busybox"), "bin");
	fs.mkdirSync(bin);
	execFileSync(busybox, ["--install", "-s", bin]);
	const tools = findTools([bin]);
	expect(tools).toMatchObject({ sh: path.join(bin, "sh"), bash: undefined, fallocate: undefined, pty: undefined, subreaper: undefined });
	return { runtime: await testRuntime({ tools }), env: { PATH: bin } };
}

function findBusybox(): string | undefined {
	return ["/usr/bin/busybox", "/bin/busybox"].find((file) => fs.existsSync(file));
}

function installBusybox(): string | undefined {
	spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "busybox-static"], { stdio: "ignore", timeout: 120_000 });
	return findBusybox();
}
