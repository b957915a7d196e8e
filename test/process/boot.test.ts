/** Processes of `run --restart` after the machine has ended: as far as that can be had here, everything of them is killed, and another boot is on record. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { isAlive } from "../../src/base/proc.js";
import { readParts } from "../../src/keeper/layout.js";
import { readSpec } from "../../src/keeper/spec.js";
import { members, resume, snapshot, summary } from "../../src/process/index.js";
import { CLI, cli } from "../support/cli.js";
import { atEnd, endAll, tempDir, testRuntime, textOf, until } from "../support/home.js";
import { openRuntime, type Process, type Runtime } from "../support/internal.js";

/** The power goes: nothing of it writes down how it ended. */
async function powerCut(processes: readonly Process[]): Promise<void> {
	for (const process of processes) {
		const parts = Object.values(readParts(process.dir));
		const tree = members(await snapshot(), process.dir, process.spec);
		for (const pid of new Set([readParts(process.dir).keeper?.pid ?? 0, ...parts.map(({ pid }) => pid), ...tree])) kill(pid, "SIGKILL");
		await until("all of it is gone", () => !parts.some(isAlive));
	}
	anotherBoot(processes);
}

function kill(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(pid, signal);
	} catch {
		// it has ended with another one
	}
}

function anotherBoot(processes: readonly Process[]): void {
	for (const { dir } of processes) {
		const spec = readSpec(dir);
		fs.writeFileSync(path.join(dir, "spec.json"), JSON.stringify({ ...spec, host: { ...spec?.host, boot: "another-boot" } }));
	}
}

/** Another program, which remembers nothing of the specs before. */
async function later(home: string): Promise<Runtime> {
	const runtime = await openRuntime({ home, warm: 0 });
	atEnd(() => endAll(runtime));
	return runtime;
}

const SECRET = "sk-test-0123456789abcdef0123456789abcdef";
const COMMAND = `echo "$GREETING $API_KEY in $PWD of \${TMUX-no} tmux"; exec sleep 1000`;

test("what ran is started again by the service, with its name, directory, limits and environment, but for secrets, which its record does not have", async () => {
	const home = tempDir("home");
	const dir = tempDir("work");
	const env = { GREETING: "hello", API_KEY: SECRET, TMUX: "/tmp/tmux" };
	const runtime = await testRuntime({ home });
	const options = [
		"--name",
		"web",
		"--restart",
		"always",
		"--cwd",
		dir,
		"--file-size",
		"1M",
		...Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
	];
	const ran = await cli(home, ["run", "--background", "--task", "site", ...options, "--", COMMAND]);
	expect(ran.stderr).toContain("secrets are not written down: at boot it is started without API_KEY, unless the service has it");
	const was = runtime.get(ran.stdout.trim());
	await until("it runs", () => textOf(was) === `hello ${SECRET} in ${dir} of /tmp/tmux tmux\n`);
	const record = path.join(home, "boot", `${was.id}.json`);
	expect([fs.statSync(record).mode & 0o777, fs.readFileSync(record, "utf8").includes(SECRET)]).toEqual([0o600, false]);

	expect(await resume(runtime)).toEqual([]); // nothing has ended
	await powerCut([was]);
	const first = await serving(home, {});
	expect(first.said()).toMatch(/started web again, which ended with the machine, as proc_\w+: without API_KEY, which is not written down\n/);
	const now = (await later(home)).list({ task: "site", ended: false });
	expect(now.map(({ id, spec }) => [id === was.id, spec.name, spec.restart, spec.cwd, spec.limits?.process])).toEqual([
		[false, "web", "always", dir, { file_size: 1024 ** 2 }],
	]);
	await until("it runs again", () => textOf(now[0] as Process) === `hello  in ${dir} of no tmux\n`);
	expect(fs.readdirSync(path.join(home, "boot")).filter((name) => name.endsWith(".json"))).toEqual([`${now[0]?.id}.json`]);
	await first.stop();

	// The next time the service has the secret; and nobody starts it twice.
	await powerCut(now);
	const [second, third] = await Promise.all([serving(home, { API_KEY: SECRET }), serving(home, { API_KEY: SECRET })]);
	const again = (await later(home)).list({ task: "site", ended: false });
	expect(again).toHaveLength(1);
	await until("it has it", () => textOf(again[0] as Process).startsWith(`hello ${SECRET} in `));
	await Promise.all([second.stop(), third.stop()]);
});

test("what the shutdown has stopped is started again; what was killed, is done, or was given up is not, nor what was stopped while the machine goes on", async () => {
	const home = tempDir("home");
	const dir = tempDir("bin");
	fs.writeFileSync(path.join(dir, "sleep"), "#!/bin/sh\n", { mode: 0o755 });
	const { tools } = await testRuntime();
	const runtime = await testRuntime({ home, tools: { ...tools, sleep: path.join(dir, "sleep") } });
	const start = (name: string, restart: "always" | "on-failure", command: string) => runtime.spawn({ name, restart, command });
	const waits = "trap 'exit 0' TERM; echo up; while :; do /bin/sleep 0.05; done";
	const stopped = await start("stopped", "on-failure", waits);
	const terminated = await start("terminated", "always", waits);
	const killed = await start("killed", "always", waits);
	const done = await start("done", "on-failure", "true");
	const given = await start("given", "on-failure", "exit 3");
	const taken = await start("taken", "always", waits);
	await Promise.all([done, given].map((process) => process.wait({ timeout: 100_000 })));
	for (const process of [stopped, terminated, killed, taken]) await until("it is up", () => textOf(process) === "up\n");
	await killed.kill();
	for (const process of [stopped, terminated]) {
		await process.signal("SIGTERM");
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited" });
	}
	await powerCut([taken]);
	anotherBoot([stopped, killed, done, given]);

	const next = await later(home);
	const other = await next.spawn({ command: "exec sleep 1000", name: "taken" });
	const found = await resume(next);
	expect(found.map(({ name, now, note }) => [name, now !== undefined, note]).sort()).toEqual([
		["stopped", true, undefined],
		["taken", false, `${other.id} runs under its name`],
	]);
	expect(
		next
			.list({ ended: false })
			.map(({ spec }) => spec.name)
			.sort(),
	).toEqual(["stopped", "taken"]);
	expect(summary(found.find(({ name }) => name === "stopped")?.now as Process)).toMatchObject({ restart: "on-failure", restarts: 0 });
	// Those that are done with are forgotten; what waits for its name, or for the machine's end, is not.
	const names = (ids: readonly string[]) => ids.map((id) => next.get(id.slice(0, -".json".length)).spec.name).sort();
	expect(names(fs.readdirSync(path.join(home, "boot")).filter((name) => name.endsWith(".json")))).toEqual(["stopped", "taken", "terminated"]);
	expect(await resume(next)).toMatchObject([{ name: "taken" }]);
});

test("one whose directory is gone is said, kept for the next time, and holds up nothing else; a broken record is dropped", async () => {
	const home = tempDir("home");
	const runtime = await testRuntime({ home });
	const dir = tempDir("work");
	const lost = await runtime.spawn({ name: "lost", restart: "always", command: "exec sleep 1000", cwd: dir });
	const web = await runtime.spawn({ name: "web", restart: "always", command: ["sleep", "1000"] });
	const broken = await runtime.spawn({ name: "broken", restart: "always", command: "exec sleep 1000" });
	const corrupt = await runtime.spawn({ name: "corrupt", restart: "always", command: "exec sleep 1000" });
	await powerCut([lost, web, broken, corrupt]);
	fs.writeFileSync(path.join(corrupt.dir, "spec.json"), "{");
	fs.rmSync(dir, { recursive: true });
	fs.writeFileSync(path.join(home, "boot", `${broken.id}.json`), '{"v":1,"opt');
	const next = await later(home);
	const found = await resume(next);
	expect(found.map(({ name, now, note }) => [name, now !== undefined, note]).sort()).toEqual([
		["lost", false, expect.stringContaining(`${dir} does not exist`)],
		["web", true, undefined],
	]);
	fs.mkdirSync(dir);
	expect(await resume(next)).toMatchObject([{ name: "lost", now: expect.anything() }]);
});

interface Serving {
	said(): string;
	stop(): Promise<void>;
}

/** The service, as the unit starts it. */
async function serving(home: string, env: Record<string, string>): Promise<Serving> {
	const { PATH = "", HOME = "/" } = process.env;
	const child = spawn(process.execPath, [CLI, "serve", "--resume", "--port", "0", "--home", home], { env: { PATH, HOME, INVOCATION_ID: "1", ...env } });
	let said = "";
	for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (said += text));
	const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
	const stop = async () => {
		child.kill("SIGTERM");
		await closed;
	};
	atEnd(stop);
	await until("it serves", () => said.includes("#token=") || child.exitCode !== null);
	return { said: () => said, stop };
}
