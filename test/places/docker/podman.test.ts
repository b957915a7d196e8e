/** Podman speaks the Docker API too, not always in the same way. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { isAlive, readProc } from "../../../src/base/proc.js";
import { listContainers } from "../../../src/places/docker/index.js";
import { ProcessSnapshot } from "../../../src/process/tree.js";
import { TestDocker } from "../../support/docker-client.js";
import { BUSYBOX_IMAGE, FULL_IMAGE, noEngine, type TestEngine, unmountUnder } from "../../support/dockerd.js";
import { atEnd, testRoot, until } from "../../support/home.js";
import { buildImages } from "../../support/images.js";
import { testPlace } from "./support.js";

const PODMAN = "/usr/bin/podman";
const why = noEngine() ?? (fs.existsSync(PODMAN) ? undefined : "podman is not installed");

async function podman(): Promise<TestEngine> {
	const dir = path.join(path.dirname(testRoot()), `podman-${process.pid}`);
	fs.mkdirSync(dir, { mode: 0o700 });
	const at = (name: string) => path.join(dir, name);
	const service = spawn(
		PODMAN,
		[
			...["--root", at("root"), "--runroot", at("runroot"), "--tmpdir", at("tmp"), "--runtime", "runc", "--cgroup-manager", "cgroupfs"],
			...["--events-backend", "file", "system", "service", "-t", "0", `unix://${at("podman.sock")}`],
		],
		{ stdio: "ignore", env: { PATH: process.env.PATH, HOME: dir } },
	);
	const docker = new TestDocker(at("podman.sock"));
	atEnd(async () => {
		for (const { Id } of await docker.listContainers()) await docker.getContainer(Id).remove({ force: true, v: true });
		service.kill();
		if (service.exitCode === null && service.signalCode === null) await once(service, "exit");
		// Of every command it leaves somebody behind, who would tell for five minutes how that ended.
		const left = [...new ProcessSnapshot().stats.values()].filter(({ pid }) => readProc(`/proc/${pid}/cmdline`)?.includes(`${dir}/`));
		for (const { pid } of left) process.kill(pid, "SIGKILL");
		await until("they are gone", () => !left.some(isAlive));
		await unmountUnder(dir);
		fs.rmSync(dir, { recursive: true, force: true });
	});
	const engine = { dir, address: `unix://${at("podman.sock")}`, docker };
	for (const deadline = Date.now() + 20_000; !(await docker.ping().catch(() => undefined)); await new Promise((resolve) => setTimeout(resolve, 25)))
		if (Date.now() > deadline) throw new Error("podman did not start");
	await buildImages(engine, { full: FULL_IMAGE, busybox: BUSYBOX_IMAGE });
	return engine;
}

describe.skipIf(why)(`a container of Podman${why ? `: ${why}` : ""}`, () => {
	it("is made, runs commands, is woken, started and made again, listed and removed", async () => {
		const engine = await podman();
		// Its own limits are higher than what an unprivileged box may set.
		const ulimits = ["--ulimit", "nofile=1024:4096", "--ulimit", "nproc=4096:4096"];
		const { host, container, run, name, owner, other } = await testPlace({ user: "agent", arguments: ulimits }, {}, engine);
		const [first, second] = await Promise.all([host.start(), other().start()]);
		expect(second.instance).toBe(first.instance);
		expect(first.notes.filter((note) => !note.includes("no init for containers"))).toEqual([]);
		expect(await run(`cat; id -u; stat -c %u:%a ${first.dir}; grep NoNewPrivs /proc/self/status; echo x >&2; exit 3`)).toEqual({
			output: "1000\n1000:700\nNoNewPrivs:\t1\n",
			ended: "the command in the container ended with exit code 3; it said: x",
		});
		expect(await listContainers({ engine: engine.address })).toEqual([expect.objectContaining({ name, ...owner, state: "running", orphan: false })]);

		const stream = await host.open("while read -r line; do echo $line; done");
		stream.input.write("hello\n");
		expect(String((await once(stream.output, "data"))[0])).toBe("hello\n");
		await container.pause();
		expect((await host.start()).notes).toEqual(["The container had been paused; it goes on now, and nothing is lost."]);
		stream.input.write("again\n");
		expect(String((await once(stream.output, "data"))[0])).toBe("again\n");
		stream.close();

		await container.stop({ t: 100 });
		expect((await host.start()).notes).toEqual([expect.stringContaining("The container had been stopped. It has been started again")]);
		await container.remove({ force: true });
		expect((await host.start()).notes).toContainEqual(expect.stringContaining("The container was gone and has been made again"));
		expect(await host.stop()).toEqual([expect.stringContaining("was removed, with everything in it.")]);
		expect(await host.stop()).toEqual([]);
	});
});
