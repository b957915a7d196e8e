/** The life of a sandbox: made once, found by others, ended, lost, and what is left of it. */
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { findSandboxTools } from "../../src/places/probe.js";
import { run } from "../fixtures/programs.js";
import { cli } from "../support/cli.js";
import { atEnd, endAll, tempDir, testRoot, until } from "../support/home.js";
import { openRuntime, type Runtime, type RuntimeOptions } from "../support/internal.js";
import { noSandbox } from "../support/sandbox.js";

type Sandboxed = Runtime & { readonly work: string };

async function sandboxed(options: RuntimeOptions = {}): Promise<Sandboxed> {
	const work = options.sandbox?.directory ?? tempDir("work");
	const runtime = await openRuntime({ home: tempDir("home"), warm: 0, place: "local+sandbox", ...options, sandbox: { directory: work, ...options.sandbox } });
	atEnd(() => endAll(runtime));
	return Object.assign(runtime, { work });
}

const holders = (runtime: Runtime) => runtime.list({ task: null, shells: true, ended: false }).filter(({ spec }) => spec.kind === "sandbox");
const left = (runtime: Runtime) => fs.readdirSync(`${runtime.home.root}/sandboxes`);
/** Those that a sandbox could have made; other tests have mounts of their own. */
const mounts = () =>
	fs
		.readFileSync("/proc/self/mountinfo", "utf8")
		.split("\n")
		.filter((line) => line.includes(testRoot()) || /newroot|oldroot|\/run\/holdfast/.test(line));

describe.skipIf(noSandbox)(`the life of a sandbox${noSandbox ? ` (${noSandbox})` : ""}`, () => {
	test("ten first calls of two runtimes make one; it is in no list, and its end leaves nothing", async () => {
		const before = mounts();
		const first = await sandboxed();
		const second = await sandboxed({ home: first.home.root, sandbox: { directory: first.work } });
		const results = await Promise.all(
			Array.from({ length: 10 }, (_, at) => (at % 2 ? first : second).terminal({ command: `echo ${at} >>/tmp/all; readlink /proc/self/ns/pid` })),
		);
		expect(new Set(results.map(({ output }) => output)).size).toBe(1);
		expect((await first.terminal({ command: "wc -l </tmp/all" })).output).toBe("10\n");
		await until("only one is left", () => holders(first).length === 1);
		expect(first.list({ task: null }).filter(({ spec }) => spec.kind !== undefined)).toEqual([]);
		await second.close();
		await first.shells.end("default");
		await until("the others have gone too", () => left(first).length === 0);
		expect(holders(first)).toEqual([]);
		expect(mounts()).toEqual(before);
	});

	test("one that ends behind our back is found out: all in it is gone, and the next call says so", async () => {
		const runtime = await sandboxed();
		await runtime.terminal({ command: "export A=1; touch /tmp/file" });
		const { session_id } = await runtime.terminal({ command: "sleep 300", background: true });
		const [holder] = holders(runtime);
		// Only the process that keeps it, from inside: the first one there cannot be killed from there, and keeps the others alive.
		expect(await runtime.terminal({ command: "kill -KILL 2; sleep 0.2; echo on" })).toMatchObject({ output: "on\n" });
		await until("its keeper has noticed", () => holders(runtime).length === 0);
		const result = await runtime.terminal({ command: "echo $A; ls /tmp" });
		expect(result).toMatchObject({ exit_code: 0, output: expect.stringMatching(/^1\n/), note: expect.stringContaining("sandbox of this task had ended") });
		expect(result.output).not.toContain("file");
		expect(await runtime.process({ action: "wait", session_id })).toMatchObject({ status: "exited", exit_code: 137, signal: "SIGKILL" });
		expect(holders(runtime).map(({ id }) => id)).not.toContain(holder?.id);
		expect((await runtime.terminal({ command: "true" })).note).toBeUndefined();
	});

	test("a command that moves away what its shell needs harms itself alone: the next one has a new shell with the state of the last", async () => {
		const runtime = await sandboxed();
		const ways = ["mv $d $d.away", "rm -r $d", "mv $d $d.away; mkdir -p $d/shell; touch $d/shell/run", "mv $d $d.away; ln -s /etc $d"];
		for (const [at, way] of ways.entries()) {
			await runtime.terminal({ command: `at=${at}; export A=${at}; cd /tmp` });
			// Once the shell is idle again: what it does to itself while it runs a command, that command's own result tells.
			await runtime.terminal({
				command: `(until [ -e /tmp/go.${at} ]; do sleep 0.01; done; for d in /run/holdfast/shared/proc_*; do ${way}; done; touch ${runtime.work}/done.${at}) &`,
			});
			await runtime.terminal({ command: `touch /tmp/go.${at}`, background: true });
			await until("it has done so", () => fs.existsSync(`${runtime.work}/done.${at}`));
			const next = await runtime.terminal({ command: "echo $at $A $PWD" });
			expect([way, next]).toMatchObject([
				way,
				{ status: "exited", exit_code: 0, output: `${at} ${at} /tmp\n`, note: expect.stringContaining("a new one has taken over") },
			]);
			const after = await runtime.terminal({ command: "echo fine" });
			expect([way, after.output, after.note]).toEqual([way, "fine\n", undefined]);
		}
	});

	test("kill -9 of the runtime: output, input, exit codes, the screen and the shell's state are there for the next one", async () => {
		const home = tempDir("home");
		const work = tempDir("work");
		const program = run("sandboxed.mjs", home, work);
		expect(await program.line()).toBe("ready");
		const [plain, pty] = ((await program.line()) ?? "").split(" ");
		await program.kill();
		const runtime = await sandboxed({ home, task: "kept", sandbox: { directory: work } });
		expect(await runtime.process({ action: "submit", session_id: plain, data: "x" })).toMatchObject({ error: null });
		expect(await runtime.process({ action: "wait", session_id: plain })).toMatchObject({ status: "exited", exit_code: 3, output: "here\ngot x\n" });
		expect(await runtime.process({ action: "wait", session_id: pty, until: { input: true } })).toMatchObject({ status: "awaiting_input", screen: "name?" });
		expect(await runtime.process({ action: "keys", session_id: pty, data: "y<ENTER>" })).toMatchObject({
			status: "exited",
			exit_code: 4,
			screen: "name? y\ngot y",
		});
		expect(await runtime.terminal({ command: "echo $A; pwd; cat file" })).toMatchObject({ output: "1\n/tmp\nhere\n" });
		expect(holders(runtime)).toHaveLength(1);
	});

	test("kill -9 while one is being made breaks nothing, and what it leaves is cleared away", async () => {
		const home = tempDir("home");
		const work = tempDir("work");
		for (const share of [0.1, 0.3, 0.6, 0.9]) {
			const program = run("sandboxed.mjs", home, work);
			expect(await program.line()).toBe("ready");
			await sleep(200 * share);
			await program.kill();
		}
		const runtime = await sandboxed({ home, task: "kept", sandbox: { directory: work } });
		expect(await runtime.terminal({ command: "pwd" })).toMatchObject({ exit_code: 0 });
		await until("those without a link are gone", () => holders(runtime).length === 1);
	});

	test("a kill without cgroups also ends a process that forks twice, with no environment and no open files", async () => {
		const runtime = await sandboxed({ cgroup: "off" });
		const escapes = `(setsid env -i sh -c 'exec sleep 301 </dev/null >/dev/null 2>&1' &)`;
		const escapedBy = `${escapes}; until pgrep -fx 'sleep 301' >/dev/null; do sleep 0.01; done`;
		const { session_id } = await runtime.terminal({ command: `${escapedBy}; echo up; sleep 300`, background: true });
		await runtime.process({ action: "wait", session_id, until: { pattern: "up" } });
		const escaped = () => runtime.terminal({ command: "pgrep -fx 'sleep 301'" });
		expect((await escaped()).exit_code).toBe(0);
		const process = runtime.get(session_id as string);
		expect(await process.kill()).toMatchObject({ status: "killed", method: "namespace", survivors: [] });
		expect((await escaped()).exit_code).toBe(1);
		// The keeper's own kill, for a limit, with no runtime needed.
		const limited = await sandboxed({
			home: runtime.home.root,
			cgroup: "off",
			sandbox: { directory: runtime.work },
			resourceLimits: { process: { time: "1s" } },
		});
		const late = await limited.terminal({ command: `${escapes}; sleep 300`, background: true });
		expect(await limited.process({ action: "wait", session_id: late.session_id })).toMatchObject({ status: "killed", limit: { name: "time" } });
		expect((await escaped()).exit_code).toBe(1);
	});

	test("one that was made with other settings is not used in silence: by another program, or by a place object", async () => {
		const first = await sandboxed();
		expect(await first.terminal({ command: "export A=1" })).toMatchObject({ exit_code: 0 });
		const [holder] = holders(first);
		const refused = (keys: string) => ({
			status: "error",
			error: expect.stringContaining(`the task has a sandbox already (${holder?.id}), made with other settings (${keys}); remove it first`),
		});
		const second = await sandboxed({ home: first.home.root, sandbox: { directory: first.work, network: true, hide: ["/srv"] } });
		expect(await second.terminal({ command: `touch ${first.work}/ran` })).toMatchObject(refused("network, hide"));
		expect(await second.writeFile({ path: "ran", content: "" })).toMatchObject(refused("network, hide"));
		await expect(second.spawn({ command: "true" })).rejects.toMatchObject({ code: "CONFLICT" });
		const other = { place: { kind: "sandbox", directory: first.work, tmpBytes: 2 ** 26 } } as const;
		expect(await first.terminal({ command: `touch ${first.work}/ran` }, other)).toMatchObject(refused("tmpBytes"));
		expect(fs.existsSync(`${first.work}/ran`)).toBe(false);
		// The same settings, however they are written, are the same sandbox.
		const same = { place: { kind: "sandbox", network: false, directory: first.work, tmpBytes: 1024 ** 3 } } as const;
		expect(await first.terminal({ command: "echo $A" }, same)).toMatchObject({ output: "1\n" });
		expect(await second.terminal({ command: "cat /proc/net/route | wc -l" }, { task: "another" })).toMatchObject({ exit_code: 0 });
		await first.endTask(first.task);
		expect(await second.terminal({ command: "echo ${A-none}" })).toMatchObject({ output: "none\n", exit_code: 0 });
	});

	test("a network of its own: its servers can be waited for, and only from there", async () => {
		const runtime = await sandboxed();
		const server = `python3 -c "import http.server as h; h.HTTPServer(('127.0.0.1', 8642), h.SimpleHTTPRequestHandler).serve_forever()"`;
		const { session_id } = await runtime.terminal({ command: `echo hello >page; read -r x; ${server}`, background: true });
		expect(await runtime.process({ action: "wait", session_id, until: { port: 8642 }, timeout: 1 })).toMatchObject({ matched: null });
		await runtime.process({ action: "submit", session_id });
		expect(await runtime.process({ action: "wait", session_id, until: { port: 8642 } })).toMatchObject({ matched: "port" });
		expect(await runtime.process({ action: "wait", session_id, until: { http: "http://127.0.0.1:8642/page" } })).toMatchObject({ matched: "http" });
		expect(
			(await runtime.terminal({ command: "python3 -c \"import urllib.request as u; print(u.urlopen('http://127.0.0.1:8642/page').read())\"" })).output,
		).toContain("hello");
		await expect(fetch("http://127.0.0.1:8642/page")).rejects.toThrow();
	});

	test("a task has a shell in each place, and neither uses the other's", async () => {
		const inside = await sandboxed();
		const outside = await openRuntime({ home: inside.home.root, warm: 0 });
		atEnd(() => outside.close());
		await outside.terminal({ command: "export WHERE=outside" });
		await inside.terminal({ command: "export WHERE=inside" });
		const where = "echo $WHERE; grep -c . /proc/1/uid_map; [ -e /run/holdfast/shared ] && echo sandbox";
		expect(await outside.terminal({ command: where })).toMatchObject({ status: "exited", output: "outside\n1\n" });
		expect(await inside.terminal({ command: where })).toMatchObject({ status: "exited", output: "inside\n1\nsandbox\n" });
	});

	test("what cannot be had is an error that says what to do, and nothing runs", async () => {
		const cannot = async (options: RuntimeOptions, words: RegExp) => {
			const runtime = await openRuntime({ home: tempDir("home"), warm: 0, place: "local+sandbox", ...options });
			atEnd(() => endAll(runtime));
			const file = `${runtime.home.root}/ran`;
			for (const more of [{}, { background: true }, { pty: true }])
				expect(await runtime.terminal({ command: `touch ${file}`, ...more })).toMatchObject({ status: "error", error: expect.stringMatching(words) });
			expect(fs.existsSync(file)).toBe(false);
			expect(holders(runtime)).toEqual([]);
		};
		await cannot({ sandbox: { directory: process.env.HOME as string } }, /your whole home/);
		await cannot({ sandbox: { directory: "/usr" } }, /part of the system/);
		await cannot({ sandbox: { directory: "/nowhere/at/all" } }, /does not exist/);
		await expect(openRuntime({ home: tempDir("home"), place: "local+sandbox", sandbox: { write: ["relative"] } })).rejects.toThrow(/a path is absolute/);
		await expect(openRuntime({ place: "moon" as "local" })).rejects.toThrow(/place/);
		const runtime = await sandboxed();
		const elsewhere = tempDir("elsewhere");
		for (const more of [{}, { background: true }, { pty: true }])
			expect(await runtime.terminal({ command: "true", workdir: elsewhere, ...more })).toMatchObject({
				status: "error",
				error: expect.stringContaining(elsewhere),
			});
	});

	test("where user namespaces are forbidden the CLI says so, and so does doctor; else that it can be used", async () => {
		const home = tempDir("home");
		const work = tempDir("work");
		const forbidden = ["bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/"];
		const run = await cli(home, ["run", "--place", "local+sandbox", "--", "touch ran"], { cwd: work, prefix: forbidden });
		expect(run).toMatchObject({ code: 125, stdout: "", stderr: expect.stringMatching(/there can be no sandbox.*namespace/) });
		expect(fs.existsSync(`${work}/ran`)).toBe(false);
		expect((await cli(home, ["doctor"], { prefix: forbidden })).stdout).toMatch(/warn\s+sandbox\s+local\+sandbox cannot be used\n.*namespace/);
		expect((await cli(home, ["doctor"])).stdout).toMatch(/ok\s+sandbox\s+local\+sandbox can be used \(bubblewrap/);
		expect(await cli(home, ["run", "--place", "moon", "--", "true"])).toMatchObject({ code: 2, stderr: expect.stringContaining("local+sandbox") });
	});
});

test("what is missing is named with the package that has it", () => {
	expect(findSandboxTools(["/nowhere"])).toEqual({ missing: expect.stringMatching(/no bwrap.*package bubblewrap/) });
});
