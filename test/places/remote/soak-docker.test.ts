/** What becomes of containers behind our back, and at the end of their time: found out, said, and put right. */
import fs from "node:fs";
import { describe, expect, test } from "vitest";
import { listContainers } from "../../../src/places/docker/index.js";
import { cli } from "../../support/cli.js";
import { dockerBox, eventually, TASK } from "../../support/docker-box.js";
import { BUSYBOX_IMAGE, FULL_IMAGE, noEngine, ownEngine, sharedEngine, startDaemon, stopDaemon } from "../../support/dockerd.js";
import { atEnd, tempDir, until } from "../../support/home.js";
import { openRuntime } from "../../support/internal.js";

const why = noEngine();
const PATIENCE = { timeout: 120_000 };

describe.skipIf(why)(`containers behind our back${why ? `: ${why}` : ""}`, () => {
	test("a stopped container: its processes are lost, their output is not, and the shell goes on with its state", PATIENCE, async () => {
		const { open, container, state } = await dockerBox();
		const runtime = await open();
		await runtime.terminal({ command: "cd /usr; export A=1; echo x >/root/file" });
		const { session_id } = await runtime.terminal({ command: "echo before; sleep 300", background: true });
		await runtime.process({ action: "wait", session_id, until: { pattern: "before" } });
		const waiting = runtime.process({ action: "wait", session_id });
		await container.stop({ t: 0 });
		expect(await waiting).toMatchObject({ status: "lost", note: expect.stringMatching(/the container had been (stopped|killed)/) });
		expect(await state()).toMatchObject({ status: "exited" });
		const next = await runtime.terminal({ command: 'pwd; echo "[$A]"; cat /root/file' });
		expect(next).toMatchObject({ status: "exited", output: "/usr\n[1]\nx\n" });
		expect(next.note).toMatch(/It has been started again: its files are there, but what ran in it/);
		expect(await runtime.process({ action: "log", session_id })).toMatchObject({ status: "lost", output: "before\n" });
		expect(await runtime.terminal({ command: "echo $A" })).toMatchObject({ output: "1\n" });
	});

	// A link that is silent is given up after half a minute; that it is paused is known sooner.
	test("a paused container goes on with the next command, and nothing is lost", { timeout: 30_000 }, async () => {
		const { open, container } = await dockerBox();
		const runtime = await open();
		await runtime.terminal({ command: "A=1" });
		const { session_id } = await runtime.terminal({ command: "for i in 1 2 3; do echo $i; sleep 0.1; done", background: true });
		await container.pause();
		const next = await runtime.terminal({ command: "echo $A" });
		expect(next).toMatchObject({
			status: "exited",
			output: "1\n",
			note: expect.stringContaining("The container had been paused; it goes on now, and nothing is lost."),
		});
		expect(await runtime.process({ action: "wait", session_id })).toMatchObject({ status: "exited", exit_code: 0, output: "1\n2\n3\n" });
		await container.pause();
		const looked = await runtime.process({ action: "poll", session_id: (await runtime.process({ action: "list" })).processes?.[0]?.session_id });
		expect(looked).toMatchObject({ status: "exited" });
	});

	test("dockerd is away: a look says what was last seen, a command that nothing ran; and then it goes on", PATIENCE, async () => {
		const engine = await ownEngine();
		const { open } = await dockerBox({ engine });
		const runtime = await open();
		await runtime.terminal({ command: "A=1" });
		const { session_id } = await runtime.terminal({ command: "read -r x; exit 3", background: true });
		await stopDaemon(engine, "SIGKILL");
		const asItWas = {
			status: "running",
			exit_code: null,
			note: expect.stringMatching(/Cannot reach .* \(.*the Docker engine is not running.*\)\. Showing its last known state, from /),
		};
		expect(await runtime.process({ action: "poll", session_id })).toMatchObject(asItWas);
		expect(await runtime.process({ action: "list" })).toMatchObject({ error: null, processes: [asItWas] });
		const soon = { within: 3_000 };
		expect(await runtime.terminal({ command: "echo $A" }, soon)).toMatchObject({
			status: "error",
			error: expect.stringMatching(/^nothing ran: .*the Docker engine is not running/),
		});
		await startDaemon(engine);
		expect(await runtime.terminal({ command: "echo $A" })).toMatchObject({ output: "1\n" });
		await runtime.process({ action: "submit", session_id });
		expect(await runtime.process({ action: "wait", session_id })).toMatchObject({ status: "exited", exit_code: 3 });
	});

	test("too much memory ends the command, and the shell and the container go on", PATIENCE, async () => {
		const { open, state } = await dockerBox({ entry: { memory: "64M" } });
		const runtime = await open();
		await runtime.terminal({ command: "A=1" });
		const before = await state();
		const limit = { name: "memory", of: "task", value: 64 * 1024 ** 2, by: "container" };
		const met = {
			status: "killed",
			exit_code: 137,
			limit,
			note: expect.stringMatching(/It met the limit for everything this task runs, 64 ?M\S* of memory \(container\)/),
		};
		expect(await runtime.terminal({ command: `perl -e '$x = "a" x 300_000_000; print length $x'` })).toMatchObject({
			...met,
			output: expect.not.stringContaining("300000000"),
		});
		// The next ones are not blamed for it.
		const other = await runtime.terminal({ command: "sh -c 'kill -9 $$'" });
		expect(other).toMatchObject({ status: "exited", exit_code: 137 });
		expect(other).not.toHaveProperty("limit");
		const later = await runtime.terminal({ command: "kill -9 $$", background: true });
		const ended = await runtime.process({ action: "wait", session_id: later.session_id });
		expect(ended).toMatchObject({ status: "exited", exit_code: 137, signal: "SIGKILL" });
		expect(ended).not.toHaveProperty("limit");
		const started = await runtime.terminal({ command: `exec perl -e '$x = "a" x 300_000_000; print length $x'`, background: true });
		expect(await runtime.process({ action: "wait", session_id: started.session_id })).toMatchObject({ ...met, signal: "SIGKILL" });
		const screened = await runtime.terminal({ command: `exec perl -e '$x = "a" x 300_000_000; print length $x'`, pty: true });
		expect(screened).toMatchObject(met);
		expect(await runtime.terminal({ command: "echo $A" })).toMatchObject({ output: "1\n" });
		expect((await state())?.id).toBe(before?.id);
	});

	test("too much memory for the main process of the container: what ran in it is lost, and both say why", PATIENCE, async () => {
		const { open, container } = await dockerBox({ entry: { memory: "64M" } });
		const runtime = await open();
		const { session_id } = await runtime.terminal({ command: "sleep 300", background: true });
		const main = (await container.inspect()).State.Pid;
		const switches = fs.readFileSync(`/proc/${main}/task/${main}/children`, "utf8").trim().split(" ");
		for (const pid of [main, switches[0]]) fs.writeFileSync(`/proc/${pid}/oom_score_adj`, "1000"); // the kernel's first choice
		await runtime.terminal({ command: `perl -e '$x = "a" x 300_000_000; print length $x'`, background: true });
		const why = /run out of memory \(limit 64 ?M/;
		expect(await runtime.process({ action: "wait", session_id })).toMatchObject({ status: "lost", note: expect.stringMatching(why) });
		expect(await runtime.terminal({ command: "echo usable" })).toMatchObject({ output: "usable\n", note: expect.stringMatching(why) });
	});

	test("no more processes: what cannot be started says so, a kill works all the same, and then there is room", PATIENCE, async () => {
		const { open, state, home } = await dockerBox({ entry: { pids: 60 } });
		const runtime = await open();
		const inside = async (command: string) => (await runtime.terminal({ command })).output.split("\n");
		await runtime.terminal({ command: "true" });
		const { session_id } = await runtime.terminal({ command: "i=0; while [ $i -lt 100 ]; do sleep 300 & i=$((i + 1)); done; wait", background: true });
		expect(await runtime.process({ action: "wait", session_id, until: { pattern: "[Rr]esource temporarily unavailable" }, timeout: 60 })).toMatchObject({
			matched: "pattern",
		});
		const entries = () => ({
			live: fs.readdirSync(`${home}/live`),
			directories: fs.readdirSync(`${home}/procs`, { recursive: true }).filter((name) => /proc_\w+$/.test(`${name}`)).length,
		});
		const before = entries();
		const refused = {
			status: "error",
			exit_code: null,
			error: expect.stringMatching(/^nothing ran: nothing more can be started on .* 60 processes and threads at once \(`pids`\)/),
		};
		expect(await runtime.terminal({ command: "true", background: true })).toMatchObject(refused);
		expect(await runtime.terminal({ command: "true", background: true })).toMatchObject(refused);
		expect(entries().live).toEqual(before.live);
		expect(entries().directories).toBeLessThanOrEqual(before.directories); // a spare log may go meanwhile
		const killed = await runtime.process({ action: "kill", session_id });
		expect(killed).toMatchObject({ status: "killed", survivors: [], error: null });
		expect(killed.signalled?.length).toBeGreaterThan(30);
		expect(await inside("ls /proc")).not.toEqual(expect.arrayContaining(killed.signalled?.map(String) ?? []));
		const again = await runtime.terminal({ command: "echo room; sleep 300", background: true });
		expect(await runtime.process({ action: "wait", session_id: again.session_id, until: { pattern: "room" } })).toMatchObject({ matched: "pattern" });
		expect(await runtime.endTask(TASK)).toMatchObject({ gone: true, sandboxes: [{ kind: "docker" }] });
		expect(await state()).toBeUndefined();
		expect(await runtime.process({ action: "poll", session_id })).toMatchObject({ status: "killed" });
	});
});

describe.skipIf(why)(`the time of containers${why ? `: ${why}` : ""}`, () => {
	test("one whose task was left is removed, not while something runs in it; the next command has a new one, and is told", PATIENCE, async () => {
		const { open, state } = await dockerBox({ entry: { lifetime: 2 } });
		const runtime = await open();
		await runtime.terminal({ command: "echo x >/root/file" });
		const { session_id } = await runtime.terminal({ command: "sleep 6; echo done", background: true });
		const first = await state();
		await runtime.leaveTask(TASK); // only the process keeps the container
		await new Promise((resolve) =>
			runtime
				.get(session_id as string)
				.wait()
				.then(resolve),
		);
		expect((await state())?.id).toBe(first?.id);
		await eventually("it is removed", async () => (await state()) === undefined);
		expect(await runtime.process({ action: "log", session_id })).toMatchObject({ status: "exited", exit_code: 0, output: "done\n" });
		expect(await state()).toBeUndefined();
		const next = await runtime.terminal({ command: "ls /root" });
		expect(next).toMatchObject({
			output: "",
			note: expect.stringContaining("The container had not been used for 2 s and was removed, with the files in it; this is a new one."),
		});
	});

	test("a container that is to be kept is only stopped", PATIENCE, async () => {
		const { open, state } = await dockerBox({ entry: { lifetime: 2, keep: true } });
		const runtime = await open();
		await runtime.terminal({ command: "echo x >/root/file; export A=1" });
		await runtime.leaveTask(TASK);
		await eventually("it is stopped", async () => (await state())?.status === "exited");
		expect(await runtime.terminal({ command: "cat /root/file; echo $A" })).toMatchObject({ output: "x\n1\n", note: expect.stringContaining("started again") });
		expect(await runtime.endTask(TASK)).toMatchObject({ gone: true, notes: [expect.stringContaining("was stopped; its files are kept")] });
		expect(await state()).toMatchObject({ status: "exited" });
	});

	test("with no runtime left, a command that runs in a shell keeps it, a job of the shell too, and an idle shell does not", PATIENCE, async () => {
		const { open, state, container, dir } = await dockerBox({ entry: { lifetime: 2 } });
		const runtime = await open();
		const running = await runtime.terminal({ command: `sleep 8; touch ${dir}/over; sleep 5 &`, timeout: 1 });
		expect(running).toMatchObject({ status: "running" });
		await runtime.close();
		await until("the command has ended", () => fs.existsSync(`${dir}/over`));
		expect(await state()).toMatchObject({ status: "running" });
		expect(await container.wait()).toMatchObject({ StatusCode: 75 });
	});

	test("the end of a task removes its container, once, and reports; a new call begins anew, and of the container nothing is said", PATIENCE, async () => {
		const { open, state, home } = await dockerBox();
		const runtime = await open();
		await runtime.terminal({ command: "sleep 300", background: true });
		expect(await runtime.endTask(TASK)).toMatchObject({
			gone: true,
			processes: [{ command: "sleep 300", status: "killed" }],
			sandboxes: [{ kind: "docker" }],
			notes: [expect.stringContaining("was removed, with everything in it")],
		});
		expect(await state()).toBeUndefined();
		expect(await runtime.endTask(TASK)).toMatchObject({ gone: true, processes: [], sandboxes: [], notes: [] });
		expect(await runtime.terminal({ command: "echo anew" })).toEqual({
			box: { id: expect.any(String), since: expect.any(String) },
			status: "exited",
			output: "anew\n",
			exit_code: 0,
			error: null,
			note: expect.stringContaining("the task was ended after its last command, so this is a new shell"),
			cwd: "/root",
			duration_ms: expect.any(Number),
		});
		expect(await cli(home, ["end", TASK])).toMatchObject({
			code: 0,
			stdout: expect.stringContaining("nothing is left"),
			stderr: expect.stringContaining("was removed, with everything in it"),
		});
		expect(await state()).toBeUndefined();
	});
});

describe.skipIf(why)(`containers that cannot be had${why ? `: ${why}` : ""}`, () => {
	test.each<[string, Record<string, unknown>, RegExp]>([
		["an image that is not there is not fetched", { image: "holdfast/nope:1" }, /holdfast\/nope:1.*(pull|fetch)/],
		["an engine that does not answer", { engine: "unix:///nowhere/docker.sock" }, /\/nowhere\/docker\.sock/],
		["a volume that does not exist", { volumes: ["/no/such/dir:/mnt"] }, /the volume \/no\/such\/dir cannot be used: there is no such directory/],
	])("%s: a clear error, nothing ran, nothing is left", async (_name, entry, words) => {
		const { open, state, home } = await dockerBox({ entry });
		const runtime = await open();
		for (const more of [{}, { background: true }, { pty: true }]) {
			const result = await runtime.terminal({ command: "true", ...more });
			expect(result).toMatchObject({ status: "error", output: "", exit_code: null, error: expect.stringMatching(words) });
		}
		const { code, stderr } = await cli(home, ["run", "--task", TASK, "--place", "box", "--", "true"]);
		expect(code).not.toBe(0);
		expect(stderr).toMatch(words);
		expect(await state()).toBeUndefined();
		expect(runtime.list({ task: null, shells: true })).toEqual([]);
	});

	test.each<[Record<string, unknown>, RegExp]>([
		[{ volumes: ["relative:/mnt"] }, /places\.box in config\.json cannot be used: .*the path here must be absolute/],
		[{ volumes: ["/tmp"] }, /takes a path here and a path in the container/],
		[{ arguments: ["--privileged"] }, /places\.box in config\.json cannot be used: .*--privileged/],
		[{ arguments: ["--nonsense=1"] }, /places\.box in config\.json cannot be used: .*--nonsense/],
		[{ memory: "lots" }, /places\.box in config\.json cannot be used: .*memory/],
		[{ cpu: 1 }, /places\.box in config\.json cannot be used: .*cpu/],
	])("what cannot be right is refused before anything is done: %j", async (entry, words) => {
		const { home } = await dockerBox({ entry });
		await expect(openRuntime({ home, warm: 0, place: "box" })).rejects.toThrow(words);
		const { code, stderr } = await cli(home, ["run", "--place", "box", "--", "true"]);
		expect(code).not.toBe(0);
		expect(stderr).toMatch(words);
	});

	test("through the command line with an address alone", async () => {
		const engine = await sharedEngine();
		const home = tempDir("home");
		const env = { DOCKER_HOST: engine.address };
		const nope = await cli(home, ["run", "--place", "docker://nope", "--", "true"], { env });
		expect(nope.code).not.toBe(0);
		expect(nope.stderr).toMatch(/nope/);
		expect(await listContainers({ home, engine: engine.address })).toEqual([]);
		atEnd(() => cli(home, ["end", "default"], { env }));
		expect(await cli(home, ["run", "--place", `docker://${FULL_IMAGE}`, "--", "echo $$ >/root/pid; exit 3"], { env })).toMatchObject({ code: 3 });
		expect(await cli(home, ["terminal", "--place", `docker://${FULL_IMAGE}`, "--", "wc -l </root/pid"], { env })).toMatchObject({
			code: 0,
			stdout: expect.stringMatching(/^\[exited, exit code 0\]\n1\n/),
		});
	});
});

describe.skipIf(why)(`what the configuration says of a container${why ? `: ${why}` : ""}`, () => {
	test("cpus, memory, pids, network, environment and user are so in there", PATIENCE, async () => {
		const { open, container } = await dockerBox({
			entry: { cpus: 0.5, memory: "96M", pids: 77, network: false, environment: { GREETING: "hello there" }, user: "1000:1000", workdir: "/tmp" },
		});
		const runtime = await open();
		const inside = async (command: string) => (await runtime.terminal({ command })).output.trim();
		const first = (...files: string[]) => inside(`cat ${files.map((file) => `/sys/fs/cgroup/${file}`).join(" ")} 2>/dev/null | head -n 1`);
		expect(await inside("id -u; pwd; echo $GREETING")).toBe("1000\n/tmp\nhello there");
		expect(await first("memory.max", "memory/memory.limit_in_bytes")).toBe(String(96 * 1024 ** 2));
		expect(await first("pids.max", "pids/pids.max")).toBe("77");
		expect(await first("cpu.max", "cpu/cpu.cfs_quota_us", "cpu,cpuacct/cpu.cfs_quota_us")).toMatch(/^50000\b/);
		expect(await inside("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")).toBe("lo");
		expect((await container.inspect()).HostConfig.NetworkMode).toBe("none");
	});

	test("a box with busybox alone says what it cannot do, and runs processes all the same", PATIENCE, async () => {
		const { open } = await dockerBox({ entry: { image: BUSYBOX_IMAGE } });
		const runtime = await open();
		expect(await runtime.terminal({ command: "echo hi" })).toMatchObject({
			status: "error",
			error: expect.stringMatching(/there is no bash on docker:\/\/holdfast\/busybox:1.*background/),
		});
		expect(await runtime.terminal({ command: "echo hi", pty: true })).toMatchObject({
			status: "error",
			error: expect.stringContaining("cannot make a terminal"),
		});
		const started = await runtime.terminal({ command: "read -r x; echo got $x; sleep 300 & sleep 301", background: true });
		const { session_id } = started;
		await runtime.process({ action: "submit", session_id, data: "this" });
		expect(await runtime.process({ action: "wait", session_id, until: { pattern: "got this" } })).toMatchObject({ matched: "pattern" });
		const killed = await runtime.process({ action: "kill", session_id });
		expect(killed).toMatchObject({ status: "killed", survivors: [] });
		expect(killed.signalled?.length).toBeGreaterThanOrEqual(3);
		expect(await runtime.process({ action: "log", session_id })).toMatchObject({ status: "killed", output: "got this\n" });
	});
});
