/** An image of a registry, with a real registry and a real Apptainer. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { noApptainer } from "../../support/apptainer.js";
import { BUSYBOX_IMAGE, noEngine, sharedEngine } from "../../support/dockerd.js";
import { atEnd, tempDir } from "../../support/home.js";
import { say } from "../../support/host-stream.js";
import { REGISTRY, testRegistry } from "../../support/registry.js";
import { testInstance } from "./support.js";

const why = noApptainer ?? noEngine() ?? (fs.existsSync(REGISTRY) ? undefined : "docker-registry is not installed");

describe.skipIf(why)(`an image for Apptainer${why ? `: ${why}` : ""}`, () => {
	it("is fetched once, by one of two programs, and used without the registry afterwards", async () => {
		const [registry, engine, scratch] = [await testRegistry(), await sharedEngine(), tempDir("scratch")];
		const image = `${registry}/holdfast/busybox`;
		await engine.docker.getImage(BUSYBOX_IMAGE).tag({ repo: image, tag: "latest" });
		atEnd(() => engine.docker.getImage(image).remove());
		await engine.docker.getImage(image).push();
		const lines: string[] = [];
		const progress = (line: string) => lines.push(line);
		const [one, two] = [
			await testInstance({ image, scratch, insecure: true }, { progress }),
			await testInstance({ image, scratch, insecure: true }, { progress }),
		];
		const notes = (await Promise.all([one.host.start(), two.host.start()])).flatMap((started) => started.notes);
		expect(notes).toEqual([expect.stringMatching(/^The image 127\.0\.0\.1:\d+\/holdfast\/busybox was fetched, to .*\.sif\.$/)]);
		expect(lines).toContain(`fetching ${image}`);
		expect(lines).toContain(`another program fetches ${image}`);
		const files = fs.readdirSync(path.join(scratch, "holdfast/images"));
		expect(files.filter((name) => name.endsWith(".sif"))).toHaveLength(1);
		expect(files.filter((name) => name.includes(".part"))).toEqual([]);
		expect((await say(one.host, "echo $PATH")).output).toContain("/usr/bin");
		const third = await testInstance({ image, scratch, insecure: true, pull: "never" });
		expect((await third.host.start()).notes).toEqual([]);
		const none = await testInstance({ image: `${registry}/holdfast/none`, scratch, insecure: true });
		await expect(none.host.start()).rejects.toMatchObject({
			code: "START_FAILED",
			message: expect.stringMatching(/there is no image \S+none, or this user may not have it \(.*unknown.*apptainer registry login/),
		});
		const secure = await testInstance({ image: `${registry}/holdfast/other`, scratch });
		await expect(secure.host.start()).rejects.toThrow(/does not speak TLS; set `insecure` to true/);
	});
});
