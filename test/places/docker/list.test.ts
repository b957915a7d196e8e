import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { type ContainerSummary, listContainers, removeContainer } from "../../../src/places/docker/index.js";
import { FULL_IMAGE, noEngine } from "../../support/dockerd.js";
import { testPlace } from "./support.js";

const why = noEngine();

describe.skipIf(why)(`containers of Holdfast${why ? `: ${why}` : ""}`, () => {
	it("are listed with whose they are, and orphans are known", async () => {
		const { engine, host, owner, name, container } = await testPlace();
		await host.start();
		const { Id, Created } = await container.inspect();
		const at = { engine: engine.address };
		const expected: Partial<ContainerSummary> = {
			id: Id,
			name,
			image: FULL_IMAGE,
			...owner,
			state: "running",
			keep: false,
			orphan: false,
			created: new Date(Math.floor(Date.parse(Created) / 1000) * 1000),
		};
		expect(await listContainers({ ...at, task: owner.task })).toEqual([expect.objectContaining(expected)]);
		expect(await listContainers({ ...at, home: owner.home })).toHaveLength(1);
		expect(await listContainers({ ...at, home: owner.home, task: "another" })).toEqual([]);
		fs.rmSync(owner.home, { recursive: true });
		await container.pause();
		expect(await listContainers({ ...at, task: owner.task })).toEqual([expect.objectContaining({ ...expected, state: "paused", orphan: true })]);
		expect(await removeContainer(Id.slice(0, 12), at)).toBe(true);
		expect(await listContainers({ ...at, task: owner.task })).toEqual([]);
		await expect(removeContainer(Id, at)).rejects.toMatchObject({ code: "NOT_FOUND" });
	});

	it("concurrent removals: one of them reports it, the others find nothing", async () => {
		const { engine, host, name } = await testPlace();
		await host.start();
		const results = await Promise.allSettled([1, 2, 3].map(() => removeContainer(name, { engine: engine.address })));
		expect(results.filter((result) => result.status === "fulfilled" && result.value)).toHaveLength(1);
		for (const result of results) if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "NOT_FOUND" });
	});

	it("do not include those of other tasks", async () => {
		const { engine, name, container } = await testPlace();
		await engine.docker.createContainer({ name, Image: FULL_IMAGE, Cmd: ["true"] });
		await expect(removeContainer(name, { engine: engine.address })).rejects.toMatchObject({ code: "FORBIDDEN" });
		await expect(removeContainer("a/b", { engine: engine.address })).rejects.toMatchObject({ code: "INVALID" });
		expect((await container.inspect()).State.Status).toBe("created");
	});
});
