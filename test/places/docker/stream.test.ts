import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { buffer, text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { Demultiplexer } from "../../../src/places/docker/frames.js";
import { BUSYBOX_IMAGE, FULL_IMAGE, noEngine } from "../../support/dockerd.js";
import { testPlace } from "./support.js";

const why = noEngine();

/** What the engine says runs in a container. */
async function programs({ container }: Awaited<ReturnType<typeof testPlace>>): Promise<string[]> {
	const { Processes } = await container.top({ ps_args: "-eo pid,args" });
	return Processes.map((fields: string[]) => fields.at(-1) ?? "");
}

async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
	const deadline = Date.now() + 15_000;
	while (!(await holds())) {
		if (Date.now() > deadline) throw new Error(`did not happen: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}

describe.skipIf(why)(`a stream to a command in a container${why ? `: ${why}` : ""}`, () => {
	for (const image of [FULL_IMAGE, BUSYBOX_IMAGE])
		it(`carries any bytes both ways in ${image}, and the end of input`, async () => {
			const { host } = await testPlace({ image });
			await host.start();
			const bytes = randomBytes(5_000_000);
			const stream = await host.open("cat; echo x >&2; exit 3");
			const back = buffer(stream.output);
			for (let at = 0; at < bytes.length; at += 100_000) if (!stream.input.write(bytes.subarray(at, at + 100_000))) await once(stream.input, "drain");
			stream.input.end();
			expect(
				createHash("sha256")
					.update(await back)
					.digest("hex"),
			).toBe(createHash("sha256").update(bytes).digest("hex"));
			expect(await stream.ended).toBe("the command in the container ended with exit code 3; it said: x");
		});

	it("waits for a reader, and for a command that does not read", async () => {
		const { host } = await testPlace();
		await host.start();
		const loud = await host.open("yes");
		await once(loud.output, "readable");
		loud.output.read(10);
		// Whoever does not read has at most a buffer or two of it here.
		for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
		expect(loud.output.readableLength).toBeLessThan(1_000_000);
		loud.close();
		const deaf = await host.open("exec sleep 1000");
		let written = 0;
		while (deaf.input.write(Buffer.alloc(65_536)) && written < 1000) written++;
		expect(written).toBeLessThan(1000);
		deaf.close();
		expect(await deaf.ended).toBe("it was closed from here");
	});

	it("that is closed ends the command that reads from it, and leaves no exec behind", async () => {
		const place = await testPlace();
		await place.host.start();
		const streams = await Promise.all([1, 2, 3].map(() => place.host.open("while read -r line; do echo $line; done; exit 0")));
		for (const stream of streams) {
			stream.input.write("hello\n");
			expect(String((await once(stream.output, "data"))[0])).toBe("hello\n");
		}
		for (const stream of streams) stream.close();
		expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual(Array(3).fill("it was closed from here"));
		await eventually("the commands are gone", async () => !(await programs(place)).some((args) => args.includes("read -r line; do echo")));
		await eventually("no exec is left", async () => ((await place.container.inspect()) as { ExecIDs?: string[] | null }).ExecIDs == null);
	});

	it("says that the container was removed, stopped or killed under it", async () => {
		const { host, container } = await testPlace();
		await host.start();
		const stopped = await host.open("echo on; exec sleep 1000");
		await once(stopped.output, "data");
		await container.stop({ t: 100 });
		expect(await stopped.ended).toBe("the container had been stopped");
		await host.start();
		const removed = await host.open("echo on; exec sleep 1000");
		await once(removed.output, "data");
		await container.remove({ force: true });
		expect(await removed.ended).toMatch(/^the container (was removed|is being removed|had been killed)$/); // whichever of them is true at that moment
		expect(await text(removed.output)).toBe("");
	});

	it("keeps of what is said on stderr the end", async () => {
		const { run, host } = await testPlace();
		await host.start();
		const { ended } = await run("seq 1 100000 >&2; exit 1");
		expect(ended).toMatch(/^the command in the container ended with exit code 1; it said: …[\d\s]*99999\n100000$/);
		expect(ended.length).toBeLessThan(4300);
	});

	it("keeps this program alive only as long as it is to", async () => {
		const { host } = await testPlace();
		await host.start();
		const sockets = () => process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length;
		const before = sockets();
		const stream = await host.open("cat");
		expect(sockets()).toBe(before + 1);
		stream.hold?.(false);
		expect(sockets()).toBe(before);
		stream.hold?.(true);
		expect(sockets()).toBe(before + 1);
		stream.input.end("here");
		expect(await text(stream.output)).toBe("here");
	});

	it("is not opened when that was given up, and only after a start", async () => {
		const { host } = await testPlace();
		await expect(host.open("true")).rejects.toThrow("before the container was started");
		await expect(host.start(AbortSignal.abort())).rejects.toMatchObject({ code: "ABORTED" });
		await host.start();
		await expect(host.open("true", AbortSignal.abort())).rejects.toMatchObject({ code: "ABORTED" });
		const controller = new AbortController();
		const stream = await host.open("cat", controller.signal);
		controller.abort(); // too late: it is open
		stream.input.end("still here");
		expect(await text(stream.output)).toBe("still here");
	});
});

describe("frames of the engine", () => {
	const frame = (kind: number, text: string) => {
		const header = Buffer.alloc(8);
		header[0] = kind;
		header.writeUInt32BE(text.length, 4);
		return Buffer.concat([header, Buffer.from(text)]);
	};

	it("are taken apart wherever they are cut", () => {
		const all = Buffer.concat([frame(1, "out"), frame(2, "err"), frame(1, ""), frame(1, "more")]);
		for (let size = 1; size <= all.length; size++) {
			const parts = { stdout: "", stderr: "" };
			const into = (name: "stdout" | "stderr") => (bytes: Buffer) => {
				parts[name] += bytes;
			};
			const frames = new Demultiplexer({ stdout: into("stdout"), stderr: into("stderr") });
			for (let at = 0; at < all.length; at += size) expect(frames.take(all.subarray(at, at + size))).toBe(true);
			expect(parts).toEqual({ stdout: "outmore", stderr: "err" });
		}
	});

	it("are known from what is none", () => {
		expect(new Demultiplexer({ stdout: () => {}, stderr: () => {} }).take(Buffer.from("HTTP/1.1 500"))).toBe(false);
	});
});
