/** An image of a registry, with a real registry and a real Apptainer. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { noApptainer, sharedApptainer } from "../../support/apptainer.js";
import { BUSYBOX_IMAGE, noEngine, sharedEngine } from "../../support/dockerd.js";
import { atEnd, tempDir, until } from "../../support/home.js";
import { say } from "../../support/host-stream.js";
import { REGISTRY, testRegistry } from "../../support/registry.js";
import { testInstance } from "./support.js";

const why = noApptainer ?? noEngine() ?? (fs.existsSync(REGISTRY) ? undefined : "docker-registry is not installed");

describe.skipIf(noApptainer)(`an image that takes long to fetch${noApptainer ? `: ${noApptainer}` : ""}`, () => {
	it("is fetched on when the program that began it is killed, or a call gives up: the next one waits for it, and it is fetched once", async () => {
		const [real, bin, scratch, before] = [await sharedApptainer(), tempDir("bin"), tempDir("scratch"), process.env.PATH];
		const [pulls, go] = [path.join(scratch, "pulls"), path.join(scratch, "go")];
		// A double of `apptainer pull`, which takes as long as the test wants. Everything else is done by the real one.
		const double = `#!/bin/sh\n[ "$1" != pull ] || { echo "$4" >>${pulls}; until [ -e ${go} ]; do sleep 0.1; done; exec cp ${real.busybox} "$3"; }\nexec ${real.bin}/apptainer "$@"\n`;
		fs.writeFileSync(path.join(bin, "apptainer"), double, { mode: 0o755 });
		const lines: string[] = [];
		const { host, again, owner, options } = await testInstance({ image: "tools:1", scratch }, { progress: (line) => lines.push(line) });
		process.env.PATH = `${bin}:${before}`;
		const text = `import { apptainerHost } from ${JSON.stringify(path.resolve("dist/places/apptainer/host.js"))};
			await apptainerHost(${JSON.stringify(options)}, ${JSON.stringify(owner)}).start();`;
		const program = spawn(process.execPath, ["--input-type=module", "-e", text], { stdio: "inherit" });
		await until("it fetches", () => fs.existsSync(pulls));
		program.kill("SIGKILL");
		await once(program, "exit");
		const stop = new AbortController();
		const aborted = again({ progress: () => stop.abort() }).start(stop.signal);
		await expect(aborted).rejects.toMatchObject({ code: "ABORTED", message: "waiting for the image tools:1 was given up; it is fetched all the same" });
		const started = host.start();
		await until("it waits", () => lines.includes("another program fetches tools:1"));
		fs.writeFileSync(go, "");
		expect((await started).notes).toEqual([]); // the killed program's doing
		expect((await say(host, "cat /proc/1/comm")).output).toBe("appinit\n");
		expect(fs.readFileSync(pulls, "utf8")).toBe("docker://tools:1\n");
		expect(fs.readdirSync(path.join(scratch, "holdfast/images")).filter((name) => !/\.(sif|lock)$/.test(name))).toEqual([]);
		expect(fs.readdirSync(path.join(scratch, "holdfast/tmp"))).toEqual([]);
	});
});

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
		expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^fetching ${image}(: |$)`)));
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
