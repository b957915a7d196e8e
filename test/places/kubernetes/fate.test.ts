/** What becomes of a pod: the real kubectl, against a double of the cluster. */
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readProc } from "../../../src/base/proc.js";
import { kubernetesHost } from "../../../src/places/kubernetes/host.js";
import { list, remove, wheres } from "../../../src/places/kubernetes/leftovers.js";
import { endOfPod, type Pod } from "../../../src/places/kubernetes/pod.js";
import { explained } from "../../../src/places/kubernetes/words.js";
import { eventually } from "../../support/docker-box.js";
import { atEnd, tempDir } from "../../support/home.js";
import { expectDaemonStays, expectWholeBytes, say } from "../../support/host-stream.js";
import { noKubernetes } from "../../support/kubernetes-double.js";
import { testPod } from "./support.js";

const why = noKubernetes();

const terminated = (exitCode: number, reason: string) => ({ containerStatuses: [{ name: "main", state: { terminated: { exitCode, reason } } }] });
const ENDS: [Record<string, unknown>, string][] = [
	[{ phase: "Failed", reason: "DeadlineExceeded" }, "the pod had reached its time limit (240 min)"],
	[
		{ phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." },
		"the pod was evicted from its node (The node was low on resource: memory.)",
	],
	[{ phase: "Failed", ...terminated(137, "OOMKilled") }, "the pod had run out of memory"],
	[{ phase: "Failed", reason: "NodeLost" }, "the node of the pod is gone (NodeLost)"],
	[{ phase: "Failed", ...terminated(75, "Error") }, "the pod had stopped itself: it was unused, and nothing ran in it"],
	[{ phase: "Succeeded", ...terminated(0, "Completed") }, "the pod has ended (exit code 0, Completed)"],
];

it.each(ENDS)("what the cluster writes down is told in words: %j", (status, words) => {
	const metadata = { name: "p", uid: "u", creationTimestamp: "", labels: {}, annotations: {} };
	expect(
		endOfPod({ metadata, spec: { activeDeadlineSeconds: 14_400, containers: [] }, status: { phase: "", reason: "", message: "", ...status } as Pod["status"] }),
	).toBe(words);
});

describe.skipIf(why)(`a pod${why ? `: ${why}` : ""}`, () => {
	it("two programs at once make one; bytes, codes and a half-closed input go through; what is daemonised stays", async () => {
		const { host, again, double } = await testPod({ time: 90 });
		const [one, two] = await Promise.all([host.start(), again().start()]);
		expect(one.instance).toBe(two.instance);
		expect(double.pods.size).toBe(1);
		expect((one.ends as number) - Date.now()).toBeGreaterThan(80 * 60_000);
		await expectWholeBytes(host);
		await expectDaemonStays(host);
	});

	it("its end is told from what the cluster says, not from the stream; the next is another pod, and that is said", async () => {
		const { host, again, double, name } = await testPod();
		const { instance } = await host.start();
		const stream = await host.open("echo ready; cat");
		await once(stream.output, "data");
		const [status, words] = ENDS[1] as (typeof ENDS)[number];
		double.end(name, status);
		expect(await stream.ended).toBe(words);
		expect(await again().over?.()).toEqual({ why: words, kept: false });
		const next = await again({ last: () => instance }).start();
		expect(next.notes).toEqual([`T${words.slice(1)}. It has been made again from tools:1: files and processes that were in it are lost.`]);
	});

	it("that waits for a node is no failure: it says what for, stays, and is found again; so does an image that cannot be fetched now", async () => {
		const lines: string[] = [];
		const { host, again, double, name } = await testPod({}, { patienceMs: 0, progress: (line) => lines.push(line) });
		double.unschedulable = "0/3 nodes are available: 3 Insufficient cpu.";
		await expect(host.start()).rejects.toMatchObject({
			code: "PENDING",
			message: expect.stringMatching(/^kubernetes:\/\/dev\/tools:1 is not there yet: the pod waits for a node: 0\/3 nodes/),
		});
		expect(lines).toContain("the pod waits for a node: 0/3 nodes are available: 3 Insufficient cpu.");
		const uid = double.pods.get(name)?.object.metadata.uid;
		const stop = new AbortController();
		await expect(again({ progress: () => stop.abort() }).start(stop.signal)).rejects.toMatchObject({ code: "ABORTED" });
		expect(double.pods.get(name)?.object.metadata.uid).toBe(uid); // an aborted call deletes nothing
		await host.stop();
		double.unschedulable = undefined;
		double.imageError = { reason: "ImagePullBackOff", message: "Back-off pulling image: i/o timeout" };
		await expect(again({ patienceMs: 0 }).start()).rejects.toMatchObject({
			code: "PENDING",
			message: expect.stringContaining("cannot be fetched yet: Back-off pulling image"),
		});
		expect(await host.stop()).toEqual([expect.stringMatching(/was deleted, with everything in it\.$/)]);
		expect(double.pods.size).toBe(0);
	});

	it("left by a program that was killed before it was on record: listed with its owner, and pruned when its home is gone", async () => {
		const { host, owner, double, options } = await testPod();
		await host.start();
		const { wheres: found } = await wheres([{ name: "box", options: options as never, configured: true }]);
		const [where] = found as unknown as [{ id: string }];
		const signal = AbortSignal.timeout(60_000);
		expect(await list(where.id, signal)).toEqual([
			expect.objectContaining({ task: "t", home: owner.home, state: "running", orphan: false, engine: where.id, ends_at: expect.stringMatching(/^\d{4}/) }),
		]);
		fs.rmSync(owner.home, { recursive: true });
		const [item] = (await list(where.id, signal)) as unknown as [{ id: string; orphan: boolean }];
		expect(item.orphan).toBe(true);
		expect(await remove(item.id, where.id)).toBe(true);
		await eventually("it is gone", async () => double.pods.size === 0);
		expect(await remove(item.id, where.id)).toBe(false);
	});

	it("has no token and no value that the cluster shows; the token is in no argument and not in the pod", async () => {
		const value = `it's "$HOME" \`id\`\nvalue-of-mine \\`;
		const { host, double, name } = await testPod({ environment: { VALUE: value } });
		await host.start();
		expect((await say(host, 'printf %s "$VALUE"')).output).toBe(value);
		const spec = double.pods.get(name)?.object.spec as Record<string, unknown>;
		expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false, restartPolicy: "Never", activeDeadlineSeconds: 14_400 });
		expect(spec.containers).toMatchObject([
			{ securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, seccompProfile: { type: "RuntimeDefault" } } },
		]);
		const seen = fs
			.readdirSync("/proc")
			.filter((one) => /^\d+$/.test(one))
			.map((pid) => readProc(`/proc/${pid}/cmdline`) ?? "");
		const told = [JSON.stringify(double.pods.get(name)?.object), ...double.calls, (await say(host, "env")).output.replace(value, ""), ...seen];
		expect(told.filter((text) => text.includes("value-of-mine") || text.includes(double.token))).toEqual([]);
	});

	it("a login that expires in the middle says so, and what runs goes on", async () => {
		const { host, again, double } = await testPod();
		const { instance } = await host.start();
		const stream = await host.open("echo ready; cat");
		await once(stream.output, "data");
		double.expired = true;
		double.cut();
		expect(await stream.ended).toMatch(/^the cluster does not accept the login of kubectl, or it has expired; log in again.*What runs goes on/);
		await expect(again().start()).rejects.toMatchObject({ code: "DENIED" });
		double.expired = false;
		expect((await again().start()).instance).toBe(instance);
	});
});

const REFUSED: [string, string, RegExp][] = [
	["The connection to the server localhost:8080 was refused - did you specify the right host or port?", "UNREACHABLE", /^kubectl knows of no cluster here/],
	["Unable to connect to the server: dial tcp: lookup c.example: no such host", "UNREACHABLE", /^the cluster cannot be reached/],
	["Unable to connect to the server: getting credentials: exec: executable aws not found", "DENIED", /^the program that logs kubectl in does not work/],
	["error: You must be logged in to the server (the server has asked for the client to provide credentials)", "DENIED", /it has expired; log in again/],
	['The Pod "x" is invalid: spec.tolerations[0].operator: Invalid value: "y"', "START_FAILED", /^the cluster does not take a pod with these settings/],
];

it.each(REFUSED)("what kubectl says is told in words: %s", (said, code, words) => {
	const error = explained("kubectl get failed", `E1119 20:00:00.000000 memcache.go:265] couldn't get current server API group list\n${said}\n`);
	expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
	expect(error.message).toContain(said.replace(/^error: /, "")); // its own words too
});

it("without kubectl the error says what to do", async () => {
	const before = process.env.PATH;
	atEnd(() => {
		process.env.PATH = before;
	});
	process.env.PATH = tempDir("bin");
	const start = () => kubernetesHost({ image: "tools:1", kubeconfig: path.join(tempDir(), "none") }, { home: tempDir("home"), task: "t" }).start();
	await expect(start()).rejects.toMatchObject({
		code: "UNSUPPORTED",
		message: expect.stringMatching(/^there is no kubectl on this machine .*kubectl get pods/),
	});
});
