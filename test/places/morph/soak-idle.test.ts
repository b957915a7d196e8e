/** An instance of MorphCloud that is used, and one that is not: what takes a part of the shortest time that the service may be given. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/docker-box.js";
import { atEnd, tempDir } from "../../support/home.js";
import { openRuntime } from "../../support/internal.js";
import { noMorph } from "../../support/morph-double.js";
import { testInstance } from "./support.js";

describe.skipIf(noMorph)(`an instance of Morph${noMorph ? `: ${noMorph}` : ""}`, () => {
	it("its time is renewed while a stream is open, and no longer", async () => {
		const { host, double } = await testInstance({ lifetime: 60 });
		await host.start();
		const renewals = () => double.calls.filter((call) => /\/ttl /.test(call)).length;
		const before = renewals();
		const stream = await host.open("cat");
		await eventually("it is renewed", async () => renewals() > before, 40_000);
		stream.close();
		await stream.ended;
		const after = renewals();
		await new Promise((resolve) => setTimeout(resolve, 20_000)); // one more would have come by now
		expect(renewals()).toBe(after);
	});

	it("is paused when its task was left and nothing runs in it; the next command wakes it, and its task's end stops it", async () => {
		const { double, only } = await testInstance({}, {}, "full");
		const home = tempDir("home");
		const runtime = await openRuntime({ home, warm: 0, task: "t", place: { kind: "morph", snapshot: "snapshot_1", lifetime: 60 } as never });
		atEnd(() => runtime.close());
		/** A minute ago. */
		const leave = async () => {
			await runtime.leaveTask("t");
			const places = path.join(home, "places");
			const then = new Date(Date.now() - 60_000);
			for (const name of fs.readdirSync(places)) if (name.endsWith(".used")) fs.utimesSync(path.join(places, name), then, then);
		};
		await runtime.terminal({ command: "echo kept >/root/file" });
		const { id } = only();
		await leave();
		await eventually("it is paused", async () => only().status === "paused", 110_000);
		expect(await runtime.terminal({ command: "cat /root/file" })).toMatchObject({
			output: "kept\n",
			note: expect.stringContaining("The instance had been paused; it goes on now, and nothing is lost."),
		});
		expect(only()).toMatchObject({ id, status: "ready" });
		await leave();
		await eventually("it is paused again", async () => only().status === "paused", 110_000);
		await runtime.endTask("t");
		expect(double.instances.size).toBe(0);
	}, 300_000);
});
