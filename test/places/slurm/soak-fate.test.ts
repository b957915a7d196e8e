/** Ends of a job that take their time, and a container of a real Apptainer in a real job. */
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { noApptainer, sharedApptainer } from "../../support/apptainer.js";
import { eventually } from "../../support/docker-box.js";
import { atEnd, tempDir, testRoot } from "../../support/home.js";
import { say } from "../../support/host-stream.js";
import { openRuntime } from "../../support/internal.js";
import { noSlurm, ownSlurm, sharedSlurm, useSlurm } from "../../support/slurm.js";
import { testJob } from "./support.js";

describe.skipIf(noSlurm)(`a job of Slurm${noSlurm ? `: ${noSlurm}` : ""}`, () => {
	it("its time limit is `ends`; reached in the middle of a command, that is why it is lost, and the next command has another job", async () => {
		useSlurm(await sharedSlurm());
		const home = tempDir("home");
		const place = { kind: "slurm", partition: "main", memory: "50M", time: 1, scratch: tempDir("node"), environment: { TEST_ROOT: testRoot() } };
		const runtime = await openRuntime({ home, warm: 0, task: "t", place: place as never });
		atEnd(async () => {
			await runtime.endTask("t");
			await runtime.close();
		});
		const first = await runtime.terminal({ command: "echo first" });
		expect(first).toMatchObject({ output: "first\n", note: expect.stringMatching(/slurm:\/\/main ends at .*: save what has to stay\./) });
		const { session_id } = await runtime.terminal({ command: "echo began; sleep 1000", background: true });
		const waited = await runtime.process({ action: "wait", session_id, timeout: 180 });
		expect(waited).toMatchObject({ status: "lost", output: expect.stringContaining("began") });
		expect(JSON.stringify(waited)).toMatch(/had reached its time limit/);
		const next = await runtime.terminal({ command: "echo next" });
		expect(next).toMatchObject({ output: "next\n", note: expect.stringMatching(/had reached its time limit\. This is another one/) });
	}, 300_000);

	it("that waits its turn is told its place among those that wait, and when Slurm expects it to start", async () => {
		const cluster = await ownSlurm();
		const whole = () =>
			cluster.run("sbatch", "--parsable", "-p", "main", "--mem=4000M", "--time=10", "-o", "/dev/null", "--chdir=/", "--wrap", "sleep 1000").trim();
		const stateOf = (id: string) => cluster.run("squeue", "-h", "-j", id, "-o", "%T").trim();
		const first = whole();
		await eventually("the node is taken", async () => stateOf(first) === "RUNNING");
		whole();
		const lines: string[] = [];
		const { host } = await testJob({}, { cluster, hooks: { patienceMs: 0, progress: (line) => lines.push(line) } });
		const told = /^job \d+ waits in the queue .*, as number 2 of the 2 that squeue shows waiting for main; Slurm expects it to start at \d{4}-\d\d-\d\d \d\d:/;
		// Until the scheduler has come round it has neither a reason nor a time.
		await eventually(
			"it is told",
			async () => {
				await expect(host.start()).rejects.toMatchObject({ code: "PENDING" });
				return told.test(lines.at(-1) ?? "");
			},
			120_000,
		);
		await expect(host.start()).rejects.toMatchObject({ message: expect.stringContaining(" as number 2 of the 2 ") });
	}, 300_000);

	it("with the configuration of no cluster the error says what to look at", async () => {
		const { host, cluster } = await testJob();
		process.env.SLURM_CONF = path.join(tempDir(), "slurm.conf");
		await expect(host.start()).rejects.toMatchObject({
			code: expect.stringMatching(/^(UNREACHABLE|START_FAILED)$/),
			message: expect.stringMatching(/SLURM_CONF/),
		});
		process.env.SLURM_CONF = cluster.conf;
	}, 300_000);

	it("without its controller streams go on, and the error says so; with its node gone that is why", async () => {
		const cluster = await ownSlurm();
		const { host, again } = await testJob({}, { cluster });
		const { instance } = await host.start();
		const stream = await host.open("cat");
		stream.input.write("here\n");
		await once(stream.output, "data"); // its step needs the controller to begin, and not afterwards
		await cluster.kill("slurmctld"); // politely: killed, it would have forgotten a job so young
		stream.input.write("still here\n");
		expect(String((await once(stream.output, "data"))[0])).toBe("still here\n");
		await expect(again().start()).rejects.toMatchObject({ code: "UNREACHABLE", message: expect.stringMatching(/controller does not answer|no answer within/) });
		await cluster.start("slurmctld");
		await eventually(
			"the controller is back",
			async () =>
				again()
					.over?.()
					.then(
						() => true,
						() => false,
					) ?? false,
			60_000,
		);
		expect(await again({ last: () => instance }).over?.()).toBeUndefined();
		await cluster.kill("slurmd", "SIGKILL");
		await eventually("the node is given up", async () => (await again({ last: () => instance }).over?.()) !== undefined, 120_000);
		expect(await again({ last: () => instance }).over?.()).toMatchObject({ why: expect.stringMatching(/^the node of the Slurm job \d+ failed$/) });
		stream.close();
		await cluster.start("slurmd");
	}, 300_000);

	it.skipIf(noApptainer)(
		"with `apptainer` commands run in a container that the job has started, and it ends with the job",
		async () => {
			const apptainer = await sharedApptainer();
			const dir = tempDir("shared");
			const { host, again, options, cluster, jobs } = await testJob({
				setup: `PATH=${apptainer.bin}:$PATH; export PATH`,
				apptainer: { image: apptainer.full, network: false, volumes: [`${dir}:${dir}`] },
				environment: { VALUE: "it's\ntwo", TEST_ROOT: testRoot() },
			});
			const [one, two] = await Promise.all([host.start(), again().start()]);
			expect(one.instance).toBe(two.instance);
			expect((await say(host, `id -u; cat /proc/1/comm; printf %s "$VALUE"; echo here >${dir}/file`)).output).toBe("1000\nappinit\nit's\ntwo");
			expect(fs.readFileSync(path.join(dir, "file"), "utf8")).toBe("here\n");
			const stream = await host.open("echo ready; cat");
			await once(stream.output, "data");
			const [id] = (jobs()[0] as string).split(" ") as [string];
			cluster.run("scancel", id);
			expect(await stream.ended).toBe(`the Slurm job ${id} was cancelled`);
			await eventually("its files are gone", async () => fs.readdirSync(options.scratch as string).length === 0);
			const none = await testJob({ apptainer: { image: "/no/such.sif" }, setup: `PATH=${apptainer.bin}:$PATH; export PATH` });
			await expect(none.host.start()).rejects.toThrow(/the container in the Slurm job \d+ cannot be started: .*there is no file \/no\/such\.sif on the node/);
			const lacks = await testJob({ apptainer: { image: apptainer.busybox } });
			await expect(lacks.host.start()).rejects.toMatchObject({ code: "UNSUPPORTED", message: expect.stringContaining("module load apptainer") });
		},
		300_000,
	);

	it.skipIf(noApptainer)(
		"an image of a registry is fetched by the job, once whoever asks, however long it takes; a start that has waited says so, and the next one finds it",
		async () => {
			const apptainer = await sharedApptainer();
			const [bin, images] = [tempDir("bin"), tempDir("images")];
			const [pulls, go] = [path.join(images, "pulls"), path.join(images, "go")];
			// A double of `apptainer pull`, which takes as long as the test wants. Everything else is done by the real one.
			const double = `#!/bin/sh\n[ "$1" != pull ] || { echo "$4" >>${pulls}; until [ -e ${go} ]; do sleep 0.1; done; exec cp ${apptainer.busybox} "$3"; }\nexec ${apptainer.bin}/apptainer "$@"\n`;
			fs.writeFileSync(path.join(bin, "apptainer"), double, { mode: 0o755 });
			const asked = { setup: `PATH=${bin}:$PATH; export PATH`, apptainer: { image: "tools:1", network: false, scratch: images }, lifetime: 5 };
			const lines: string[] = [];
			const one = await testJob(asked, { hooks: { patienceMs: 15_000, progress: (line) => lines.push(line) } });
			const other = await testJob(asked);
			const id = () => (one.jobs()[0] as string).split(" ")[0];
			const waits = other.host.start(); // another task's
			await eventually("the image is being fetched", async () => fs.existsSync(pulls));
			await expect(one.host.start()).rejects.toMatchObject({
				code: "PENDING",
				message: expect.stringMatching(/^slurm:\/\/main is not there yet: job \d+ fetches the image tools:1\. Nothing ran/),
			});
			expect(lines.at(-1)).toBe(`job ${id()} fetches the image tools:1`);
			const next = one.again();
			const started = next.start(); // its job is there, after three times its lifetime
			fs.writeFileSync(go, "");
			expect((await started).instance).toMatch(new RegExp(`^${id()} `));
			expect((await say(next, "cat /proc/1/comm")).output).toBe("appinit\n");
			await waits;
			expect(fs.readFileSync(pulls, "utf8")).toBe("docker://tools:1\n");
			expect(fs.readdirSync(path.join(images, "holdfast/images")).filter((name) => !/\.(sif|lock)$/.test(name))).toEqual([]);
		},
		300_000,
	);

	it("whose directory cannot be made on the node is an error that says so; so is a setup that fails", async () => {
		const { options } = await testJob();
		for (const [more, words] of [
			[{ scratch: "/proc/none" }, /could not make its directory on its node; set `scratch`/],
			[{ setup: "exit 9" }, /has ended \(exit code 9\)/],
		] as const) {
			const runtime = await openRuntime({ home: tempDir("home"), warm: 0, task: "t", place: { kind: "slurm", ...options, ...more } as never });
			atEnd(() => runtime.close());
			expect(await runtime.terminal({ command: "true" })).toMatchObject({ status: "error", error: expect.stringMatching(words) });
			await runtime.endTask("t");
		}
	}, 300_000);

	it.skipIf(noApptainer)(
		"a container that ends takes its job with it: that is why, and the next command has another job",
		async () => {
			const apptainer = await sharedApptainer();
			const apt = { image: apptainer.full, network: false };
			const { host, again } = await testJob({ setup: `PATH=${apptainer.bin}:$PATH; export PATH`, apptainer: apt });
			const { instance } = await host.start();
			await say(host, "kill -TERM 1; sleep 60");
			await eventually("its job has ended", async () => (await host.over?.()) !== undefined, 60_000);
			const [id] = (instance as string).split(" ");
			expect(await host.over?.()).toEqual({ why: `the container in the Slurm job ${id} has ended, and the job with it`, kept: false });
			const next = again({ last: () => instance });
			expect((await next.start()).notes).toEqual([
				expect.stringMatching(/^The container in the Slurm job \d+ has ended, and the job with it\. This is another one/),
			]);
			expect((await say(next, "cat /proc/1/comm")).output).toBe("appinit\n");
		},
		300_000,
	);

	it.skipIf(noApptainer)(
		"a container in a job that nobody uses ends, and the job with it",
		async () => {
			const apptainer = await sharedApptainer();
			const { host, jobs } = await testJob({ setup: `PATH=${apptainer.bin}:$PATH`, apptainer: { image: apptainer.busybox, network: false }, lifetime: 4 });
			await host.start();
			await eventually("it has ended", async () => jobs().length === 0, 120_000);
			expect(await host.over?.()).toMatchObject({ why: expect.stringMatching(/had stopped itself: it was unused, and nothing ran in it$/) });
		},
		300_000,
	);
});
