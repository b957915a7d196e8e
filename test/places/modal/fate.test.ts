/** What becomes of a sandbox of Modal: the real library, against a double of the service. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readProc } from "../../../src/base/proc.js";
import { list, remove, wheres } from "../../../src/places/modal/leftovers.js";
import type { ModalOptions } from "../../../src/places/modal/options.js";
import { sandboxOwners } from "../../../src/places/modal/sandbox.js";
import { listSandboxes, pruneSandboxes } from "../../../src/process/all-sandboxes.js";
import { diagnose } from "../../../src/process/doctor.js";
import { eventually } from "../../support/docker-box.js";
import { atEnd, tempDir } from "../../support/home.js";
import { expectDaemonStays, expectWholeBytes, say } from "../../support/host-stream.js";
import { openRuntime } from "../../support/internal.js";
import { type ModalDouble, noModal } from "../../support/modal-double.js";
import { testSandbox } from "./support.js";

const ENDS: [{ status: number; exitcode?: number }, string][] = [
	[{ status: 4 }, "the sandbox had reached its time limit (240 min)"],
	[{ status: 3 }, "the sandbox was terminated"],
	[{ status: 2, exitcode: 75 }, "the sandbox had stopped itself: it was unused, and nothing ran in it"],
	[{ status: 2, exitcode: 1 }, "the sandbox has ended (exit code 1)"],
];

describe.skipIf(noModal)(`a sandbox of Modal${noModal ? `: ${noModal}` : ""}`, () => {
	it("two programs at once make one; bytes, codes and a half-closed input go through; what is daemonised stays", async () => {
		const { host, again, living } = await testSandbox({ time: 90 });
		const [one, two] = await Promise.all([host.start(), again().start()]);
		expect(one.instance).toBe(two.instance);
		expect(living()).toHaveLength(1);
		expect((one.ends as number) - Date.now()).toBeGreaterThan(80 * 60_000);
		await expectWholeBytes(host);
		await expectDaemonStays(host);
	});

	it("its end is told from what Modal says of it; the next is another sandbox, and that is said", async () => {
		const { again, double } = await testSandbox();
		let last: string | undefined;
		for (const [result, words] of ENDS) {
			const host = again({ last: () => last });
			const { instance } = await host.start();
			const stream = await host.open("echo ready; cat");
			await once(stream.output, "data");
			double.end(instance as string, result);
			expect(await stream.ended).toBe(words);
			expect(await again({ last: () => instance }).over?.()).toEqual({ why: words, kept: false });
			last = instance;
		}
		const [, words] = ENDS.at(-1) as (typeof ENDS)[number];
		expect((await again({ last: () => last }).start()).notes).toEqual([
			`T${words.slice(1)}. It has been made again from tools:1: processes that were in it are lost, and the files that were in it are lost.`,
		]);
	});

	it("a router that is restarted in the middle of output loses nothing; writes that wait are joined to one call", async () => {
		const { host, double } = await testSandbox();
		await host.start();
		const stream = await host.open("while read -r line; do echo $line; done");
		let got = "";
		stream.output.on("data", (part: Buffer) => {
			got += part;
		});
		const before = double.calls.length;
		for (let at = 0; at < 200; at++) {
			stream.input.write(`${at}\n`);
			if (at % 50 === 25) double.cut();
		}
		stream.input.end();
		await stream.ended;
		expect(got).toBe(Array.from({ length: 200 }, (_, at) => `${at}\n`).join(""));
		expect(double.calls.slice(before).filter((call) => call.startsWith("TaskExecStdinWrite")).length).toBeLessThan(20);
	});

	it("that waits for an image or a machine is no failure: it says what for, stays, and is found again", async () => {
		const lines: string[] = [];
		const { again, double, living } = await testSandbox({ gpu: "T4" });
		let built = () => {};
		double.building = new Promise((resolve) => {
			built = resolve;
		});
		await expect(again({ patienceMs: 300 }).start()).rejects.toMatchObject({
			code: "PENDING",
			message: expect.stringMatching(/^modal:\/\/tools:1 is not there yet: Modal fetches the image tools:1, or builds it\. Nothing ran/),
		});
		expect(double.sandboxes.size).toBe(0);
		built();
		double.queued = true;
		const stop = new AbortController();
		const queued = again({ progress: (line) => lines.push(line) }).start(stop.signal);
		queued.catch(() => {});
		await eventually("it waits for a machine", async () => double.sandboxes.size === 1);
		stop.abort();
		await expect(queued).rejects.toMatchObject({ code: "ABORTED", message: expect.stringContaining("what Modal has begun goes on") });
		expect(lines).toEqual(["Modal fetches the image tools:1, or builds it", "Modal looks for a machine with room for the sandbox"]);
		await expect(again({ patienceMs: 1_500 }).start()).rejects.toMatchObject({ code: "PENDING" });
		const [one] = living(); // an aborted call, and one that gives up, end nothing
		double.queued = false;
		const host = again();
		expect((await host.start()).instance).toBe(one?.id);
		expect((await say(host, "echo x")).output).toBe("x\n");
		expect(await host.stop()).toEqual(["The sandbox of tools:1 was ended, with everything in it."]);
		expect(living()).toEqual([]);
	});

	it("ends by itself without a sign of life, and its task's end ends it; one that was queued is ended too", async () => {
		const { host, again, living, double } = await testSandbox({ lifetime: 2 });
		const { instance } = await host.start();
		await eventually("it has ended", async () => living().length === 0);
		expect(await again({ last: () => instance }).over?.()).toEqual({ why: ENDS[2]?.[1], kept: false });
		expect(await host.stop()).toEqual([]);
		double.queued = true;
		await expect(again({ patienceMs: 1_500 }, { gpu: "T4" }).start()).rejects.toMatchObject({ code: "PENDING" });
		expect(living()).toHaveLength(1);
		await again(undefined, { gpu: "T4" }).stop();
		expect(living()).toEqual([]);
	});

	it("left by a program that was killed before it was on record: listed with its owner, and pruned with its app when its home is gone", async () => {
		const { host, owner, double, options, living } = await testSandbox();
		await host.start();
		const signal = AbortSignal.timeout(60_000);
		expect(await wheres([{ name: "box", options: options as never, configured: true }])).toEqual({
			notes: [],
			wheres: [{ id: undefined, label: "Sandboxes of Modal" }],
		});
		expect((await wheres([])).wheres).toHaveLength(1); // no place of this home names it, but this user's files do
		const item = { task: "t", home: owner.home, state: "running", orphan: false, ends_at: expect.stringMatching(/^\d{4}/) };
		expect(await list(undefined, signal)).toEqual([expect.objectContaining(item)]);
		fs.rmSync(owner.home, { recursive: true });
		const [left] = (await list(undefined, signal)) as unknown as [{ id: string; orphan: boolean }];
		expect(left.orphan).toBe(true);
		expect(await remove(left.id, undefined)).toBe(true);
		expect(living()).toEqual([]);
		expect(await remove(left.id, undefined)).toBe(false);
		const [app] = (await list(undefined, signal)) as unknown as [{ id: string }];
		expect(app).toMatchObject({ state: "empty", home: owner.home, orphan: true });
		expect(await remove(app.id, undefined)).toBe(true);
		expect([double.apps.size, await list(undefined, signal), sandboxOwners().names()]).toEqual([0, [], []]);
	});

	it("those of a home on another host are removed only when told to", async () => {
		const { host, double, living } = await testSandbox();
		await host.start();
		for (const name of sandboxOwners().names()) sandboxOwners().forget(name); // that host's user has them
		const [bin, before] = [tempDir("bin"), process.env.PATH];
		fs.writeFileSync(path.join(bin, "squeue"), "#!/bin/sh\nexit 1\n", { mode: 0o755 }); // all kinds are asked, and a Slurm that does not answer is waited for
		process.env.PATH = `${bin}:${before}`;
		atEnd(() => {
			process.env.PATH = before;
		});
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, task: "t", place: "modal://tools:1" });
		atEnd(() => runtime.close());
		await runtime.terminal({ command: "true", background: true });
		await runtime.endTask("t");
		expect((await listSandboxes(runtime)).sandboxes.filter(({ kind }) => kind === "modal")).toEqual([
			expect.objectContaining({ state: "running", orphan: false, elsewhere: true }),
		]);
		await pruneSandboxes(runtime);
		expect(living()).toHaveLength(1);
		await pruneSandboxes(runtime, { allHomes: true });
		await pruneSandboxes(runtime, { allHomes: true }); // its app is empty now
		expect([living(), double.apps.size]).toEqual([[], 1]); // the app of this home stays
	});

	it("with keep a snapshot of its files is the next one's image; without it, or when it is gone, that is said", async () => {
		const { host, again, double, owner } = await testSandbox({ keep: true });
		await host.start();
		await say(host, "echo mine >/root/file; rm /etc/group");
		expect(await host.stop()).toEqual([expect.stringMatching(/a snapshot of its files is kept for 30 days/)]);
		const [kept] = await list(undefined, AbortSignal.timeout(60_000));
		expect(kept).toMatchObject({ state: "snapshot", task: "t", orphan: false });
		const next = again({ last: () => "idle 300" });
		expect((await next.start()).notes).toEqual([
			"The sandbox had not been used for 5 min and was ended; this is a new one: its files are those of the last snapshot.",
		]);
		expect((await say(next, "cat /root/file; ls /etc/group 2>&1 | grep -c No")).output).toBe("mine\n1\n");
		const snapshots = () => [...double.built.keys()].filter((id) => id.length === 25);
		expect(snapshots()).toHaveLength(1);
		await next.stop();
		expect(snapshots()).toHaveLength(1); // the one before is removed
		for (const id of snapshots()) double.built.delete(id);
		const without = again();
		expect((await without.start()).notes).toEqual([expect.stringMatching(/^The snapshot of the files that were kept is gone from Modal/)]);
		await without.stop();
		fs.rmSync(owner.home, { recursive: true });
		for (const { id, orphan } of await list(undefined, AbortSignal.timeout(60_000))) expect([orphan, await remove(id, undefined)]).toEqual([true, true]);
		expect([snapshots(), double.apps.size]).toEqual([[], 0]);
	});

	it("its settings reach Modal; secrets and volumes go by their names", async () => {
		const { host, double, living } = await testSandbox({
			cpus: 2,
			memory: "1G",
			network: false,
			volumes: ["data:/data:ro"],
			secrets: ["mine"],
			regions: ["eu"],
		});
		await expect(host.start()).rejects.toMatchObject({ message: expect.stringMatching(/^there is no secret mine .*modal secret create mine/) });
		double.secrets.set("mine", { FROM_A_SECRET: "value" });
		await expect(host.start()).rejects.toMatchObject({ message: expect.stringMatching(/^there is no volume data .*modal volume create data/) });
		double.volumes.add("data");
		await host.start();
		expect((await say(host, "echo $FROM_A_SECRET")).output).toBe("value\n");
		expect(living()[0]?.definition).toMatchObject({
			timeoutSecs: 14_400,
			networkAccess: { networkAccessType: 2 },
			resources: { milliCpu: 2000, milliCpuMax: 2000, memoryMb: 1024, memoryMbMax: 1024 },
			volumeMounts: [{ volumeId: "vo-data", mountPath: "/data", readOnly: true }],
			schedulerPlacement: { regions: ["eu"] },
		});
	});

	it("no token and no value is in the files of a place, in an argument, in the sandbox, or in what Modal shows", async () => {
		const value = `it's "$HOME" \`id\`\nvalue-of-mine \\`;
		const { double, options, living } = await testSandbox({}, "full");
		const home = tempDir("home");
		const runtime = await openRuntime({ home, warm: 0, task: "t", place: { kind: "modal", ...options, environment: { VALUE: value } } as never });
		atEnd(() => runtime.close());
		expect(await runtime.terminal({ command: 'printf %s "$VALUE"' })).toMatchObject({ output: value });
		const { output } = await runtime.terminal({ command: 'unset VALUE; env; cat /proc/[0-9]*/environ | tr "\\0" "\\n" | grep -v "^VALUE=\\|^value-of-mine"' });
		expect(output).toContain("HOME=/root");
		const files = (dir: string) =>
			fs
				.readdirSync(dir, { recursive: true, encoding: "utf8" })
				.map((name) => path.join(dir, name))
				.filter((file) => fs.lstatSync(file).isFile())
				.map((file) => fs.readFileSync(file, "utf8"));
		const seen = fs
			.readdirSync("/proc")
			.filter((one) => /^\d+$/.test(one))
			.map((pid) => readProc(`/proc/${pid}/cmdline`) ?? "");
		const owned = files(sandboxOwners().dir);
		expect(owned.length).toBeGreaterThan(0);
		const told = [...files(home), ...owned, ...seen, output as string, ...double.calls.filter((call) => !call.startsWith("TaskExecStdinWrite"))];
		expect(told.filter((text) => text.includes(double.tokenId) || text.includes(double.tokenSecret))).toEqual([]);
		const shown = [...owned, ...seen, JSON.stringify([living()[0]?.tags, living()[0]?.definition])];
		expect(shown.filter((text) => text.includes("value-of-mine"))).toEqual([]);
		await runtime.endTask("t");
		expect(living()).toEqual([]);
	});

	it("what cannot be had is an error with what to do, and leaves no sandbox", async () => {
		const { again, double, living } = await testSandbox();
		const cases: [Partial<ModalOptions>, string, RegExp, [string, NonNullable<ReturnType<NonNullable<ModalDouble["refuses"]>>>["code"], string]?][] = [
			[{ image: "none:1" }, "START_FAILED", /^the image cannot be had; check its name, .*registrySecret.*manifest unknown/],
			[{ image: "im-0000000000" }, "START_FAILED", /^there is no image im-0000000000 in this workspace of Modal, or it has expired/],
			[{ workdir: "/proc/none" }, "NO_DIRECTORY", /^there is no directory \/proc\/none in the sandbox/],
			[{}, "DENIED", /^this token may not do that in this workspace/, ["SandboxCreateV2", "PERMISSION_DENIED", "not allowed"]],
			[{}, "LIMIT", /^Modal has no capacity for it now, or a limit of the workspace/, ["SandboxCreateV2", "RESOURCE_EXHAUSTED", "Sandbox limit of 10 reached"]],
			[{}, "START_FAILED", /^Modal does not take a sandbox with these settings \(too much/, ["SandboxCreateV2", "INVALID_ARGUMENT", "too much memory"]],
			[
				{ modalEnvironment: "none" },
				"START_FAILED",
				/^there is no environment none in this workspace of Modal; `modal environment list`/,
				["AppGetOrCreate", "NOT_FOUND", "Environment 'none' not found"],
			],
			[{}, "UNREACHABLE", /^Modal cannot be reached/, ["AppGetOrCreate", "UNAVAILABLE", "down"]],
		];
		for (const [more, code, words, refusal] of cases) {
			double.refuses = (method) => (method === refusal?.[0] ? { code: refusal[1], message: refusal[2] } : undefined);
			const host = again(undefined, more);
			await expect(host.start(), String(words)).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
			double.refuses = undefined;
			await host.stop();
		}
		expect(living()).toEqual([]);
		for (const name of ["MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET"]) delete process.env[name];
		await expect(again().start()).rejects.toMatchObject({
			code: "DENIED",
			message: expect.stringMatching(/^there is no token of Modal here; run `modal setup`, or set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET\. What runs goes on/),
		});
	});

	it("a token that expires in the middle says so, and what runs goes on", async () => {
		const { host, again, double } = await testSandbox();
		const { instance } = await host.start();
		const stream = await host.open("echo ready; cat");
		await once(stream.output, "data");
		double.expired = true;
		double.cut();
		expect(await stream.ended).toMatch(/^Modal does not accept the token, or it has expired; .*What runs goes on/);
		await expect(again().start()).rejects.toMatchObject({ code: "DENIED" });
		double.expired = false;
		expect((await again().start()).instance).toBe(instance);
	});

	it("its time limit, reached in the middle of a command, is why that is lost, and the next command has another sandbox", async () => {
		const { double, options, living } = await testSandbox({ time: 4 }, "full");
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, task: "t", place: { kind: "modal", ...options } as never });
		atEnd(() => runtime.close());
		const { session_id, note } = await runtime.terminal({ command: "echo began; sleep 1000", background: true });
		expect(note).toMatch(/modal:\/\/tools:1 ends at .*: save what has to stay\./); // less than five minutes are left
		await runtime.process({ action: "wait", session_id, until: { pattern: "began" }, timeout: 60 });
		double.end(living()[0]?.id as string, { status: 4 });
		const waited = await runtime.process({ action: "wait", session_id, timeout: 60 });
		expect(waited).toMatchObject({ status: "lost", output: expect.stringContaining("began") });
		expect(JSON.stringify(waited)).toContain("had reached its time limit (4 min)");
		const next = await runtime.terminal({ command: "echo next" });
		expect(next.note).toMatch(/The sandbox had reached its time limit \(4 min\)\. It has been made again/);
		await runtime.endTask("t");
		expect(living()).toEqual([]);
	});

	it("doctor says what there is, and leaves nothing; other settings are a conflict", async () => {
		const { host, again, options, living } = await testSandbox();
		await host.start();
		await expect(again(undefined, { memory: "200M" }).start()).rejects.toMatchObject({
			code: "CONFLICT",
			message: expect.stringMatching(/\(memory\).*holdfast sandboxes stop [0-9a-f]{12}/),
		});
		await host.stop();
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, place: { kind: "modal", ...options } as never });
		atEnd(() => runtime.close());
		const { checks } = await diagnose(runtime);
		expect(checks.find(({ name }) => name === "place")).toMatchObject({
			found: expect.stringMatching(/^modal:\/\/tools:1: Linux.*; modal@0\.11\.1; environment as Modal has it; app holdfast-[0-9a-f]{12}; .*has /),
		});
		expect(living()).toEqual([]);
	});

	it("a program with nothing to do exits, whatever is open", async () => {
		const { owner, options } = await testSandbox();
		const file = path.join(tempDir(), "program.mjs");
		const from = (name: string) => JSON.stringify(path.resolve("dist/places", name));
		const lines = [
			`import { modalHost } from ${from("modal/host.js")};`,
			`import { Connection } from ${from("link/index.js")};`,
			`const host = modalHost(${JSON.stringify(options)}, ${JSON.stringify(owner)});`,
			'const connection = new Connection(host, { dir: "", name: "x", idleMs: 3_600_000 });',
			"const { output } = await connection.use((link) => link.run('echo here'), { again: false });",
			"process.stdout.write(output);",
			"if (!connection.link) throw new Error('it is closed');",
		];
		fs.writeFileSync(file, lines.join("\n"));
		const program = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
		atEnd(() => program.kill("SIGKILL"));
		const [[said], [code]] = await Promise.all([once(program.stdout, "data"), once(program, "exit")]);
		expect([String(said), code]).toEqual(["here\n", 0]);
	});
});
