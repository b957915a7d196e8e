/** What is told of a task's container: it is up, was replaced, is down. */
import { expect, test } from "vitest";
import { agentOf } from "../../src/api/index.js";
import { type HoldfastEvent, openRuntime } from "../../src/index.js";
import { FULL_IMAGE, noEngine, sharedEngine } from "../support/dockerd.js";
import { atEnd, endAll, tempDir, until } from "../support/home.js";

const why = noEngine();

test.skipIf(why)(
	`a container is up, replaced and down: an event each, whichever user its commands run as${why ? `: ${why}` : ""}`,
	{ timeout: 60_000 },
	async () => {
		const { address, docker } = await sharedEngine();
		const runtime = await openRuntime({ warm: 0, home: tempDir("home") });
		atEnd(() => endAll(agentOf(runtime)));
		const stop = new AbortController();
		const told: HoldfastEvent[] = [];
		const listening = (async () => {
			for await (const event of runtime.events({ task: "t", signal: stop.signal })) told.push(event);
		})();
		atEnd(async () => {
			stop.abort();
			await listening;
		});
		const places = () => told.filter((event) => event.type.startsWith("place."));
		const nth = async (count: number) => {
			await until(`${count} events of places`, () => places().length >= count);
			return places().slice(count - 1);
		};
		await until("it listens", () => told.some(({ type }) => type === "listening"));
		const task = runtime.task("t", { place: { kind: "docker", image: FULL_IMAGE, engine: address } });
		const place = `docker://${FULL_IMAGE}`;
		const boxOf = (result: object) => (result as { box: { id: string } }).box.id;
		const one = boxOf(await task.terminal({ command: "id -un" }, { user: "agent" }));
		expect(await nth(1)).toEqual([expect.objectContaining({ type: "place.up", task: "t", place, box: expect.stringMatching(new RegExp(`^${one}`)) })]);
		await task.terminal({ command: "id -un" });
		await docker.getContainer(one).remove({ force: true, v: true });
		const two = boxOf(await task.terminal({ command: "true" }));
		expect(two).not.toBe(one);
		expect(await nth(2)).toEqual([expect.objectContaining({ type: "place.replaced", task: "t", place, box: expect.stringMatching(new RegExp(`^${two}`)) })]);
		expect(await task.terminal({ command: "id -un" }, { user: "agent" })).toMatchObject({ output: "agent\n", box: { id: two } });
		await task.end();
		expect(await nth(3)).toEqual([expect.objectContaining({ type: "place.down", task: "t", place, reason: "the container was ended" })]);
	},
);
