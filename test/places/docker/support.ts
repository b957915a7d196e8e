import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { containerName } from "../../../src/places/docker/body.js";
import { type ContainerOwner, type DockerHooks, type DockerOptions, dockerHost } from "../../../src/places/docker/index.js";
import type { Host } from "../../../src/places/host.js";
import type { TestContainer } from "../../support/docker-client.js";
import { FULL_IMAGE, sharedEngine, type TestEngine } from "../../support/dockerd.js";
import { atEnd, tempDir } from "../../support/home.js";

export interface TestPlace {
	readonly engine: TestEngine;
	readonly host: Host;
	readonly owner: ContainerOwner;
	readonly name: string;
	readonly container: TestContainer;
	/** Another program's view of the same task. */
	other(options?: DockerOptions): Host;
	/** Run something there to its end. */
	run(command: string): Promise<{ output: string; ended: string }>;
}

/** A place for one test; its container is removed when the test is over. */
export async function testPlace(options: DockerOptions = {}, hooks: DockerHooks = {}, engine?: TestEngine): Promise<TestPlace> {
	const used = engine ?? (await sharedEngine());
	const owner = { home: tempDir("home"), task: `test-${randomBytes(4).toString("hex")}` };
	const settings: DockerOptions = { image: FULL_IMAGE, engine: used.address, ...options };
	const host = dockerHost(settings, owner, hooks);
	const name = containerName(owner);
	const container = used.docker.getContainer(name);
	atEnd(() => container.remove({ force: true, v: true }).catch((error) => (error.statusCode === 404 ? undefined : Promise.reject(error))));
	return {
		engine: used,
		host,
		owner,
		name,
		container,
		other: (more = {}) => dockerHost({ ...settings, ...more }, owner),
		run: (command) => run(host, command),
	};
}

export async function run(host: Host, command: string): Promise<{ output: string; ended: string }> {
	const stream = await host.open(command);
	stream.input.end();
	const output = await text(stream.output);
	return { output, ended: await stream.ended };
}
