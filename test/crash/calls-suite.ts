/** A caller that is killed at a random moment: what `calls.find` says of its calls afterwards is true. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import type { AgentRuntime } from "../../src/tools/index.js";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import { seeded } from "../support/seed.js";

const KINDS = 14; // of calls in test/fixtures/caller.mjs

/** Those whose effect cannot be recognised afterwards, or only in part: docs/library.md names them. */
const MAY_BE_UNKNOWN = ["two", "input", "kill"];

export async function killCallers(rounds: number): Promise<Record<string, number>> {
	const random = seeded("calls");
	const runtime = await testRuntime();
	const dir = tempDir();
	const seen: Record<string, number> = {};
	for (let round = 0; round < rounds; round++) {
		const first = Math.floor(random() * KINDS);
		const { ids, done } = await untilKilled(runtime.home.root, dir, `r${round}`, { first, early: round % 4 === 3, ms: Math.floor(random() * 900) });
		for (const id of ids) {
			const state = await checked(runtime, dir, id, done.has(id));
			const key = done.has(id) ? `${state} (answered)` : state;
			seen[key] = (seen[key] ?? 0) + 1;
		}
		expect(await runtime.calls.find("calls", `r${round}.none`)).toEqual({ state: "never" });
		for (const process of runtime.list({ task: "calls", ended: false })) await process.kill({ graceMs: 0 });
	}
	return seen;
}

/** `early`: it is killed during its first call, which opens the shell and takes longest. Returns the ids that it began with, and those whose calls have answered. */
async function untilKilled(
	home: string,
	dir: string,
	prefix: string,
	{ first, early, ms }: { first: number; early: boolean; ms: number },
): Promise<{ ids: string[]; done: Set<string> }> {
	const child = spawn(process.execPath, ["test/fixtures/caller.mjs", home, dir, prefix, String(first)], { stdio: ["ignore", "pipe", "pipe"] });
	atEnd(() => child.kill("SIGKILL"));
	let said = "";
	let errors = "";
	child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
	child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
	const ended = new Promise((resolve) => child.once("close", resolve));
	await until("it makes calls", () => said.includes(early ? "\n" : "done ") || child.exitCode !== null, 120_000); // it loads the rules and starts a shell
	await new Promise((resolve) => setTimeout(resolve, ms)); // the random moment
	child.kill("SIGKILL");
	await ended;
	expect(errors).toBe("");
	const lines = said.split("\n").slice(0, -1);
	return { ids: lines.filter((line) => !line.startsWith("done ")), done: new Set(lines.flatMap((line) => (line.startsWith("done ") ? [line.slice(5)] : []))) };
}

/** What a call has done, as it can be seen: how often, in each of its files. */
function effectsOf(runtime: AgentRuntime, dir: string, id: string, kind: string): number[] {
	const file = (name: string) => path.join(dir, name);
	const lines = (name: string) => {
		const text = fs.existsSync(file(name)) ? fs.readFileSync(file(name), "utf8") : "";
		return text.split("\n").filter((line) => line === id).length;
	};
	if (kind === "read_file") return [];
	if (kind === "folder") return [lines(`${id}.to/a`), lines(`${id}.to/b`)];
	if (kind === "delete") return [fs.existsSync(file(`${id}.gone`)) ? 0 : 1];
	if (kind === "two") return [lines(id), lines(`${id}.b`)];
	if (kind === "kill") return [runtime.get(fs.readFileSync(file(`${id}.session`), "utf8")).status().status === "running" ? 0 : 1];
	return [lines(id)];
}

async function checked(runtime: AgentRuntime, dir: string, id: string, answered: boolean): Promise<string> {
	const kind = id.split(".")[2] as string;
	const effects = () => effectsOf(runtime, dir, id, kind);
	const none = () => expect(effects(), what).not.toContain(1);
	const once = async () => {
		if (kind === "input") await until(`${what} reaches its file`, () => effects()[0] === 1);
		expect(effects(), what).toEqual(effects().map(() => 1));
	};
	const found = await runtime.calls.find("calls", id);
	const what = `${id}: ${JSON.stringify(found)}`;
	if (answered) expect(["ended", "running"], what).toContain(found.state);
	if (found.state === "running" && found.session_id !== undefined) {
		await runtime.get(found.session_id).wait({ timeout: 100_000 });
		expect(await runtime.calls.find("calls", id), what).toMatchObject({ state: "ended", status: "exited", exit_code: 0 });
	}
	if (!MAY_BE_UNKNOWN.includes(kind)) expect(found.state, what).not.toBe("unknown");
	if (found.state === "never") {
		none();
		await again(runtime, dir, id, kind);
		await once();
		return `${kind} never`;
	}
	if (found.state !== "unknown") await once();
	const before = effects();
	const twice = await runtime.terminal({ command: `echo ${id} >> ${path.join(dir, id)}` }, { task: "calls", id });
	expect(twice, what).toMatchObject({ status: "error", error: expect.stringContaining("was used before") });
	if (found.state !== "unknown") expect(effects(), what).toEqual(before);
	return `${kind} ${found.state}`;
}

/** The same id, since the first call never did anything. */
async function again(runtime: AgentRuntime, dir: string, id: string, kind: string): Promise<void> {
	const call = { task: "calls", id };
	const file = (end = "") => path.join(dir, `${id}${end}`);
	const ok = { status: "ok" };
	const added = (end: string) => `--- /dev/null\n+++ ${file(end)}\n@@ -0,0 +1 @@\n+${id}\n`;
	if (kind === "patch") expect(await runtime.patch({ path: file(), old_string: "end\n", new_string: `${id}\nend\n` }, call)).toMatchObject(ok);
	else if (kind === "write_file") expect(await runtime.writeFile({ path: file(), content: `${id}\n` }, call)).toMatchObject(ok);
	else if (kind === "upload" || kind === "download") expect(await runtime[kind]({ source: file(".from"), target: file() }, call)).toMatchObject(ok);
	else if (kind === "folder") expect(await runtime.upload({ source: file(".from"), target: file(".to") }, call)).toMatchObject(ok);
	else if (kind === "delete") expect(await runtime.patch({ diff: `--- ${file(".gone")}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n` }, call)).toMatchObject(ok);
	else if (kind === "two") expect(await runtime.patch({ diff: added("") + added(".b") }, call)).toMatchObject(ok);
	else if (kind === "input" || kind === "kill") {
		const action = kind === "input" ? ({ action: "write", data: `${id}\n` } as const) : ({ action: "kill" } as const);
		expect(await runtime.process({ ...action, session_id: fs.readFileSync(file(".session"), "utf8") }, call)).toMatchObject({ error: null });
	} else expect(await runtime.terminal({ command: `echo ${id} >> ${file()}` }, call)).toMatchObject({ exit_code: 0 });
}
