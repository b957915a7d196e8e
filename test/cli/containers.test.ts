/** The command line and containers, with a real engine. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { listContainers } from "../../src/places/docker/index.js";
import { CLI, cli } from "../support/cli.js";
import { dockerBox, TASK } from "../support/docker-box.js";
import { BUSYBOX_IMAGE, noEngine } from "../support/dockerd.js";
import { until } from "../support/home.js";

const why = noEngine();
const AT_BOX = ["--task", TASK, "--place", "box"];

describe.skipIf(why)(`the command line and containers${why ? `: ${why}` : ""}`, () => {
	test("what a command that starts something finds changed there is said to people and to programs", async () => {
		const box = await dockerBox();
		await box.open();
		const start = (...args: string[]) => cli(box.home, [args[0] as string, ...AT_BOX, ...args.slice(1)]);
		const again = /container was gone and has been made again/;
		expect(await start("run", "--", "echo first")).toMatchObject({ code: 0, stdout: "first\n", stderr: "" });
		await box.container.remove({ force: true });
		expect(await start("run", "--", "echo second")).toMatchObject({ code: 0, stdout: "second\n", stderr: expect.stringMatching(again) });
		await box.container.remove({ force: true });
		const run = await start("run", "--json", "--", "echo third");
		expect(JSON.parse(run.stdout)).toMatchObject({ output: "third\n", notes: [expect.stringMatching(again)] });
		await box.container.remove({ force: true });
		const file = path.join(box.dir, "file");
		fs.writeFileSync(file, "x");
		const copied = JSON.parse((await start("cp", "--json", file, ":/tmp/copy")).stdout);
		expect(copied).toMatchObject({ copied: [{ path: "/tmp/copy" }], notes: expect.arrayContaining([expect.stringMatching(again)]) });
		await box.container.remove({ force: true });
		// Nothing was copied, but the container was made again.
		const failed = await start("cp", `:${box.dir}/none`, path.join(box.dir, "other"));
		expect(failed).toMatchObject({ code: 3, stderr: expect.stringMatching(again) });
		expect(await start("run", "--", "echo last")).toMatchObject({ code: 0, stderr: "" });
	});

	test("a short-lived container does not stop itself while calls that start nothing use it", async () => {
		const box = await dockerBox({ entry: { lifetime: 2, image: BUSYBOX_IMAGE } });
		const runtime = await box.open();
		await (await runtime.spawn({ command: "echo x >/root/file" })).wait();
		const started = async () => (await box.container.inspect()).State.StartedAt; // whoever finds it stopped starts it again
		const first = await started();
		const { files } = await runtime.place(TASK);
		const until = Date.now() + 10_000; // five times its time
		while (Date.now() < until) expect((await files.stat("/root/file"))?.kind).toBe("file");
		expect(await started()).toBe(first);
	});

	test("doctor removes the container that it made, and no other; also when it is interrupted", async () => {
		const box = await dockerBox();
		const mine = async () => (await listContainers({ home: box.home, engine: box.engine.address })).map(({ task }) => task);
		const doctor = await cli(box.home, ["doctor", "--json", ...AT_BOX]);
		const place = (JSON.parse(doctor.stdout) as { checks: { name: string; state: string }[] }).checks.find(({ name }) => name === "place");
		expect(place).toMatchObject({ state: "ok" });
		expect(await mine()).toEqual([]);
		await (await box.open()).terminal({ command: "true" });
		expect(await cli(box.home, ["doctor", ...AT_BOX])).toMatchObject({ stdout: expect.stringMatching(/ok +place +docker:/) });
		expect(await mine()).toEqual([TASK]);

		const slow = await dockerBox();
		const reached = path.join(slow.dir, "reached");
		fs.writeFileSync(path.join(slow.dir, "uname"), `#!/bin/sh\necho >${reached}\nexec sleep 1000\n`, { mode: 0o755 });
		const config = path.join(process.env.XDG_CONFIG_HOME as string, "holdfast", "config.json");
		const { places } = JSON.parse(fs.readFileSync(config, "utf8"));
		places.box.environment = { PATH: `${slow.dir}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin` };
		fs.writeFileSync(config, JSON.stringify({ places }));
		for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
			fs.rmSync(reached, { force: true });
			const child = spawn(process.execPath, [CLI, "doctor", ...AT_BOX], { env: { ...process.env, HOLDFAST_HOME: slow.home }, stdio: "ignore" });
			const ended = once(child, "exit");
			await until("it is at work in there", () => fs.existsSync(reached));
			child.kill(signal);
			expect(await ended, signal).toEqual([130, null]);
			expect(await listContainers({ home: slow.home, engine: slow.engine.address }), signal).toEqual([]);
		}
	});
});
