import fs from "node:fs";
import type { Runtime } from "holdfast";
import { expect, it } from "vitest";
import { promptEnvironment } from "../../src/environments/prompt.js";
import { atEnd, tempDir } from "../support/dirs.js";
import { field } from "./support.js";

it("on a machine that its episodes share each one begins in a directory of its own", async () => {
	const { runtime } = await field();
	// A double of the connection: what is asked of the machine over SSH is done on this one.
	const there = { task: (name: string) => runtime.task(name, { place: "local" }), endTask: (name: string) => runtime.endTask(name) } as unknown as Runtime;
	const site = { place: "ssh://box", work: tempDir("work"), folder: tempDir("folder"), runtime: there, signal: new AbortController().signal };
	const [one, other] = await Promise.all([1, 2].map(() => promptEnvironment({ prompt: "x" }).place(site)));
	for (const setting of [one, other]) {
		const dir = setting?.cwd ?? "";
		atEnd(() => fs.rmdirSync(dir));
		expect(fs.readdirSync(dir)).toEqual([]);
	}
	expect(one?.cwd).not.toBe(other?.cwd);
	expect(await promptEnvironment({ prompt: "x", cwd: "/srv" }).place(site)).toEqual({ place: "ssh://box", cwd: "/srv" });
	expect(runtime.list({ task: null, shells: true, ended: false })).toEqual([]);
});
