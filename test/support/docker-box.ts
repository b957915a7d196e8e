/** A container with a home here that knows it: for tests of what becomes of one. */
import fs from "node:fs";
import path from "node:path";
import { containerName } from "../../src/places/docker/body.js";
import type { TestContainer } from "./docker-client.js";
import { FULL_IMAGE, sharedEngine, type TestEngine } from "./dockerd.js";
import { atEnd, tempDir } from "./home.js";
import type { Runtime } from "./internal.js";
import { openOnBox, TASK } from "./on-box.js";

export { TASK } from "./on-box.js";

export interface DockerBox {
	readonly engine: TestEngine;
	readonly home: string;
	/** An empty directory, which is at the same path in there. */
	readonly dir: string;
	readonly container: TestContainer;
	/** What the engine says of it; undefined when there is none. */
	state(): Promise<{ status: string; exitCode: number; id: string } | undefined>;
	/** Ends the task when the test is over. */
	open(): Promise<Runtime>;
}

/** `entry`: of `places.box` in the configuration. */
export async function dockerBox({ entry = {}, engine }: { entry?: Record<string, unknown>; engine?: TestEngine } = {}): Promise<DockerBox> {
	const used = engine ?? (await sharedEngine());
	const [home, dir, config] = [tempDir("home"), tempDir("work"), tempDir("config")];
	fs.mkdirSync(path.join(config, "holdfast"), { mode: 0o700 });
	const places = { box: { type: "docker", image: FULL_IMAGE, engine: used.address, volumes: [`${dir}:${dir}`], ...entry } };
	fs.writeFileSync(path.join(config, "holdfast", "config.json"), JSON.stringify({ places }), { mode: 0o600 });
	const before = process.env.XDG_CONFIG_HOME;
	process.env.XDG_CONFIG_HOME = config;
	const container = used.docker.getContainer(containerName({ home, task: TASK }));
	atEnd(async () => {
		if (before === undefined) delete process.env.XDG_CONFIG_HOME;
		else process.env.XDG_CONFIG_HOME = before;
		await container.remove({ force: true, v: true }).catch((error) => (error.statusCode === 404 ? undefined : Promise.reject(error)));
	});
	return {
		engine: used,
		home,
		dir,
		container,
		state: async () => {
			const info = await container.inspect().catch((error) => (error.statusCode === 404 ? undefined : Promise.reject(error)));
			return info && { status: info.State.Status, exitCode: info.State.ExitCode, id: info.Id };
		},
		open: () => openOnBox(home),
	};
}

/** Wait for something that has to be asked for. */
export async function eventually(what: string, holds: () => Promise<boolean>, ms = 100_000): Promise<void> {
	const deadline = Date.now() + ms;
	while (!(await holds())) {
		if (Date.now() > deadline) throw new Error(`did not happen within ${ms} ms: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}
