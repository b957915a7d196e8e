import { describe, expect, it } from "vitest";
import { BUSYBOX_IMAGE, noEngine } from "../../support/dockerd.js";
import { testPlace } from "./support.js";

const why = noEngine();

describe.skipIf(why)(`limits of a container${why ? `: ${why}` : ""}`, () => {
	it("of memory end the command that takes too much, and the container goes on", async () => {
		const { host, run } = await testPlace({ memory: "32M" });
		const { instance } = await host.start();
		expect(await run("exec perl -e '$x = \"a\" x 200_000_000'")).toEqual({
			output: "",
			ended: "the command was killed: the container ran out of memory (limit 32 MiB)",
		});
		expect(await host.start()).toMatchObject({ instance, notes: [] });
		expect(await run("echo here")).toMatchObject({ output: "here\n" });
	});

	it("of processes are kept, and what cannot be started is explained", async () => {
		const { host, run } = await testPlace({ pids: 40, image: BUSYBOX_IMAGE });
		await host.start();
		const full = await host.open("i=0; while [ $i -lt 100 ]; do sleep 1000 & i=$((i + 1)); done; wait");
		expect(await full.ended).toMatch(/^the command in the container ended with exit code 2; it said: .*can't fork: Resource temporarily unavailable/);
		const { output } = await run("cat /sys/fs/cgroup/pids.current /sys/fs/cgroup/pids/pids.current 2>/dev/null").catch((error: Error) => ({
			output: error.message,
		}));
		expect(output).toMatch(/^(nothing more can be started in the container: it may have had its 40 processes; end some of them, or raise "pids"|40|)\s*$/);
	});

	it("of the disk are an error where the engine cannot keep them", async () => {
		const { host, container } = await testPlace({ disk: "100M" });
		await expect(host.start()).rejects.toThrow(/^this Docker engine cannot limit the disk of a container \(.*\); leave "disk" out/);
		await expect(container.inspect()).rejects.toMatchObject({ statusCode: 404 });
	});

	it("of the processor and of shared memory arrive", async () => {
		const { host, container } = await testPlace({ cpus: 0.5, memory: "64M" });
		await host.start();
		expect((await container.inspect()).HostConfig).toMatchObject({ NanoCpus: 5e8, Memory: 64 * 1024 ** 2, MemorySwap: 64 * 1024 ** 2 });
	});
});
