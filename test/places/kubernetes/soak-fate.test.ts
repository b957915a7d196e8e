import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { KubernetesOptions } from "../../../src/places/kubernetes/options.js";
import { diagnose } from "../../../src/process/doctor.js";
import { eventually } from "../../support/docker-box.js";
import { atEnd, tempDir, textOf } from "../../support/home.js";
import { openRuntime } from "../../support/internal.js";
import { noKubernetes } from "../../support/kubernetes-double.js";

import { testPod } from "./support.js";

const why = noKubernetes();

describe.skipIf(why)(`a pod${why ? `: ${why}` : ""}`, () => {
	it("a server that is restarted ends streams without a word: then nothing is over, and the pod is used again", async () => {
		const { host, again, double } = await testPod();
		const { instance } = await host.start();
		const stream = await host.open("echo ready; cat");
		await once(stream.output, "data");
		double.cut();
		expect(await stream.ended).toMatch(/^the connection to the pod broke/);
		expect(await again({ last: () => instance }).over?.()).toBeUndefined();
		expect((await again().start()).instance).toBe(instance);
	});

	it("ends by itself without a sign of life, and its task's end deletes it", async () => {
		const { host, again, double } = await testPod({ lifetime: 2 });
		// On a busy machine its two seconds may be over before it was used for the first time.
		await host.start().catch((error) => expect(error).toMatchObject({ code: "UNREACHABLE", message: expect.stringContaining("had stopped itself") }));
		await eventually("it has ended", async () => (await again().over?.()) !== undefined);
		expect(await again().over?.()).toEqual({ why: "the pod had stopped itself: it was unused, and nothing ran in it", kept: false });
		expect(await host.stop()).toEqual([expect.stringMatching(/was deleted/)]);
		expect(double.pods.size).toBe(0);
		expect(await host.stop()).toEqual([]);
	});

	it("what cannot be had is an error with what to do, and leaves no pod", async () => {
		const { again, double } = await testPod();
		const quota = {
			code: 403,
			reason: "Forbidden",
			message: 'pods "x" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=5, limited: pods=5',
		};
		const security = { code: 403, reason: "Forbidden", message: 'pods "x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true' };
		const rights = {
			code: 403,
			reason: "Forbidden",
			message: 'pods is forbidden: User "u" cannot create resource "pods" in API group "" in the namespace "dev"',
		};
		const changed = (change: (text: string) => string): string => {
			const file = path.join(tempDir(), "config");
			fs.writeFileSync(file, change(fs.readFileSync(double.kubeconfig, "utf8")), { mode: 0o600 });
			return file;
		};
		const cases: [Partial<KubernetesOptions>, string, RegExp, typeof quota?][] = [
			[{ image: "none:1" }, "START_FAILED", /^there is no image none:1, or the cluster may not have it \(.*manifest unknown.*imagePullSecrets/],
			[{ context: "none" }, "INVALID", /^there is no such context; `kubectl config get-contexts` lists them/],
			[{ namespace: "none" }, "START_FAILED", /^there is no such namespace/],
			[{ kubeconfig: "/no/such" }, "START_FAILED", /no such/],
			[
				{ kubeconfig: changed((text) => text.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1")) },
				"UNREACHABLE",
				/^the cluster cannot be reached; see whether `kubectl get pods` works/,
			],
			[
				{ kubeconfig: changed((text) => text.replace(double.token, "another")) },
				"DENIED",
				/^the cluster does not accept the login of kubectl, or it has expired/,
			],
			[{}, "LIMIT", /^the quota of the namespace is used up/, quota],
			[{}, "START_FAILED", /set `user` to a number/, security],
			[{}, "DENIED", /^this user may not do that there; a Role with/, rights],
		];
		for (const [more, code, words, refusal] of cases) {
			double.refuses = () => refusal;
			await expect(again(undefined, more).start(), String(words)).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
		}
		double.refuses = undefined;
		await eventually("no pod is left", async () => double.pods.size === 0);
		expect((await again(undefined, { user: 1000 }).start()).instance).toBeDefined();
		expect([...double.pods.values()][0]?.object.spec.containers[0]).toMatchObject({
			securityContext: { runAsUser: 1000, runAsNonRoot: true, capabilities: { drop: ["ALL"] } },
		});
	});

	it("that ends as soon as it is started is not made for ever: the error says what the cluster says, and no pod is left", async () => {
		const { host, double } = await testPod();
		double.endsAtOnce = { phase: "Failed", reason: "OutOfcpu", message: "Pod Node didn't have enough resource: cpu" };
		await expect(host.start()).rejects.toMatchObject({
			code: "START_FAILED",
			message: "the pod ends whenever it is started: the pod has ended (OutOfcpu: Pod Node didn't have enough resource: cpu)",
		});
		expect(double.calls.filter((call) => call.startsWith("POST")).length).toBe(3);
		await eventually("no pod is left", async () => double.pods.size === 0);
	});

	it("that was left by a killed program, and can never start, gives way to one with the right image", async () => {
		const { again, double } = await testPod();
		const stop = new AbortController();
		const killed = again({ progress: () => stop.abort() }, { image: "none:1" }).start(stop.signal);
		await expect(killed).rejects.toMatchObject({ code: "ABORTED" });
		expect(double.pods.size).toBe(1);
		await again().start();
		expect([...double.pods.values()].map(({ object }) => object.spec.containers[0]?.image)).toEqual(["tools:1"]);
	});

	it("its time limit, reached in the middle of a command, is why that is lost, and the next command has another pod; so is a node that is lost", async () => {
		const { double, options } = await testPod({ time: 4 }, undefined, "full");
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, task: "t", place: { kind: "kubernetes", ...options } as never });
		atEnd(() => runtime.close());
		for (const [status, words] of [
			[{ phase: "Failed", reason: "DeadlineExceeded" }, "had reached its time limit (4 min)"],
			[{ phase: "Failed", reason: "NodeLost" }, "the node of the pod is gone (NodeLost)"],
		] as const) {
			const { session_id, note } = await runtime.terminal({ command: "echo began; sleep 1000", background: true });
			expect(note).toMatch(/kubernetes:\/\/dev\/tools:1 ends at .*: save what has to stay\./); // less than five minutes are left
			await runtime.process({ action: "wait", session_id, until: { pattern: "began" }, timeout: 60 });
			double.end([...double.pods.keys()][0] as string, status);
			const waited = await runtime.process({ action: "wait", session_id, timeout: 60 });
			expect(waited).toMatchObject({ status: "lost", output: expect.stringContaining("began") });
			expect(JSON.stringify(waited)).toContain(words);
			const next = await runtime.terminal({ command: "echo next" });
			expect(next).toMatchObject({ output: "next\n", note: expect.stringMatching(/It has been made again from tools:1/) });
			await runtime.endTask("t");
		}
		expect(double.pods.size).toBe(0);
	});

	it.each([
		["node", "nodeAway", "the node of the pod does not answer"],
		["cluster", "serverAway", "the cluster cannot be reached; see whether `kubectl get pods` works"],
	] as const)("whose %s does not answer for a while is used again when it does, and nothing is lost", async (_what, away, words) => {
		const { double, options } = await testPod({}, undefined, "full");
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, task: "t", place: { kind: "kubernetes", ...options } as never });
		atEnd(() => runtime.close());
		const counting = await runtime.spawn({ command: "i=0; while [ $i -lt 20 ]; do echo line $i; i=$((i + 1)); sleep 0.2; done" });
		await counting.wait({ until: { pattern: "line 3" }, timeout: 100_000 });
		double[away] = true;
		double.cut();
		await eventually("it is known why", async () => {
			await counting.sync();
			return counting.unreachable?.includes(words) ?? false;
		});
		expect(await runtime.terminal({ command: "echo x" }, { task: "t", within: 5_000 })).toMatchObject({
			status: "error",
			error: expect.stringContaining(words),
		});
		double[away] = false;
		await counting.wait({ timeout: 100_000 });
		expect(textOf(counting)).toBe(Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join(""));
		expect(double.pods.size).toBe(1);
		await runtime.endTask("t");
	});

	it("doctor says what there is, and leaves nothing; other settings are a conflict", async () => {
		const { host, again, double, options } = await testPod();
		await host.start();
		await expect(again(undefined, { memory: "100M" }).start()).rejects.toMatchObject({
			code: "CONFLICT",
			message: expect.stringMatching(/\(memory\).*holdfast sandboxes stop [0-9a-f]{12}/),
		});
		await host.stop();
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, place: { kind: "kubernetes", ...options } as never });
		atEnd(() => runtime.close());
		const { checks } = await diagnose(runtime);
		expect(checks.find(({ name }) => name === "place")).toMatchObject({
			found: expect.stringMatching(/^kubernetes:\/\/dev\/tools:1: Linux.*; kubectl v1\.\d+.*; context as kubectl has it; .*has /),
		});
		expect(double.pods.size).toBe(0);
	});
});
