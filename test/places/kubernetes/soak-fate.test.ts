import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { KubernetesOptions } from "../../../src/places/kubernetes/options.js";
import { diagnose } from "../../../src/process/doctor.js";
import { eventually } from "../../support/docker-box.js";
import { atEnd, tempDir } from "../../support/home.js";
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
		expect(await again().over?.()).toEqual({ why: "the pod had stopped itself: nobody used it, and nothing ran in it", kept: false });
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
		const cases: [Partial<KubernetesOptions>, string, RegExp, typeof quota?][] = [
			[{ image: "none:1" }, "START_FAILED", /^there is no image none:1, or the cluster may not have it \(.*manifest unknown.*imagePullSecrets/],
			[{ context: "none" }, "INVALID", /^there is no such context; `kubectl config get-contexts` lists them/],
			[{ namespace: "none" }, "START_FAILED", /^there is no such namespace/],
			[{ kubeconfig: "/no/such" }, "START_FAILED", /no such/],
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
