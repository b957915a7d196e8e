/** The lifecycle of containers, with a real engine: described, idle, ended with their task, listed, pruned. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { openHome } from "../../src/base/home.js";
import type { PlaceWish } from "../../src/places/address.js";
import { describePlace } from "../../src/places/describe.js";
import { listContainers } from "../../src/places/docker/index.js";
import { hostOf } from "../../src/places/hosts.js";
import { Lifetimes } from "../../src/places/lifetimes.js";
import { rememberPlace } from "../../src/places/remember.js";
import type { RemoteMachine } from "../../src/places/remote/machine.js";
import { cli } from "../support/cli.js";
import { dockerBox, eventually, TASK } from "../support/docker-box.js";
import { BUSYBOX_IMAGE, FULL_IMAGE, noEngine, sharedEngine } from "../support/dockerd.js";
import { atEnd, tempDir, until } from "../support/home.js";

const why = noEngine();

/** A home, and a container of a task of it. */
async function container(task: string, image = FULL_IMAGE) {
	const { address: engine } = await sharedEngine();
	const home = openHome(tempDir("home"));
	const wish: PlaceWish = { kind: "docker", name: `docker://${image}`, options: { image, engine } };
	const host = await hostOf(wish, { task }, home);
	atEnd(() => host.stop());
	return { engine, home, wish, host, there: () => listContainers({ home: home.root, engine }) };
}

describe.skipIf(why)(`containers${why ? `: ${why}` : ""}`, () => {
	test("what is in one is described, and what is missing", async () => {
		const full = await container("full");
		expect(await describePlace(full.host)).toMatchObject({ system: expect.stringContaining("Linux"), tools: expect.arrayContaining(["bash", "perl", "dd"]) });
		const poor = await container("poor", BUSYBOX_IMAGE);
		expect(await describePlace(poor.host)).toMatchObject({ cwd: "/root", missing: expect.arrayContaining(["bash", "script", "python3", "perl"]) });
		await expect(describePlace((await container("none", "holdfast/never-made:1")).host)).rejects.toThrow(/never-made/);
	});

	test("an unused container is removed by the runtime that used it and left its task", async () => {
		const { home, wish, host, there } = await container("idle");
		const key = rememberPlace(home, wish, "idle");
		const lifetimes = new Lifetimes(home);
		atEnd(() => lifetimes.close());
		let stopped = () => {};
		const gone = new Promise<void>((resolve) => (stopped = resolve));
		const leave = await lifetimes.use({ key, seconds: 0.5, busy: () => false, stop: () => host.stop().finally(stopped) });
		await host.start();
		expect(await there()).toMatchObject([{ task: "idle", state: "running", orphan: false }]);
		leave();
		lifetimes.leave(key);
		await gone;
		expect(await there()).toEqual([]);
	});

	test("one is ended neither under a call that takes longer than its time, nor while its task is open; once that was left it is", async () => {
		const box = await dockerBox({ entry: { image: BUSYBOX_IMAGE, lifetime: 2 } });
		const runtime = await box.open();
		const there = runtime.machine(TASK) as RemoteMachine;
		expect(await there.reach.run("sleep 3; echo done")).toMatchObject({ status: 0, output: Buffer.from("done\n") });
		const mark = path.join(box.home, "places", `${there.key}.used`);
		const left = fs.statSync(mark).mtimeMs;
		await until("its task was open for longer than its time", () => fs.statSync(mark).mtimeMs - left > 3_000);
		expect(await box.state()).toMatchObject({ status: "running" });
		await runtime.leaveTask(TASK);
		await eventually("it is unused, and removed", async () => (await box.state()) === undefined);
	});

	test("one that takes longer to make than a call may last: nothing ran, the answer says what to do, and the next call finds it made", async () => {
		const box = await dockerBox();
		const runtime = await box.open();
		const marker = path.join(box.dir, "ran");
		expect(await runtime.terminal({ command: `touch ${marker}` }, { within: 10 })).toMatchObject({
			status: "error",
			error: expect.stringMatching(/nothing ran.*docker:.*still starting.*again/),
		});
		const call = { command: "hostname", timeout: 1 };
		const first = await runtime.terminal(call);
		expect(first).toMatchObject({ status: "exited", exit_code: 0 });
		expect(await runtime.terminal(call)).toMatchObject({ output: first.output });
		expect(fs.existsSync(marker)).toBe(false);
	});

	test("holdfast end removes the task's container, once, and says so; another task's stays", async () => {
		const { engine, home, wish, host, there } = await container("one");
		const other = await hostOf(wish, { task: "two" }, home);
		atEnd(() => other.stop());
		for (const [task, made] of [["one", host] as const, ["two", other] as const]) {
			const key = rememberPlace(home, wish, task);
			await new Lifetimes(home).touch(key);
			await made.start();
		}
		const end = async () => JSON.parse((await cli(home.root, ["end", "one", "--json"])).stdout);
		expect(await end()).toMatchObject({
			gone: true,
			sandboxes: [{ kind: "docker", id: expect.stringMatching(/^docker-/) }],
			notes: [expect.stringContaining("was removed, with everything in it")],
		});
		expect(await there()).toMatchObject([{ task: "two", state: "running" }]);
		expect(await end()).toMatchObject({ gone: true, sandboxes: [], notes: [] });
		expect(engine).toContain("docker.sock");
	});

	test("holdfast sandboxes: those of every home; stop; orphans are those whose home is gone, and those that have ended", async () => {
		const [mine, lost, over] = [await container("mine"), await container("lost"), await container("over")];
		const env = { DOCKER_HOST: mine.engine };
		for (const { host } of [mine, lost, over]) await host.start();
		fs.rmSync(lost.home.root, { recursive: true });
		const { docker } = await sharedEngine();
		await docker.getContainer((await over.there())[0]?.id ?? "").kill();
		const homes = [mine.home.root, lost.home.root, over.home.root];
		const list = async (...words: string[]) => {
			const { stdout } = await cli(mine.home.root, ["sandboxes", ...words, "--json"], { env });
			const { sandboxes } = JSON.parse(stdout) as { sandboxes: { id: string; task: string; home: string; state: string; orphan: boolean }[] };
			return sandboxes
				.filter(({ home }) => homes.includes(home))
				.map(({ task, state, orphan }) => `${task} ${state}${orphan ? " orphan" : ""}`)
				.sort();
		};
		expect(await list()).toEqual(["lost running orphan", "mine running", "over exited orphan"]);
		expect(await list("--orphans")).toEqual(["lost running orphan", "over exited orphan"]);
		expect((await cli(mine.home.root, ["sandboxes"], { env })).stdout).toMatch(/docker +mine +running +- /);
		expect(await cli(mine.home.root, ["sandboxes", "prune"], { env })).toMatchObject({ code: 0, stdout: expect.stringMatching(/of task lost was removed/) });
		expect(await list()).toEqual(["mine running"]);
		const id = (await mine.there())[0]?.id.slice(0, 8) ?? "";
		expect(await cli(mine.home.root, ["sandboxes", "stop", id], { env })).toMatchObject({
			code: 0,
			stdout: expect.stringContaining("of task mine was removed"),
		});
		expect(await list()).toEqual([]);
		expect(await cli(mine.home.root, ["sandboxes", "stop", id], { env })).toMatchObject({ code: 3 });
	});

	test("holdfast sandboxes asks every engine that is configured or was used, each once, and says which did not answer; it says nothing of an engine that was not asked for", async () => {
		const { engine, home, host } = await container("named");
		await host.start();
		const config = tempDir("config");
		const configure = (places: object) => {
			fs.mkdirSync(path.join(config, "holdfast"), { recursive: true });
			fs.writeFileSync(path.join(config, "holdfast", "config.json"), JSON.stringify({ places }));
		};
		// Docker Desktop's socket in the home of the user is where the usual engine is looked for: nothing listens there.
		const desktop = path.join(config, ".docker/run");
		fs.mkdirSync(desktop, { recursive: true });
		fs.writeFileSync(path.join(desktop, "docker.sock"), "");
		const env = { XDG_CONFIG_HOME: config, HOME: config, DOCKER_HOST: "" };
		const list = async (root: string, given: NodeJS.ProcessEnv = env) => {
			const { stdout } = await cli(root, ["sandboxes", "--json"], { env: given });
			const { sandboxes, notes } = JSON.parse(stdout) as { sandboxes: { task: string; home: string; engine?: string }[]; notes: string[] };
			return { mine: sandboxes.filter((one) => one.home === home.root).map((one) => [one.task, one.engine]), notes };
		};
		const other = tempDir("home"); // one that has never used any place: only the configuration knows the engine
		const docker = { type: "docker", image: FULL_IMAGE };
		configure({ one: { ...docker, engine }, two: { ...docker, engine } });
		expect(await list(other)).toEqual({ mine: [["named", engine]], notes: [] });
		const away = `unix://${path.join(config, "away.sock")}`;
		configure({ one: { ...docker, engine }, a: { ...docker, engine: away }, b: { ...docker, engine: away }, bad: { ...docker, engine: 5 } });
		expect(await list(other)).toEqual({
			mine: [["named", engine]],
			notes: [
				expect.stringMatching(/^The engine of bad cannot be asked for containers: `engine` of places\.bad in config\.json is text/),
				expect.stringMatching(
					/^Containers of unix:\S+away\.sock \(the engine of a, b\) could not be listed: .* does not exist.*give the place another `engine`/,
				),
			],
		});
		configure({ one: { ...docker, engine }, usual: docker });
		expect(await list(other)).toEqual({ mine: [["named", engine]], notes: [expect.stringMatching(/\(the engine of usual\) could not be listed/)] });
		expect(await list(other, { ...env, DOCKER_HOST: engine })).toEqual({ mine: [["named", undefined]], notes: [] });
		configure({});
		expect(await list(other)).toMatchObject({ mine: [], notes: [expect.stringMatching(/^Containers could not be listed: .*not running.*set DOCKER_HOST/)] });
		fs.writeFileSync(path.join(config, "holdfast", "config.json"), "{");
		expect(await list(other)).toMatchObject({ notes: [expect.stringMatching(/^Engines that config\.json names are not known: .*not JSON/)] });
	});

	test("no engine: what there is is still listed, and a note says what could not be; doctor --place says whether one can be used", async () => {
		const { address: engine } = await sharedEngine();
		const home = tempDir("home");
		const none = { DOCKER_HOST: `unix://${path.join(home, "nobody.sock")}` };
		const list = await cli(home, ["sandboxes", "--json"], { env: none });
		expect(list).toMatchObject({ code: 0 });
		expect(JSON.parse(list.stdout)).toMatchObject({
			sandboxes: [],
			notes: [expect.stringMatching(/^Containers of \S*nobody\.sock \(the engine of DOCKER_HOST\) could not be listed: .*nobody\.sock/)],
		});
		const doctor = async (env: NodeJS.ProcessEnv) => {
			const { stdout } = await cli(home, ["doctor", "--json", "--task", "doctor", "--place", `docker://${FULL_IMAGE}`], { env });
			return (JSON.parse(stdout) as { checks: { name: string }[] }).checks.find(({ name }) => name === "place");
		};
		expect(await doctor(none)).toMatchObject({ state: "fail", found: expect.stringContaining("cannot be used") });
		expect(await doctor({ DOCKER_HOST: engine })).toMatchObject({ state: "ok", found: expect.stringMatching(/^docker:\/\/holdfast\/full:1: Linux/) });
		for (const { id } of await listContainers({ home, engine })) await cli(home, ["sandboxes", "stop", id.slice(0, 12)], { env: { DOCKER_HOST: engine } });
		expect(await listContainers({ home, engine })).toEqual([]);
	});
});
