import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { Lease } from "../../src/base/lease.js";
import { Lifetimes, type Lived } from "../../src/places/lifetimes.js";
import { atEnd, tempDir, until } from "../support/home.js";

const KEY = "docker-0123456789ab";

/** Something that lives for a moment; `stops` counts how often it was stopped, and how many were at it. */
function lived(options: Partial<Lived> & { hold?: Promise<void> } = {}) {
	const seen = { stops: 0, looks: 0, atOnce: 0, most: 0 };
	const it: Lived = {
		key: KEY,
		seconds: 0.2,
		busy: () => {
			seen.looks++;
			return false;
		},
		stop: async () => {
			seen.stops++;
			seen.most = Math.max(seen.most, ++seen.atOnce);
			await options.hold;
			seen.atOnce--;
			return ["It was stopped."];
		},
		...options,
	};
	return { it, seen };
}

function lifetimes(root = tempDir("home"), options: { openMs?: number } = {}): Lifetimes & { root: string } {
	const made = new Lifetimes({ root }, options);
	atEnd(() => made.close());
	return Object.assign(made, { root });
}

const age = (root: string, seconds = 1_000) => {
	const then = new Date(Date.now() - seconds * 1_000);
	fs.utimesSync(path.join(root, "places", `${KEY}.used`), then, then);
};

test("an unused container ends by itself, once, and leaves no mark", async () => {
	const times = lifetimes();
	const { it, seen } = lived();
	(await times.use(it))();
	times.leave(KEY);
	await until("it was stopped", () => seen.stops > 0);
	await times.close();
	expect(seen).toMatchObject({ stops: 1, most: 1 });
	expect(fs.readdirSync(path.join(times.root, "places"))).toEqual([`${KEY}.end`]); // the free lease
});

test("an unused one that can rest is put to rest, once, and is still there to be used or ended", async () => {
	const times = lifetimes();
	let rests = 0;
	const { it, seen } = lived({ rest: async () => void rests++ });
	(await times.use(it))();
	times.leave(KEY);
	await until("it rests", () => rests > 0);
	(await times.use(it))();
	times.leave(KEY);
	await until("it rests again", () => rests > 1);
	expect(seen.stops).toBe(0);
	expect(times.mayBeThere(KEY)).toBe(true);
	expect(await times.end(it)).toEqual(["It was stopped."]);
	expect(times.mayBeThere(KEY)).toBe(false);
	expect(rests).toBe(2);
});

test("one that is just being put to rest, by this program or another, is stopped all the same when its task ends", async () => {
	for (const here of [true, false]) {
		const times = lifetimes();
		let release = () => {};
		let resting = false;
		const held = new Promise<void>((resolve) => (release = resolve));
		const { it, seen } = lived({
			rest: () => {
				resting = true;
				return held;
			},
		});
		(await times.use(it))();
		times.leave(KEY);
		await until("it is being put to rest", () => resting);
		const ending = (here ? times : lifetimes(times.root)).end(it);
		release();
		expect(await ending).toEqual(["It was stopped."]);
		expect(seen.stops).toBe(1);
	}
});

test("never while it is used, by this program or by another; nor while something runs in it", async () => {
	const times = lifetimes();
	let running = true;
	const { it, seen } = lived({
		busy: () => {
			seen.looks++;
			return running;
		},
	});
	const leave = await times.use(it);
	const mark = path.join(times.root, "places", `${KEY}.used`);
	age(times.root);
	await until("a look has renewed the mark", () => Date.now() - fs.statSync(mark).mtimeMs < 500_000);
	expect(seen).toMatchObject({ looks: 0, stops: 0 });
	leave();
	leave(); // twice does no harm
	times.leave(KEY);
	await until("a program has looked at what runs", () => seen.looks > 1);
	expect(seen.stops).toBe(0);
	running = false;
	await until("it was stopped", () => seen.stops === 1);
});

test("one that another program uses is left alone until that one leaves", async () => {
	const mine = lifetimes();
	const other = lifetimes(mine.root);
	const [here, there] = [lived({ seconds: 2 }), lived({ seconds: 0.2 })];
	const leave = await other.use(there.it);
	(await mine.use(here.it))();
	mine.leave(KEY);
	const mark = path.join(mine.root, "places", `${KEY}.used`);
	const renewed = new Set<number>();
	await until("the other has renewed its mark for longer than ours lives", () => renewed.add(fs.statSync(mark).mtimeMs).size > 60);
	expect(here.seen.stops + there.seen.stops).toBe(0);
	leave();
	other.leave(KEY);
	await until("one of the two has stopped it", () => here.seen.stops + there.seen.stops > 0);
});

test("a caller that comes while a container is being ended waits until it is gone, and then has a new one", async () => {
	const times = lifetimes();
	let release = () => {};
	const { it, seen } = lived({ hold: new Promise<void>((resolve) => (release = resolve)) });
	const ending = times.end(it);
	await until("it is being ended", () => seen.atOnce === 1);
	let in_ = false;
	const coming = lifetimes(times.root)
		.use(it)
		.then((leave) => {
			in_ = true;
			leave();
		});
	expect(in_).toBe(false);
	release();
	expect(await ending).toEqual(["It was stopped."]);
	await coming;
	expect(in_).toBe(true);
});

test("of several callers that end it, in one program or two, one is told what was stopped", async () => {
	const one = lifetimes();
	const other = lifetimes(one.root);
	let release = () => {};
	const { it, seen } = lived({ hold: new Promise<void>((resolve) => (release = resolve)) });
	const all = [one.end(it), one.end(it), other.end(it)];
	await until("it is being ended", () => seen.atOnce > 0);
	release();
	expect((await Promise.all(all)).flat()).toEqual(["It was stopped."]);
	expect(seen).toMatchObject({ stops: 1, most: 1 });
	expect(Lease.isFree(path.join(one.root, "places", `${KEY}.end`, "lease"))).toBe(true);
});

test("a stop that fails is retried and blocks no caller; a caller can give up waiting", async () => {
	const times = lifetimes();
	let tries = 0;
	const { it } = lived({
		stop: async () => {
			if (++tries < 3) throw new Error("no engine");
			return [];
		},
	});
	(await times.use(it))();
	times.leave(KEY);
	await until("it was tried again", () => tries === 3);
	await expect(times.end({ ...it, stop: () => Promise.reject(new Error("no engine")) })).rejects.toThrow("no engine");
	const held = Lease.take(path.join(times.root, "places", `${KEY}.end`, "lease"));
	await expect(times.use(it, { signal: AbortSignal.timeout(10) })).rejects.toThrow();
	held?.release();
	(await times.use(it))();
});

test("a container of an open task is kept while unused, also by other programs; used again after the task was left, it is open again", async () => {
	const times = lifetimes();
	const other = lifetimes(times.root);
	const { it, seen } = lived();
	const mark = path.join(times.root, "places", `${KEY}.used`);
	const kept = async () => {
		const first = fs.statSync(mark).mtimeMs;
		await until("it was kept for five times its lifetime", () => fs.statSync(mark).mtimeMs - first > 1_000);
		expect(seen).toMatchObject({ stops: 0, looks: 0 });
	};
	(await other.use(it))();
	(await times.use(it))();
	other.leave(KEY);
	await kept();
	times.leave(KEY);
	(await times.use(it))();
	await kept();
	times.leave(KEY);
	(await times.use(it, { looks: true }))(); // which does not open it
	await until("it was stopped", () => seen.stops > 0);
});

test("a task that was not used for a day is not open any more", async () => {
	const times = lifetimes(undefined, { openMs: 300 });
	const { it, seen } = lived();
	(await times.use(it))();
	await until("it was stopped", () => seen.stops > 0);
});

test("what lives as long as its task is never ended for want of use, only when that is asked for", async () => {
	const times = lifetimes();
	const forever = lived({ seconds: Number.POSITIVE_INFINITY });
	const moment = lived({ key: "docker-ba9876543210" });
	for (const { it } of [forever, moment]) {
		(await times.use(it))();
		times.leave(it.key);
	}
	age(times.root, 1_000_000_000);
	await until("the other one was stopped, by the same looks", () => moment.seen.stops > 0);
	expect(forever.seen).toMatchObject({ stops: 0, looks: 0 });
	expect(await times.end(forever.it)).toEqual(["It was stopped."]);
});
