import type { PlaceObject } from "holdfast";
import { expect, it } from "vitest";
import { containerOf } from "../../src/environments/container.js";
import type { Outcome } from "../../src/episode/index.js";
import { Admission } from "../../src/run/admission.js";
import { declaredMemory, Pool, placesFor, type RunPlace } from "../../src/run/places.js";
import { Queue } from "../../src/run/queue.js";
import { retryAfter } from "../../src/run/retry.js";
import { progressOf } from "../../src/run/rows.js";
import { items, result, scored, start } from "../report/rows.js";
import { tempDir } from "../support/dirs.js";

const [one] = items(1);
if (!one) throw new Error("no item");

it("so many starts at a time, and declared memory never over the limit", () => {
	let room = 0;
	const admission = new Admission({ dir: tempDir(), starts: 2, memory: 100 }, () => room++);
	const first = admission.admit(60);
	expect(admission.admit(60)).toBeUndefined();
	const second = admission.admit(40);
	expect(admission.admit(0)).toBeUndefined(); // both are still starting
	first?.started();
	first?.started();
	expect(room).toBe(1);
	expect(admission.admit(1)).toBeUndefined(); // the memory of both is still theirs
	const third = admission.admit(0);
	expect(third).toBeDefined();
	second?.over();
	second?.over();
	expect(admission.admit(40)).toBeDefined();
	expect(admission.admit(0)).toBeUndefined();
	expect(admission.tooLarge(101)).toMatch(/more than/);
	expect(admission.tooLarge(100)).toBeUndefined();
});

it("a disk has room with 5 GiB or a tenth of it", () => {
	const GIB = 1024 ** 3;
	const says = (free: number, size: number) => new Admission({ dir: tempDir(), disk: () => ({ free: free * GIB, size: size * GIB }) }, () => {}).diskProblem();
	expect([says(5, 1_000), says(2, 20)]).toEqual([undefined, undefined]);
	expect(says(4.9, 1_000)).toMatch(/4\.90 GiB of 1000 GiB are free/);
	expect(says(1.9, 20)).toMatch(/are free/);
});

it("a pool gives the slot of the place with most room; a place that failed rests, and another one takes the next attempt", () => {
	let now = 0;
	const pool = new Pool(
		[
			{ place: "local", slots: 1 },
			{ place: "ssh://box", slots: 3 },
			{ place: "ssh://box", slots: 1 },
		],
		() => now,
	);
	const taken = [pool.take(one), pool.take(one), pool.take(one), pool.take(one), pool.take(one)];
	expect(taken.map((slot) => slot?.name)).toEqual(["local", "ssh://box", "ssh://box~2", "ssh://box", "ssh://box"]);
	expect(pool.take(one)).toBeUndefined();
	taken[0]?.release(true);
	taken[0]?.release(false);
	expect(pool.take(one)).toBeUndefined();
	expect(pool.restMs).toBe(5_000);
	now = 5_000;
	expect(pool.take(one, "local")?.name).toBe("local"); // there is no other
	taken[1]?.release(false);
	expect(pool.take(one, "local")?.name).toBe("ssh://box");
});

it("an item with an image goes to the places of containers of the pool", () => {
	const image = { ...one, kind: "prompt" as const, row: { prompt: "x", image: "debian" } };
	const docker = { kind: "docker", image: "x", memory: "2G", engine: "tcp://127.0.0.1:1" } as RunPlace;
	expect(new Pool([{ place: "local" }, { place: docker }]).take(image)?.place).toBe(docker);
	expect(new Pool([{ place: "local" }]).take(image)?.place).toBe("local"); // it makes its own container then
	expect([declaredMemory(one, docker), declaredMemory(one, { kind: "docker", image: "x", memory: "2G" }), declaredMemory(one, "local")]).toEqual([
		0,
		2 * 1024 ** 3,
		0,
	]);
});

it("a name of config.json stands for its kind and settings; an item that no place of the run can have is refused by name, and never played elsewhere", () => {
	const image = { ...one, kind: "prompt" as const, key: "imaged", row: { prompt: "x", image: "debian" } };
	const engine = { kind: "docker", image: "x", engine: "tcp://127.0.0.1:1" } as PlaceObject;
	const known: Readonly<Record<string, PlaceObject>> = { big: engine, "docker://x": engine, "ssh://box": { kind: "ssh", host: "box" } as PlaceObject };
	const resolve = (place: RunPlace) => known[String(place)] ?? ({ kind: "local" } as PlaceObject);
	const of = (...places: string[]) => placesFor({ place: "local", pool: places.map((place) => ({ place })) }, [one, image], resolve);
	const pool = new Pool(of("ssh://box", "big"));
	expect([pool.take(image)?.place, pool.take(image)?.name]).toEqual([engine, "big"]);
	expect(new Pool(of("docker://x")).take(one)?.place).toBe(engine);
	expect(new Pool(of("ssh://box", "local")).take(image)?.place).toBe("local"); // by this machine's engine
	expect(() => of("ssh://box")).toThrow(/^imaged cannot be played on ssh:\/\/box: a task with an image needs a place of containers/);
	expect(() => containerOf("debian", "ssh://box")).toThrow(/ssh:\/\/box makes none/);
	expect(containerOf("debian", engine)).toMatchObject({ engine: "tcp://127.0.0.1:1", image: "debian", pull: "missing" });
});

it("only what is out of the model's hands is tried again, twice at most, later each time", () => {
	const error = (of: "place" | "model" | "scorer" | "environment", again = true) => ({ kind: "error", of, code: "failed", words: "", again }) as Outcome;
	const waits = (outcome: Outcome) => [0, 1, 2].map((failures) => retryAfter(outcome, failures, 5_000, () => 0.5));
	expect(waits(error("place"))).toEqual([5_000, 10_000, undefined]);
	expect(waits(error("model"))).toEqual([5_000, undefined, undefined]);
	expect(waits(error("environment"))).toEqual([5_000, undefined, undefined]);
	expect(waits(error("scorer"))).toEqual([undefined, undefined, undefined]);
	expect(waits(error("place", false))).toEqual([undefined, undefined, undefined]);
	expect(waits(scored(0))).toEqual([undefined, undefined, undefined]);
	expect([0, 0.999].map((random) => retryAfter(error("place"), 0, 1_000, () => random))).toEqual([500, expect.closeTo(1_499)]);
});

it("a queue gives those that are tried again when their time has come, before the others", () => {
	let now = 0;
	const [a, b, c] = items(3);
	if (!a || !b || !c) throw new Error("no items");
	const queue = new Queue([b, c], () => now);
	queue.again(a, 100);
	expect([queue.size, queue.nextMs]).toEqual([3, 100]);
	expect(queue.first(({ index }) => (index === 2 ? "yes" : undefined))?.item).toBe(c);
	now = 100;
	expect(queue.first(() => true)?.item).toBe(a);
	expect(queue.first(() => undefined)).toBeUndefined();
	expect(queue.first(() => true)?.item).toBe(b);
	expect([queue.size, queue.nextMs]).toEqual([0, undefined]);
});

it("two results for one index are damage; one that was taken back makes room for another", () => {
	const twice = [start(0), result(0, scored(1)), start(0, 2), result(0, scored(0), { attempt: 2 })];
	expect(() => progressOf(twice)).toThrow(/two results for episode 0/);
	const taken = progressOf([...twice.slice(0, 2), { t: "requeued", at: "", index: 0, attempt: 1, request: "r" }, ...twice.slice(2)]);
	expect(taken.results.get(0)?.attempt).toBe(2);
	expect(taken.besides).toHaveLength(1);
	const again = progressOf([...twice.slice(0, 2), { t: "rescored", at: "", index: 0, attempt: 1, request: "r", outcome: scored(0.5) }]);
	expect(again.results.get(0)?.outcome).toEqual(scored(0.5));
	expect(() => progressOf([{ t: "from the future" } as never])).toThrow(/does not know/);
});
