/** Tasks in other places, through a whole runtime: where they start, what host paths become there, and their end. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { listContainers } from "../../src/places/docker/index.js";
import { FULL_IMAGE, noEngine, sharedEngine } from "../support/dockerd.js";
import { atEnd, tempDir, testRuntime } from "../support/home.js";
import { noSshd, startSshd } from "../support/sshd.js";

/** A runtime with a config.json that has these places. */
async function runtimeWith(places: Record<string, object>, place: string) {
	const config = tempDir("config");
	fs.mkdirSync(path.join(config, "holdfast"));
	fs.writeFileSync(path.join(config, "holdfast", "config.json"), JSON.stringify({ places }));
	const before = process.env.XDG_CONFIG_HOME;
	process.env.XDG_CONFIG_HOME = config;
	atEnd(() => {
		if (before === undefined) delete process.env.XDG_CONFIG_HOME;
		else process.env.XDG_CONFIG_HOME = before;
	});
	return testRuntime({ place });
}

const noDocker = noEngine();

describe.skipIf(noDocker)(`in a container${noDocker ? `: ${noDocker}` : ""}`, () => {
	const boxed = async (more: object = {}) => {
		const { address: engine } = await sharedEngine();
		const runtime = await runtimeWith({ box: { type: "docker", image: FULL_IMAGE, engine, ...more } }, "box");
		const there = () => listContainers({ home: runtime.home.root, engine });
		atEnd(async () => {
			for (const { task } of await there()) await runtime.endTask(task);
		});
		return { runtime, there };
	};

	test("a path of this machine gives way to the shell's directory, with a note; others are looked for there", async () => {
		const { runtime } = await boxed();
		const run = (workdir?: string, more: object = {}) => runtime.terminal({ command: "pwd", ...(workdir === undefined ? {} : { workdir }), ...more });
		expect(await run()).toMatchObject({ output: "/root\n", exit_code: 0 });
		expect(await run(process.cwd())).toMatchObject({
			output: "/root\n",
			note: expect.stringContaining(`does not exist on docker://${FULL_IMAGE}, so /root was used`),
		});
		expect(await run("C:\\Users\\me")).toMatchObject({ output: "/root\n", note: expect.stringContaining("Windows") });
		expect(await run("/nowhere")).toMatchObject({ status: "error", error: expect.stringMatching(/\/nowhere does not exist on docker:.*nothing ran/) });
		expect(await run("..")).toMatchObject({ output: "/\n" });
		expect(await run("/Users/me/project", { background: true, command: "sleep 300" })).toMatchObject({ note: expect.stringContaining("macOS") });
		expect(await run("/nowhere", { background: true })).toMatchObject({ status: "error" });
	});

	test("the end of a task: its processes are killed there, its container is removed, another task's is not", async () => {
		const { runtime, there } = await boxed();
		const { session_id } = await runtime.terminal({ command: "sleep 300", background: true }, { task: "one" });
		await runtime.terminal({ command: "true" }, { task: "two" });
		const report = await runtime.endTask("one");
		expect(report).toMatchObject({
			gone: true,
			processes: [{ session_id, command: "sleep 300", place: `docker://${FULL_IMAGE}`, status: "killed" }],
			sandboxes: [{ kind: "docker" }],
		});
		expect((await there()).map(({ task }) => task)).toEqual(["two"]);
		expect(await runtime.endTask("one")).toMatchObject({ gone: true, processes: [], shells: 0, sandboxes: [] });
		expect(await runtime.terminal({ command: "echo anew" }, { task: "one" })).toMatchObject({ output: "anew\n" });
	});
});

describe.skipIf(noSshd)(`over ssh${noSshd ? `: ${noSshd}` : ""}`, () => {
	test("a shell starts in the home there, or where the entry says; the end of a task ends what it started, and nothing else", async () => {
		const sshd = await startSshd();
		const dir = tempDir("there");
		const runtime = await runtimeWith({ plain: { type: "ssh", ...sshd.options }, dir: { type: "ssh", ...sshd.options, dir } }, "plain");
		expect(await runtime.terminal({ command: "pwd" })).toMatchObject({ output: `${sshd.home}\n` });
		expect(await runtime.terminal({ command: "pwd" }, { task: "other", place: "dir" })).toMatchObject({ output: `${dir}\n` });
		expect(await runtime.terminal({ command: "pwd", workdir: "/Users/me" })).toMatchObject({
			output: `${sshd.home}\n`,
			note: expect.stringContaining("macOS"),
		});
		const mine = await runtime.terminal({ command: "sleep 300", background: true });
		const others = await runtime.terminal({ command: "sleep 300", background: true }, { task: "other" });
		expect(await runtime.endTask("default")).toMatchObject({ gone: true, processes: [{ session_id: mine.session_id, status: "killed" }], sandboxes: [] });
		expect(await runtime.process({ action: "poll", session_id: others.session_id }, { task: "other" })).toMatchObject({ status: "running" });
		await runtime.endTask("other");
	});

	test("a machine that cannot be reached is an error, and nothing runs here instead", async () => {
		const sshd = await startSshd();
		await sshd.stop();
		const ran = path.join(tempDir("ran"), "ran");
		const runtime = await runtimeWith({ gone: { type: "ssh", ...sshd.options } }, "gone");
		expect(await runtime.terminal({ command: `touch ${ran}` })).toMatchObject({ status: "error", exit_code: null, error: expect.stringMatching(/\w/) });
		await expect(runtime.spawn({ command: `touch ${ran}` })).rejects.toMatchObject({ code: expect.stringMatching(/\w/) });
		expect(fs.existsSync(ran)).toBe(false);
	});
});
