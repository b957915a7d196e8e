/** What becomes of an instance of MorphCloud: the real ssh, against a double of the service. */
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/base/config.js";
import { readProc } from "../../../src/base/proc.js";
import { placeFrom } from "../../../src/places/address.js";
import { morphHost } from "../../../src/places/morph/host.js";
import { list, remove } from "../../../src/places/morph/leftovers.js";
import { diagnose } from "../../../src/process/doctor.js";
import { eventually } from "../../support/docker-box.js";
import { atEnd, tempDir, textOf } from "../../support/home.js";
import { say } from "../../support/host-stream.js";
import { openRuntime } from "../../support/internal.js";
import { noMorph } from "../../support/morph-double.js";
import { freePort } from "../../support/ports.js";
import { testInstance } from "./support.js";

describe.skipIf(noMorph)(`an instance of Morph${noMorph ? `: ${noMorph}` : ""}`, () => {
	it("two programs at once make one, with a key that is locked; and of two that were made all the same the oldest stays", async () => {
		const { host, again, double, only } = await testInstance();
		double.locked = true;
		const [one, two] = await Promise.all([host.start(), again().start()]);
		expect(one.instance).toBe(two.instance);
		expect(only()).toMatchObject({ id: one.instance, status: "ready", ttl: { ttl_seconds: 300, ttl_action: "pause" } });
		expect((await say(host, "cat /proc/1/comm; exit 3")).output).toBe("cat\n");
		const elsewhere = morphHost({ snapshot: "snapshot_1" }, { home: tempDir("other"), task: "t" });
		double.overtaken = true; // by a program that has no part in our lease
		const { instance } = await elsewhere.start();
		expect([...double.instances.keys()]).toEqual([one.instance, instance]); // another home has its own: the first of the two that were made
		expect(await elsewhere.stop()).toHaveLength(1);
		expect(only().id).toBe(one.instance);
	});

	it("paused under a stream is found out and woken, and nothing is lost; stopped is over, and the next is said to be another", async () => {
		const { host, again, double, only } = await testInstance();
		const { instance } = await host.start();
		const { output } = await say(host, "setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!");
		double.pause(only().id);
		expect(await host.whySilent?.()).toBe("the Morph instance is paused");
		expect(await again({ last: () => instance }).over?.()).toBeUndefined();
		expect(await again({ last: () => instance }).start()).toMatchObject({
			instance,
			notes: ["The instance had been paused; it goes on now, and nothing is lost."],
		});
		expect((await say(host, `kill -0 ${Number(output)} && echo alive`)).output).toBe("alive\n");
		const stream = await host.open("echo ready; cat");
		await once(stream.output, "data");
		double.stop(only().id);
		expect(await stream.ended).toBe("the Morph instance was stopped");
		expect(await again({ last: () => instance }).over?.()).toEqual({ why: "the Morph instance was stopped", kept: false });
		const next = await again({ last: () => instance }).start();
		expect(next.notes).toEqual(["The instance was gone and has been made again from snapshot_1: the files and processes that were in it are lost."]);
	});

	it("that is not ready yet is no failure: it is found again, and its task's end stops it", async () => {
		const lines: string[] = [];
		const { host, again, double, only } = await testInstance({}, { patienceMs: 0, progress: (line) => lines.push(line) });
		double.stuck = "pending";
		await expect(host.start()).rejects.toMatchObject({
			code: "PENDING",
			message: expect.stringMatching(/^morph:\/\/snapshot_1 is not there yet: the instance morphvm_\w+ is pending\. Nothing ran\./),
		});
		const { id } = only();
		expect(lines).toEqual([`the instance ${id} is pending`]);
		await expect(again({ patienceMs: 0 }).start()).rejects.toMatchObject({ code: "PENDING" });
		expect(only().id).toBe(id);
		expect(await host.stop()).toEqual([`The Morph instance ${id} of snapshot_1 was stopped, with everything in it.`]);
		expect(double.instances.size).toBe(0);
		expect(await host.stop()).toEqual([]);
	});

	it("a key that expires in the middle of a command says so; what runs goes on, and so does its output with a new key", async () => {
		const { double, only } = await testInstance();
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, task: "t", place: "morph://snapshot_1" });
		atEnd(() => runtime.close());
		const counting = await runtime.spawn({ command: "i=0; while [ $i -lt 20 ]; do echo line $i; i=$((i + 1)); sleep 0.2; done" });
		await counting.wait({ until: { pattern: "line 3" }, timeout: 100_000 });
		double.refuses = { status: 401, detail: "Invalid API key" };
		double.cut(only().id);
		await eventually("it is known why", async () => {
			await counting.sync();
			return counting.unreachable?.includes("does not accept MORPH_API_KEY") ?? false;
		});
		double.refuses = undefined;
		await counting.wait({ timeout: 100_000 });
		expect(textOf(counting)).toBe(Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join(""));
		expect(only().status).toBe("ready"); // the same
		await runtime.endTask("t");
	});

	it("left by a program that was killed before it was on record: listed with its owner, and pruned when its home is gone", async () => {
		const { host, owner, double, only } = await testInstance();
		await host.start();
		const signal = AbortSignal.timeout(60_000);
		const item = { id: only().id, name: "snapshot_1", task: "t", home: owner.home, state: "running", orphan: false };
		expect(await list(signal)).toEqual([expect.objectContaining(item)]);
		fs.rmSync(owner.home, { recursive: true });
		expect(await list(signal)).toEqual([expect.objectContaining({ ...item, orphan: true })]);
		expect(await remove(item.id)).toBe(true);
		expect(double.instances.size).toBe(0);
		expect(await remove(item.id)).toBe(false);
	});

	it("the API key is in no file, no argument and not in the instance; nor are values in arguments; keys are for this user alone and go with the instance", async () => {
		const value = `it's "$HOME" \`id\`\nvalue-of-mine \\`;
		const { double } = await testInstance();
		double.locked = true;
		const home = tempDir("home");
		const runtime = await openRuntime({ home, warm: 0, task: "t", place: { kind: "morph", snapshot: "snapshot_1", environment: { VALUE: value } } as never });
		atEnd(() => runtime.close());
		const process_ = await runtime.spawn({ command: 'printf %s "$VALUE"; env; sleep 1000' });
		await process_.wait({ until: { pattern: "HOME=" }, timeout: 100_000 });
		expect(textOf(process_)).toContain(value);
		const [{ password }] = [...double.instances.values()] as unknown as [{ password: string }];
		const files = fs.readdirSync(home, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
		const texts = files.map((one) => fs.readFileSync(path.join(one.parentPath, one.name), "latin1"));
		const seen = fs
			.readdirSync("/proc")
			.filter((one) => /^\d+$/.test(one))
			.map((pid) => readProc(`/proc/${pid}/cmdline`) ?? "");
		expect([...texts, ...seen, textOf(process_)].filter((text) => text.includes(double.apiKey) || text.includes(password))).toEqual([]);
		expect(seen.filter((text) => text.includes("value-of-mine"))).toEqual([]);
		const [key] = files.filter(({ name }) => name.endsWith(".key")) as [fs.Dirent];
		expect(fs.statSync(path.join(key.parentPath, key.name)).mode & 0o777).toBe(0o600);
		await runtime.endTask("t");
		expect(fs.readdirSync(path.join(home, "morph"))).toEqual(["known_hosts"]);
	});

	it("what cannot be had is an error with what to do; what the service says in the middle is why, and nothing is made twice", async () => {
		const { host, again, double, only } = await testInstance();
		await expect(again(undefined, { snapshot: "none" }).start()).rejects.toMatchObject({
			code: "START_FAILED",
			message: "this account has no snapshot none at Morph; check its id",
		});
		for (const [status, code, words] of [
			[402, "LIMIT", "asks for payment"],
			[429, "LIMIT", "a limit of the Morph account"],
			[503, "UNREACHABLE", "cannot answer now"],
			[401, "DENIED", "does not accept MORPH_API_KEY"],
		] as const) {
			double.refuses = { status, detail: "as it is" };
			await expect(host.start()).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
		}
		double.refuses = undefined;
		const { instance } = await host.start();
		await expect(again(undefined, { cpus: 2 }).start()).rejects.toMatchObject({
			code: "CONFLICT",
			message: expect.stringMatching(/\(cpus\).*holdfast sandboxes stop morphvm_/),
		});
		process.env.MORPH_API_KEY = "expired";
		await expect(again().start()).rejects.toMatchObject({ code: "DENIED", message: expect.stringContaining("What runs goes on") });
		delete process.env.MORPH_API_KEY;
		await expect(again().start()).rejects.toMatchObject({ code: "DENIED", message: expect.stringContaining("set MORPH_API_KEY") });
		process.env.MORPH_API_KEY = double.apiKey;
		const { MORPH_BASE_URL } = process.env;
		process.env.MORPH_BASE_URL = `http://127.0.0.1:${await freePort()}`;
		await expect(again().start()).rejects.toMatchObject({
			code: "UNREACHABLE",
			message: `Morph (${process.env.MORPH_BASE_URL}) cannot be reached (ECONNREFUSED); what runs goes on`,
		});
		process.env.MORPH_BASE_URL = MORPH_BASE_URL;
		expect((await again().start()).instance).toBe(instance);
		expect(only().id).toBe(instance);
	});

	it("doctor says what there is, and leaves nothing", async () => {
		const { double } = await testInstance();
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, place: "morph://snapshot_1" });
		atEnd(() => runtime.close());
		const { checks } = await diagnose(runtime);
		expect(checks.find(({ name }) => name === "place")).toMatchObject({
			found: expect.stringMatching(/^morph:\/\/snapshot_1: Linux.*; Morph at http:\S+; ssh by 127\.0\.0\.1:\d+; .*has /),
		});
		expect(double.instances.size).toBe(0);
	});
});

it("an address names a snapshot; a key for the account is refused, and a key of another kind is named", () => {
	expect(placeFrom("morph://snapshot_1//srv", loadConfig).options).toEqual({ snapshot: "snapshot_1", workdir: "/srv" });
	expect(() => placeFrom("morph://", loadConfig)).toThrow("the snapshot is missing");
	expect(() => placeFrom("morph://a/b", loadConfig)).toThrow("is not the id of a snapshot");
	expect(() => placeFrom({ kind: "morph", snapshot: "s", apiKey: "x" } as never, loadConfig)).toThrow("apiKey");
	expect(() => placeFrom({ kind: "morph", snapshot: "s", image: "x" } as never, loadConfig)).toThrow(/"image", which is a key of docker/);
});
