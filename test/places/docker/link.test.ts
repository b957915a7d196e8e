import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { BOOT, Link } from "../../../src/places/link/link.js";
import { BUSYBOX_IMAGE, FULL_IMAGE, noEngine } from "../../support/dockerd.js";
import { atEnd } from "../../support/home.js";
import { testPlace } from "./support.js";

const why = noEngine();

describe.skipIf(why)(`a link into a container${why ? `: ${why}` : ""}`, () => {
	// With perl and without; both at once, since most of it is waiting.
	it("reads, writes and runs in the container, counts as a sign of life, and leaves nothing", async () => {
		const reads = async (image: string) => {
			const { host, container } = await testPlace({ image, user: "agent", lifetime: 8 });
			const { dir = "", instance } = await host.start();
			const stream = await host.open(BOOT);
			const link = await Link.open(stream, { dir, name: "box", perl: image === FULL_IMAGE });
			atEnd(() => link.close());
			expect(link.facts).toMatchObject({ uid: 1000, dir: `${dir}/box`, helper: image === FULL_IMAGE ? "perl" : "sh" });
			const bytes = randomBytes(1_000_000);
			await link.write("/home/agent/file", 0, bytes);
			expect((await link.read("/home/agent/file", 0, bytes.length)).bytes.equals(bytes)).toBe(true);
			expect(await link.run("echo on")).toMatchObject({ status: 0, output: Buffer.from("on\n") });
			// Longer than its lifetime: it is what the link says that keeps it.
			for (let second = 0; second < 11; second++) await Promise.all([link.ping(), link.run("sleep 1")]);
			expect(await host.start()).toMatchObject({ instance, notes: [] });
			link.close();
			await stream.ended;
			const left = async () => ((await container.top({ ps_args: "-eo pid,args" })).Processes as string[][]).map((fields) => fields.at(-1) ?? "");
			for (const deadline = Date.now() + 10_000; (await left()).length > 3; await new Promise((resolve) => setTimeout(resolve, 20)))
				if (Date.now() > deadline) expect(await left()).toEqual(["the init, the switch and its sleep"]);
		};
		await Promise.all([FULL_IMAGE, BUSYBOX_IMAGE].map(reads));
	});
});
