/** A place that is a container made by another program. */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { dockerHost } from "../../../src/places/docker/index.js";
import type { TestContainer } from "../../support/docker-client.js";
import { FULL_IMAGE, noEngine, sharedEngine } from "../../support/dockerd.js";
import { atEnd, tempDir } from "../../support/home.js";
import { openRuntime, type Runtime } from "../../support/internal.js";
import { run, testPlace } from "./support.js";

const why = noEngine();
const TASK = "a task";

async function foreign({ start = true, name = `somebodys-${randomBytes(4).toString("hex")}` } = {}): Promise<{ name: string; container: TestContainer }> {
	const { docker } = await sharedEngine();
	const container = await docker.createContainer({ name, Image: FULL_IMAGE, Cmd: ["sleep", "100000"], HostConfig: { NetworkMode: "none" } });
	atEnd(() => container.remove({ force: true, v: true }).catch((error) => (error.statusCode === 404 ? undefined : Promise.reject(error))));
	if (start) await container.start();
	return { name, container };
}

async function runtimeAt(place: string, home = tempDir("home")): Promise<Runtime> {
	const before = process.env.DOCKER_HOST;
	process.env.DOCKER_HOST = (await sharedEngine()).address;
	const runtime = await openRuntime({ home, task: TASK, warm: 0, place });
	atEnd(async () => {
		const { gone } = await runtime.endTask(TASK);
		await runtime.close();
		if (before === undefined) delete process.env.DOCKER_HOST;
		else process.env.DOCKER_HOST = before;
		expect(gone).toBe(true);
	});
	return runtime;
}

describe.skipIf(why)(`an existing container${why ? `: ${why}` : ""}`, () => {
	it("runs commands and background processes; the end of the task ends these, and leaves the container as it was", async () => {
		const { name, container } = await foreign();
		const before = await container.inspect();
		const runtime = await runtimeAt(`docker://container=${name}//home/agent`);
		const box = { id: before.Id.slice(0, 12), since: before.State.StartedAt };
		expect(await runtime.terminal({ command: "pwd; echo x >/kept; cd /tmp" })).toMatchObject({ status: "exited", output: "/home/agent\n", cwd: "/tmp", box });
		const started = await runtime.terminal({ command: "exec sleep 54321", background: true });
		expect(started).toMatchObject({ status: "running", box });
		const programs = async () => (await container.top({ ps_args: "-eo pid,args" })).Processes.map((fields) => fields.at(-1));
		expect(await programs()).toContain("sleep 54321");
		const { gone, sandboxes } = await runtime.endTask(TASK);
		expect({ gone, sandboxes }).toEqual({ gone: true, sandboxes: [] });
		expect(await programs()).not.toContain("sleep 54321");
		expect((await container.inspect()).State).toMatchObject({ Running: true, StartedAt: before.State.StartedAt });
	});

	it("is shared by tasks, each with its own shell, and files stay", async () => {
		const { name } = await foreign();
		const runtime = await runtimeAt(`docker://container=${name}`);
		await runtime.terminal({ command: "cd /tmp; echo here >file" });
		expect(await runtime.terminal({ command: "pwd; cat /tmp/file" }, { task: "another" })).toMatchObject({ output: "/root\nhere\n" });
		expect(await runtime.endTask("another")).toMatchObject({ gone: true, sandboxes: [] });
		expect(await runtime.terminal({ command: "pwd" })).toMatchObject({ output: "/tmp\n" });
	});

	it("is also a place as an object, of one call", async () => {
		const { name } = await foreign();
		const runtime = await runtimeAt("local");
		const place = { kind: "docker", container: name, user: "agent" } as const;
		expect(await runtime.terminal({ command: "id -un" }, { place })).toMatchObject({ output: "agent\n", box: { id: expect.any(String) } });
		const both = { ...place, image: FULL_IMAGE };
		const refused = await runtime.terminal({ command: "true" }, { place: both });
		expect(refused).toMatchObject({ status: "error", error: expect.stringContaining('so "image" cannot be set for it') });
	});

	it("that was replaced by another one is told, and the box in results is another", async () => {
		const { name, container } = await foreign();
		const runtime = await runtimeAt(`docker://container=${name}`);
		const first = await runtime.terminal({ command: "echo x >/file" });
		await container.remove({ force: true });
		const next = await foreign({ name });
		const second = await runtime.terminal({ command: "cat /file" });
		expect(second).toMatchObject({ exit_code: 1, note: expect.stringContaining("The container was gone and has been made again by another program") });
		expect(second.box).toEqual({ id: (await next.container.inspect()).Id.slice(0, 12), since: expect.any(String) });
		expect(second.box?.id).not.toBe(first.box?.id);
	});

	it("is used as the user that was asked for", async () => {
		const { name } = await foreign();
		const { address } = await sharedEngine();
		for (const [user, uid] of [
			["agent", "1000"],
			["1234:1235", "1234"],
			["host", "0"],
		] as const) {
			const host = dockerHost({ container: name, user, engine: address }, { home: tempDir("home"), task: TASK });
			const { dir } = await host.start();
			expect(await run(host, `id -u; stat -c %u:%a ${dir}`)).toMatchObject({ output: `${uid}\n${uid}:700\n` });
		}
	});

	it("that cannot be used is explained, and stays as it is", async () => {
		const { address: engine, docker } = await sharedEngine();
		const start = (container: string, more = {}) => dockerHost({ container, engine, ...more }, { home: tempDir("home"), task: TASK }).start();
		await expect(start("nobody-has-made-this")).rejects.toMatchObject({
			code: "START_FAILED",
			message: `the Docker engine (${engine}) has no container nobody-has-made-this; see docker ps -a`,
		});
		const { name, container } = await foreign({ start: false });
		await expect(start(name)).rejects.toThrow(
			`the container ${name} does not run (it was never started), and Holdfast does not start it; run: docker start ${name}`,
		);
		await container.start();
		await container.pause();
		await expect(start(name)).rejects.toThrow(`the container ${name} is paused; run: docker unpause ${name}`);
		expect((await container.inspect()).State.Status).toBe("paused");
		await docker.request("POST", `/containers/${name}/unpause`);
		await expect(start(name, { workdir: "/not/there" })).rejects.toMatchObject({ code: "NO_DIRECTORY" });
		const ours = await testPlace();
		await ours.host.start();
		await expect(start(ours.name)).rejects.toThrow(
			`the container ${ours.name} is Holdfast's own, of the task "${ours.owner.task}"; use that task in its place`,
		);
	});
});

describe.skipIf(why)(`a result of a container${why ? `: ${why}` : ""}`, () => {
	it("has the box that it is from, another one after it was made anew; a local one has none", async () => {
		const runtime = await runtimeAt(`docker://${FULL_IMAGE}`);
		const { docker } = await sharedEngine();
		const first = await runtime.terminal({ command: "true" });
		expect(first.box).toEqual({ id: expect.stringMatching(/^[0-9a-f]{12}$/), since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
		expect(await runtime.process({ action: "list" })).toMatchObject({ box: first.box });
		await docker.getContainer(first.box?.id as string).remove({ force: true });
		const second = await runtime.terminal({ command: "true" });
		expect(second.box?.id).not.toBe(first.box?.id);
		expect(await runtime.terminal({ command: "true" }, { place: "local" })).not.toHaveProperty("box");
	});
});
