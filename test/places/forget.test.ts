/** Places without a reference are forgotten; all others stay. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { namesIn } from "../../src/base/files.js";
import { openHome } from "../../src/base/home.js";
import type { PlaceWish } from "../../src/places/address.js";
import { recallPlace, rememberedPlaces, rememberPlace } from "../../src/places/remember.js";
import { cli } from "../support/cli.js";
import { dockerBox, eventually, TASK } from "../support/docker-box.js";
import { noEngine } from "../support/dockerd.js";
import { elsewhere } from "../support/elsewhere.js";
import { tempDir, testRuntime } from "../support/home.js";
import { openRuntime } from "../support/internal.js";
import { noSshd } from "../support/sshd.js";

const DAY_MS = 24 * 3_600_000;
const ssh = (host: string): PlaceWish => ({ kind: "ssh", name: `ssh://${host}`, options: { host } });

/** Makes all of them look unused for so long. */
function age(home: string, days: number): void {
	const then = Date.now() / 1000 - days * 86_400;
	for (const name of namesIn(path.join(home, "places"))) fs.utimesSync(path.join(home, "places", name), then, then);
}

test("one that nothing refers to goes after 7 days, with what is beside it; using it begins anew", async () => {
	const runtime = await testRuntime();
	const { root } = runtime.home;
	const key = rememberPlace(runtime.home, ssh("box"), "default");
	fs.writeFileSync(path.join(root, "places", `${key}.life`), "x");
	expect(await runtime.prunePlaces()).toEqual([]);
	age(root, 8);
	rememberPlace(runtime.home, ssh("box"), "default");
	expect(await runtime.prunePlaces()).toEqual([]);
	age(root, 8);
	expect(JSON.parse((await cli(root, ["prune", "--dry-run", "--json"])).stdout)).toMatchObject({ places: ["ssh://box"], dry_run: true });
	expect(recallPlace(runtime.home, key)).toBeDefined();
	expect((await cli(root, ["prune"])).stdout).toMatch(/forgot where nothing is any more: ssh:\/\/box\n$/);
	expect(namesIn(path.join(root, "places"))).toEqual([]);
});

test("a configuration that names it keeps it", async () => {
	const [root, config] = [tempDir("home"), tempDir("config")];
	const env = { XDG_CONFIG_HOME: config };
	fs.mkdirSync(path.join(config, "holdfast"));
	fs.writeFileSync(
		path.join(config, "holdfast", "config.json"),
		JSON.stringify({ places: { box: { type: "ssh", host: "box" }, wrong: { type: "ssh", hots: "x" } } }),
	);
	const home = openHome(root);
	rememberPlace(home, ssh("box"), "default");
	rememberPlace(home, ssh("other"), "default");
	age(root, 30);
	expect(JSON.parse((await cli(root, ["prune", "--json"], { env })).stdout)).toMatchObject({ places: ["ssh://other"] });
	expect(rememberedPlaces(home).map(({ wish }) => wish.name)).toEqual(["ssh://box"]);
});

test.skipIf(noSshd)("a process or shell that is kept keeps its machine, also when it has ended", async () => {
	const { home, runtime, env } = await elsewhere();
	const process = await runtime.spawn({ command: "echo there" });
	await process.wait();
	const none = { XDG_CONFIG_HOME: path.join(env.XDG_CONFIG_HOME, "none") }; // the entry alone would keep it
	const prune = async (...args: string[]) => JSON.parse((await cli(home, ["prune", "--json", ...args], { env: none })).stdout).places;
	age(home, 8);
	expect(await prune()).toEqual([]);
	expect(await prune("--older-than", "1d")).toEqual([]); // it was looked at, and need not be again for a while
	age(home, 8);
	await runtime.terminal({ command: "true" });
	runtime.prune({ olderThanMs: 0, now: Date.now() + DAY_MS });
	age(home, 8);
	expect(await prune()).toEqual([]); // the shell
	await runtime.endTask("default");
	await eventually("its end is known, and the place is forgotten", async () => {
		runtime.prune({ olderThanMs: 0, now: Date.now() + DAY_MS });
		age(home, 8);
		const forgotten = await prune();
		expect([[], [runtime.placeName]]).toContainEqual(forgotten);
		return forgotten.length > 0;
	});
});

const why = noEngine();
describe.skipIf(why)(`containers${why ? `: ${why}` : ""}`, () => {
	test("an existing container, running or not, keeps its place; a removed one does not", async () => {
		const box = await dockerBox();
		const { key } = await used(box.home);
		const prune = async () => {
			age(box.home, 8);
			await using runtime = await openRuntime({ home: box.home, warm: 0 });
			runtime.prune({ olderThanMs: 0, now: Date.now() + DAY_MS });
			return JSON.parse((await cli(box.home, ["prune", "--json"], { env: { XDG_CONFIG_HOME: box.dir } })).stdout).places;
		};
		expect(await prune()).toEqual([]);
		await box.container.stop({ t: 0 });
		expect(await prune()).toEqual([]);
		await box.container.remove();
		expect(await prune()).toEqual(["docker://holdfast/full:1"]);
		expect(namesIn(path.join(box.home, "places")).filter((name) => name.startsWith(key))).toEqual([]);
	});

	/** A command in the container, with nothing of it kept here but the container. */
	async function used(home: string) {
		await using runtime = await openRuntime({ home, task: TASK, warm: 0, place: "box" });
		const process = await runtime.spawn({ command: "true" });
		await process.wait();
		runtime.prune({ olderThanMs: 0, now: Date.now() + DAY_MS });
		return rememberedPlaces(runtime.home)[0] as { key: string };
	}
});
