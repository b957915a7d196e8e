/** What becomes of a job, with a real Slurm: who asks for it, what it waits for, who ends it, what is said, and what is left. */
import { once } from "node:events";
import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { readProc } from "../../../src/base/proc.js";
import { placeFrom } from "../../../src/places/address.js";
import { jobOwners } from "../../../src/places/slurm/job.js";
import { list, remove } from "../../../src/places/slurm/leftovers.js";
import { explained } from "../../../src/places/slurm/words.js";
import { diagnose } from "../../../src/process/doctor.js";
import { eventually } from "../../support/docker-box.js";
import { atEnd, tempDir } from "../../support/home.js";
import { expectDaemonStays, expectWholeBytes, say } from "../../support/host-stream.js";
import { openRuntime } from "../../support/internal.js";
import { noSlurm } from "../../support/slurm.js";
import { testJob } from "./support.js";

describe.skipIf(noSlurm)(`a job of Slurm${noSlurm ? `: ${noSlurm}` : ""}`, () => {
	it("two programs at once make one; bytes, codes and a half-closed input go through; what a step starts outlives the step", async () => {
		const { host, again, jobs } = await testJob();
		const [one, two] = await Promise.all([host.start(), again().start()]);
		expect(one.instance).toBe(two.instance);
		expect(jobs()).toEqual([expect.stringMatching(/^\d+ RUNNING$/)]);
		expect(one.ends).toBeGreaterThan(Date.now() + 3 * 3_600_000); // four hours, unless told otherwise
		await expectWholeBytes(host);
		await expectDaemonStays(host);
	});

	it("cancelled under a stream: that is why; the next is another job, and that is said", async () => {
		const { host, again, cluster, jobs } = await testJob();
		const { instance } = await host.start();
		const stream = await host.open("echo ready; cat");
		await once(stream.output, "data");
		const [id] = (jobs()[0] as string).split(" ") as [string];
		cluster.run("scancel", id);
		expect(await stream.ended).toBe(`the Slurm job ${id} was cancelled`);
		expect(await again({ last: () => instance }).over?.()).toEqual({ why: `the Slurm job ${id} was cancelled`, kept: false });
		const next = await again({ last: () => instance }).start();
		expect(next.notes).toEqual([
			expect.stringMatching(
				new RegExp(`^The Slurm job ${id} was cancelled\\. This is another one, \\d+: what ran, and what was on its node alone, is gone\\.$`),
			),
		]);
	});

	it("that waits in the queue is no failure: it says what for, stays there, is found again, and its end takes it out", async () => {
		const lines: string[] = [];
		const { host, name, again, jobs, cluster } = await testJob({ partition: "down" }, { hooks: { patienceMs: 0, progress: (line) => lines.push(line) } });
		await expect(host.start()).rejects.toMatchObject({ code: "PENDING" });
		// The controller has no reason before its scheduler has come round.
		await eventually("it has a reason to wait", async () => cluster.run("squeue", "-h", "-n", name, "-o", "%r").trim() === "PartitionDown");
		await expect(host.start()).rejects.toMatchObject({
			code: "PENDING",
			message: expect.stringMatching(/^slurm:\/\/down is not there yet: job \d+ waits in the queue for its partition, which is down\. Nothing ran\./),
		});
		const [waiting] = jobs() as [string];
		expect(waiting).toMatch(/^\d+ PENDING$/);
		expect(lines.at(-1)).toMatch(/^job \d+ waits in the queue/);
		const stop = new AbortController();
		const second = again({ progress: () => stop.abort() }).start(stop.signal);
		await expect(second).rejects.toMatchObject({ code: "ABORTED", message: expect.stringContaining("stays in the queue") });
		expect(jobs()).toEqual([waiting]); // an aborted call cancels nothing
		const [id] = waiting.split(" ") as [string];
		cluster.run("scontrol", "update", `jobid=${id}`, "partition=main");
		expect((await again().start()).instance).toMatch(new RegExp(`^${id} `));
		expect(await host.stop()).toEqual([`The Slurm job ${id} was cancelled, with everything that ran in it.`]);
		expect(jobs()).toEqual([]);
		await expect(again({ patienceMs: 0 }).start()).rejects.toMatchObject({ code: "PENDING" });
		expect(await host.stop()).toEqual([expect.stringMatching(/was taken out of the queue\.$/)]);
		expect(jobs()).toEqual([]);
	});

	it("ends by itself without a sign of life", async () => {
		const { host, jobs, options } = await testJob({ lifetime: 2 });
		const { dir } = await host.start();
		await say(host, `i=0; while [ $i -lt 5 ]; do touch ${dir}/life; sleep 1; i=$((i + 1)); done`);
		expect(jobs()).toHaveLength(1);
		await eventually("it has ended", async () => jobs().length === 0);
		expect(await host.over?.()).toMatchObject({ why: expect.stringMatching(/^the Slurm job \d+ had stopped itself: it was unused, and nothing ran in it$/) });
		expect(fs.readdirSync(options.scratch as string)).toEqual([]); // it has taken its files with it
	});

	it("left by a program that was killed before it was on record: listed with its owner, and pruned when its home is gone", async () => {
		const { host, owner, jobs } = await testJob();
		await host.start();
		const signal = AbortSignal.timeout(60_000);
		const mine = async () => (await list(signal)).filter(({ home }) => home === owner.home);
		const [id] = (jobs()[0] as string).split(" ") as [string];
		expect(await mine()).toEqual([expect.objectContaining({ id, task: "t", state: "running", orphan: false, ends_at: expect.stringMatching(/^\d{4}-/) })]);
		fs.rmSync(owner.home, { recursive: true });
		expect(await mine()).toEqual([expect.objectContaining({ id, orphan: true })]);
		expect(await remove(id)).toBe(true);
		await eventually("it is gone", async () => jobs().length === 0);
		expect(await remove(id)).toBe(false);
	});

	it("values are in no script, comment or argument; of this program's environment nothing reaches the job", async () => {
		process.env.OF_THIS_PROGRAM = "leak-of-mine";
		process.env.MORPH_API_KEY = "leak-of-a-key";
		atEnd(() => {
			delete process.env.OF_THIS_PROGRAM;
			delete process.env.MORPH_API_KEY;
		});
		const value = `it's "$HOME" \`id\`\nvalue-of-mine \\`;
		const { host, cluster, jobs } = await testJob({ environment: { VALUE: value, TEST_ROOT: process.env.TEST_ROOT as string } });
		await host.start();
		expect((await say(host, 'printf %s "$VALUE"')).output).toBe(value);
		const [id] = (jobs()[0] as string).split(" ") as [string];
		const told =
			cluster.run("scontrol", "write", "batch_script", id, "-") +
			cluster.run("scontrol", "show", "job", id) +
			(await say(host, "env")).output.replace(value, "");
		const seen = fs
			.readdirSync("/proc")
			.filter((name) => /^\d+$/.test(name))
			.map((pid) => readProc(`/proc/${pid}/cmdline`) ?? "");
		expect([told, ...seen].filter((text) => /value-of-mine|leak-of-mine|leak-of-a-key/.test(text))).toEqual([]);
		expect(
			fs
				.readdirSync(jobOwners().dir)
				.map((name) => fs.readFileSync(`${jobOwners().dir}/${name}`, "utf8"))
				.join(),
		).not.toContain("value-of-mine");
	});

	it("what cannot be had is an error with what to do, and leaves nothing in the queue", async () => {
		const cases: [Parameters<typeof testJob>[0], string, RegExp][] = [
			[{ partition: "none" }, "START_FAILED", /^there is no such partition; `sinfo` lists them/],
			[{ memory: "900G" }, "START_FAILED", /^no node of the partition has what was asked for/],
			[{ gpus: 1 }, "START_FAILED", /^there are no such GPUs|^no node of the partition/],
			[{ workdir: "/proc/none" }, "NO_DIRECTORY", /^there is no directory \/proc\/none on the node/],
		];
		for (const [more, code, words] of cases) {
			const { host, jobs } = await testJob(more);
			await expect(host.start()).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
			await host.stop();
			expect(jobs()).toEqual([]);
		}
	});

	it("doctor says what there is, and leaves nothing; other settings are a conflict", async () => {
		const { host, again, options, cluster } = await testJob();
		await host.start();
		await expect(again(undefined, { cpus: 2 }).start()).rejects.toMatchObject({
			code: "CONFLICT",
			message: expect.stringMatching(/holdfast sandboxes stop \d+/),
		});
		await host.stop();
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, place: { kind: "slurm", ...options } as never });
		atEnd(() => runtime.close());
		const { checks } = await diagnose(runtime);
		expect(checks.find(({ name }) => name === "place")).toMatchObject({
			state: "ok",
			found: expect.stringMatching(/^slurm:\/\/main: Linux.*; slurm-wlm \d.*; has bash/),
		});
		await eventually("its job is gone", async () => !cluster.run("squeue", "-h", "-o", "%Z %k").includes("doctor"));
	});
});

it("without the programs of Slurm the error says where to be", async () => {
	const before = process.env.PATH;
	process.env.PATH = tempDir("bin");
	atEnd(() => {
		process.env.PATH = before;
	});
	const { slurmHost } = await import("../../../src/places/slurm/host.js");
	await expect(slurmHost({}, { home: tempDir("home"), task: "t" }).start()).rejects.toMatchObject({
		code: "UNSUPPORTED",
		message:
			"there is no squeue on this machine (no `squeue` in PATH); this has to be a machine of the cluster from which jobs are submitted: start Holdfast on a login node",
	});
});

const REFUSED: [string, string, RegExp][] = [
	["User's group not permitted to use this partition", "DENIED", /^you may not use this partition or job/],
	["Access/permission denied", "DENIED", /^you may not use this partition or job/],
	["QOSMaxSubmitJobPerUserLimit", "LIMIT", /^a limit of yours is reached; wait for other jobs, or ask for less/],
	["Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)", "LIMIT", /^a limit of yours is reached/],
	["Invalid account or account/partition combination specified", "START_FAILED", /^the account is not one of yours.*set `account`/],
	["Requested time limit is invalid (missing or exceeds some limit)", "START_FAILED", /lower `time`/],
	["Protocol authentication error", "UNREACHABLE", /^this machine is not known to the cluster, or munge does not run here/],
];

it.each(REFUSED)("what a site refuses is told in words: %s", (said, code, words) => {
	const error = explained("sbatch failed", `sbatch: error: Batch job submission failed: ${said}\n`);
	expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
	expect(error.message).toContain(said); // Slurm's own words too
});

it("an address names a partition; a key for a login, and one of another kind, are refused by name", () => {
	const none = () => ({ places: {} });
	expect(placeFrom("slurm://gpu//srv", none).options).toEqual({ partition: "gpu", workdir: "/srv" });
	expect(placeFrom("slurm://", none).options).toEqual({});
	expect(() => placeFrom("slurm://a b", none)).toThrow("characters in it that none has");
	expect(() => placeFrom({ kind: "slurm", token: "x" } as never, none)).toThrow("token");
	expect(() => placeFrom({ kind: "slurm", image: "debian:12" } as never, none)).toThrow(/"image", which is a key of docker/);
	expect(() => placeFrom({ kind: "slurm", apptainer: { image: "debian:12", keep: true } } as never, none)).toThrow("keep");
});
