/** More of what becomes of an instance of MorphCloud: the real ssh, against a double of the service. */
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { say } from "../../support/host-stream.js";
import { noMorph } from "../../support/morph-double.js";
import { testInstance } from "./support.js";

describe.skipIf(noMorph)(`an instance of Morph${noMorph ? `: ${noMorph}` : ""}`, () => {
	it("rests when it is not used, and is woken by the next start; with `keep` its task's end only pauses it", async () => {
		const { host, again, owner, only } = await testInstance({ keep: true });
		const { instance } = await host.start();
		const { output } = await say(host, "echo kept >/root/file; setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!");
		await host.rest?.();
		expect(only()).toMatchObject({ id: instance, status: "paused" });
		const woken = again({ last: () => instance });
		expect((await woken.start()).instance).toBe(instance);
		expect((await say(woken, `cat /root/file; kill -0 ${Number(output)} && echo alive`)).output).toBe("kept\nalive\n");
		expect(await woken.stop()).toEqual([`The Morph instance ${instance} was paused; its memory and files are kept.`]);
		expect(only().status).toBe("paused");
		expect(await woken.stop()).toEqual([]);
		expect(fs.readdirSync(path.join(owner.home, "morph")).sort()).toEqual(["known_hosts", `${instance}.key`]);
	});

	it("that has failed is over, and another is made, once; one that fails to start is removed, and that is said", async () => {
		const { host, again, double, only, owner } = await testInstance();
		const { instance } = await host.start();
		const stream = await host.open("echo ready; cat");
		await once(stream.output, "data");
		double.fail(only().id);
		expect(await stream.ended).toBe("the Morph instance is error");
		expect(await again({ last: () => instance }).over?.()).toEqual({ why: "the Morph instance has failed", kept: false });
		const next = await again({ last: () => instance }).start();
		expect(next).toMatchObject({ instance: only().id, notes: [expect.stringMatching(/^The instance was gone and has been made again/)] });
		expect(fs.readdirSync(path.join(owner.home, "morph")).sort()).toEqual(["known_hosts", `${next.instance}.key`]);
		double.stop(only().id);
		double.stuck = "error";
		await expect(host.start()).rejects.toMatchObject({ code: "START_FAILED", message: expect.stringMatching(/could not be started, and was removed/) });
		expect(double.instances.size).toBe(0);
		expect(double.calls.filter((call) => call.includes("/boot"))).toHaveLength(3);
	});
});
