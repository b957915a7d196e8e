import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { DockerOptions } from "../../../src/places/docker/index.js";
import { FULL_IMAGE, noEngine, sharedEngine } from "../../support/dockerd.js";
import { atEnd, tempDir } from "../../support/home.js";
import { REGISTRY, testRegistry } from "../../support/registry.js";
import { testPlace } from "./support.js";

const why = noEngine();
describe.skipIf(why)(`the image of a container${why ? `: ${why}` : ""}`, () => {
	it("is not fetched unless that is asked for", async () => {
		const { host, engine, container } = await testPlace({ image: "127.0.0.1:1/nobody/has-this" });
		await expect(host.start()).rejects.toMatchObject({
			code: "START_FAILED",
			message: `the Docker engine (${engine.address}) has no image 127.0.0.1:1/nobody/has-this, and it is not fetched unless that is asked for; run: docker pull 127.0.0.1:1/nobody/has-this (or set pull to "missing"), or choose another image`,
		});
		await expect(container.inspect()).rejects.toMatchObject({ statusCode: 404 });
	});

	it("that cannot be fetched is an error in words", async () => {
		const { host } = await testPlace({ image: "127.0.0.1:1/nobody/has-this:2", pull: "missing" });
		await expect(host.start()).rejects.toThrow(/^fetching the image 127\.0\.0\.1:1\/nobody\/has-this:2: .*connection refused/);
	});

	it.skipIf(!fs.existsSync(REGISTRY))("is fetched when that is asked for, and one sees how far it is (needs the package docker-registry)", async () => {
		const registry = await testRegistry();
		const engine = await sharedEngine();
		const image = `${registry}/holdfast/full`;
		await engine.docker.getImage(FULL_IMAGE).tag({ repo: image, tag: "latest" });
		await engine.docker.getImage(image).push();
		await engine.docker.getImage(image).remove();
		const lines: string[] = [];
		const { host, run } = await testPlace({ image, pull: "missing" }, { progress: (line) => lines.push(line) });
		atEnd(async () => {
			await host.stop();
			await engine.docker.getImage(image).remove();
		});
		expect((await host.start()).notes).toEqual([`The image ${image} was fetched.`]);
		expect(lines.join("\n")).toContain("Pulling from holdfast/full");
		expect(await run("echo here")).toMatchObject({ output: "here\n" });
		const unknown = await testPlace({ image: `${registry}/holdfast/none`, pull: "missing" });
		await expect(unknown.host.start()).rejects.toThrow(/^fetching the image .*holdfast\/none: .*(manifest unknown|not found)/);
	});

	it("without a shell cannot be used, and nothing is left", async () => {
		const engine = await sharedEngine();
		const archive = path.join(tempDir("image"), "empty.tar");
		fs.writeFileSync(archive, Buffer.alloc(10_240));
		await engine.docker.importImage(archive, { repo: "holdfast/empty", tag: "1" });
		atEnd(() => engine.docker.getImage("holdfast/empty:1").remove());
		const { host, container } = await testPlace({ image: "holdfast/empty:1" });
		await expect(host.start()).rejects.toThrow("the image holdfast/empty:1 has no sh, and without one nothing can be run in it; choose another image");
		await expect(container.inspect()).rejects.toMatchObject({ statusCode: 404 });
	});

	it("with a shell that does not run cannot be used, and the error has the last line that the container said", async () => {
		const engine = await sharedEngine();
		const dir = tempDir("image");
		fs.mkdirSync(path.join(dir, "bin"));
		fs.symlinkSync("sh", path.join(dir, "bin", "sh")); // leads to itself
		execFileSync("tar", ["-C", dir, "-cf", path.join(dir, "image.tar"), "bin"]);
		await engine.docker.importImage(path.join(dir, "image.tar"), { repo: "holdfast/loop", changes: "ENV PATH=/bin" });
		atEnd(() => engine.docker.getImage("holdfast/loop").remove());
		const { host, container } = await testPlace({ image: "holdfast/loop" });
		await expect(host.start()).rejects.toThrow(/Too many levels of symbolic links|too many levels of symbolic links/);
		await expect(container.inspect()).rejects.toMatchObject({ statusCode: 404 });
	});

	it("is not to blame for a device, a user or a capability that there is not", async () => {
		const cases: readonly (readonly [DockerOptions, RegExp])[] = [
			[{ arguments: ["--device", "/dev/no-such-thing"] }, /the container cannot be made: .*no-such-thing.*; see also the extra arguments/],
			[{ user: "nobody-by-this-name" }, /the container cannot be made: .*nobody-by-this-name/],
			[{ arguments: ["--cap-add", "FLY"] }, /the container cannot be made: .*FLY/],
			[{ arguments: ["--runtime", "none"] }, /the container cannot be made: .*none/],
		];
		for (const [options, words] of cases) {
			const { host, container } = await testPlace(options);
			await expect(host.start()).rejects.toThrow(words);
			await expect(container.inspect()).rejects.toMatchObject({ statusCode: 404 });
		}
	});
});
