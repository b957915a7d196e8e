/** What becomes of an instance, with a real Apptainer: who makes it, who ends it, what is said, and what is left. */
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readProc } from "../../../src/base/proc.js";
import { list, remove } from "../../../src/places/apptainer/leftovers.js";
import { ProcessSnapshot } from "../../../src/process/tree.js";
import { noApptainer } from "../../support/apptainer.js";
import { tempDir } from "../../support/home.js";
import { expectWholeBytes, say } from "../../support/host-stream.js";
import { testInstance } from "./support.js";

const listed = (apptainer: (...args: readonly string[]) => string, name: string) =>
	(JSON.parse(apptainer("instance", "list", "--json", name)) as { instances: { pid: number }[] }).instances;

describe.skipIf(noApptainer)(`an instance of Apptainer${noApptainer ? `: ${noApptainer}` : ""}`, () => {
	it("two programs at once make one, and bytes, codes and a half-closed input go through", async () => {
		const { host, again, name, apptainer } = await testInstance();
		const [one, two] = await Promise.all([host.start(), again().start()]);
		expect(one.instance).toBe(two.instance);
		expect(listed(apptainer, name)).toHaveLength(1);
		await expectWholeBytes(host);
	});

	it("ends under a stream: that is why; its files are there when it is started again, and that is said", async () => {
		const { host, again, name, apptainer } = await testInstance();
		const { instance, box } = await host.start();
		await say(host, "echo kept >/etc/kept; echo tmp >/tmp/kept");
		const stream = await host.open("echo ready; cat");
		await once(stream.output, "data");
		const [{ pid }] = listed(apptainer, name) as [{ pid: number }];
		process.kill(pid, "SIGKILL"); // the machine is restarted, or somebody runs `apptainer instance stop`
		expect(await stream.ended).toBe("the Apptainer instance has ended");
		expect(await host.over?.()).toEqual({ why: "the Apptainer instance has ended", kept: true });
		const next = await again({ last: () => instance }).start();
		expect(next).toMatchObject({
			notes: ["The Apptainer instance had ended. It has been started again: its files are there, but what ran in it is gone."],
			box: { id: box?.id },
		});
		expect(next.instance).not.toBe(instance);
		await host.start();
		expect((await say(host, "cat /etc/kept /tmp/kept")).output).toBe("kept\ntmp\n");
	});

	it("its end removes everything, or with `keep` nothing; asked twice, the second has nothing to say", async () => {
		const { host, again, name, scratch, apptainer } = await testInstance({ keep: true });
		await host.start();
		const files = path.join(scratch, "holdfast", name);
		expect(await host.stop()).toEqual([expect.stringMatching(/was stopped; its files are kept in \//)]);
		expect(listed(apptainer, name)).toEqual([]);
		expect(fs.existsSync(path.join(files, "overlay"))).toBe(true);
		await host.start();
		expect(await again(undefined, { keep: false }).stop()).toEqual([expect.stringMatching(/was removed, with everything in it\.$/)]);
		expect(fs.readdirSync(path.join(scratch, "holdfast")).filter((one) => one.startsWith("holdfast-"))).toEqual([]);
		expect(await host.stop()).toEqual([]);
		expect(await host.over?.()).toEqual({ why: "the Apptainer instance that it ran in was removed", kept: false });
	});

	it("left by a program that was killed before it was on record: listed with its owner, and pruned when its home is gone", async () => {
		const { host, owner, scratch, name, apptainer } = await testInstance();
		const { box } = await host.start(); // and nobody remembers it
		const signal = AbortSignal.timeout(60_000);
		const item = { id: box?.id, task: "t", home: owner.home, state: "running", engine: scratch, orphan: false };
		expect(await list(scratch, signal)).toEqual([expect.objectContaining(item)]);
		fs.rmSync(owner.home, { recursive: true });
		expect(await list(scratch, signal)).toEqual([expect.objectContaining({ ...item, orphan: true })]);
		expect(await remove(box?.id as string, scratch)).toBe(true);
		expect(await list(scratch, signal)).toEqual([]);
		expect(listed(apptainer, name)).toEqual([]);
		expect(await remove(box?.id as string, scratch)).toBe(false);
	});

	it("has values with anything in them, in no argument; no variable of this program, and no bind that a variable asks for", async () => {
		const value = `it's "$HOME" \`id\`\ntwo \\`;
		const names = { APPTAINER_BIND: "/etc:/host-etc", APPTAINERENV_LEAK: "leak", SINGULARITY_BINDPATH: "/etc:/host-etc", OF_THIS_PROGRAM: "leak" };
		Object.assign(process.env, names);
		try {
			const { host } = await testInstance({ environment: { VALUE: value, TEST_ROOT: process.env.TEST_ROOT as string } });
			await host.start();
			const { output } = await say(host, 'printf %s "$VALUE"; echo; env; ls /host-etc');
			expect(output).toContain(`${value}\n`);
			expect(output).not.toContain("leak");
			expect(output).not.toContain("passwd");
			const seen = [...new ProcessSnapshot().stats.keys()].map((pid) => readProc(`/proc/${pid}/cmdline`) ?? "").filter((words) => words.includes("two \\"));
			expect(seen).toEqual([]);
		} finally {
			for (const name of Object.keys(names)) delete process.env[name];
		}
	});

	it("other settings than those it was made with are a conflict that names them", async () => {
		const { host, again } = await testInstance();
		await host.start();
		await expect(again(undefined, { fakeroot: true }).start()).rejects.toMatchObject({
			code: "CONFLICT",
			message: expect.stringMatching(/made with other settings \(fakeroot\).*holdfast sandboxes stop [0-9a-f]{12}/),
		});
	});

	it("what cannot be had is an error with what to do, and leaves nothing", async () => {
		const scratch = tempDir("scratch");
		const broken = path.join(scratch, "broken.sif");
		fs.writeFileSync(broken, "no image");
		const cases: [Parameters<typeof testInstance>[0], RegExp][] = [
			[{ image: "/no/such.sif" }, /there is no file \/no\/such\.sif on this machine; make it with: apptainer pull/],
			[{ image: broken }, /is not an image that Apptainer can use; make one with: apptainer build/],
			[{ image: "debian:12", pull: "never" }, /there is no image debian:12 in .*set pull to "missing", or name a SIF file/],
			[{ image: "127.0.0.1:1/no/such:1" }, /the registry of 127\.0\.0\.1:1\/no\/such:1 cannot be reached \(.*connection refused/],
			[{ memory: "100M" }, /Apptainer cannot limit memory here \(.*\); leave "memory" out/],
			[{ volumes: ["/no/such:/there"] }, /the volume \/no\/such cannot be used: there is no such directory here/],
		];
		for (const [more, words] of cases) {
			const { host } = await testInstance({ scratch, ...more });
			await expect(host.start()).rejects.toMatchObject({ message: expect.stringMatching(words) });
		}
		expect(fs.readdirSync(path.join(scratch, "holdfast")).filter((name) => name.startsWith("holdfast-"))).toEqual([]);
	});
});
