import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { Lease } from "../../src/base/lease.js";
import { readStat } from "../../src/base/proc.js";
import { here } from "../../src/base/who.js";
import { tempDir } from "../support/home.js";
import { seeded } from "../support/seed.js";
import { contend } from "./contenders.js";

const leaseIn = (dir = tempDir("lease")) => ({
	dir,
	file: path.join(dir, "lease"),
	generations: () => fs.readdirSync(dir).filter((name) => name.startsWith("lease")),
});

const backdate = (file: string) => fs.utimesSync(file, 1, 1);

test("one at a time: the next has it when it was released, and one file is left of all", () => {
	const { file, generations } = leaseIn();
	for (let round = 0; round < 3; round++) {
		expect(Lease.isFree(file)).toBe(true);
		const lease = Lease.take(file, { about: { who: "me" } });
		expect(lease?.held()).toBe(true);
		expect(Lease.take(file)).toBeUndefined();
		expect(Lease.holder(file)).toMatchObject({ about: { who: "me", pid: process.pid }, held: true });
		lease?.release();
		lease?.release(); // idempotent
		expect(Lease.holder(file)).toBeUndefined();
		expect(generations()).toHaveLength(1);
	}
});

test("a holder without a sign of life loses it, sees that, and takes nothing from the next one", () => {
	const { dir, file, generations } = leaseIn();
	const first = Lease.take(file);
	backdate(path.join(dir, generations()[0] ?? ""));
	expect(Lease.isFree(file)).toBe(true);
	const second = Lease.take(file);
	expect([first?.held(), second?.held()]).toEqual([false, true]);
	expect(first?.renew()).toBe(false);
	first?.release();
	expect(second?.held()).toBe(true);
	second?.release();
});

test("a sign of life keeps it", () => {
	const { dir, file, generations } = leaseIn();
	const lease = Lease.take(file, { freshMs: 60_000 });
	backdate(path.join(dir, generations()[0] ?? ""));
	expect(lease?.renew()).toBe(true);
	expect(Lease.take(file, { freshMs: 60_000 })).toBeUndefined();
	expect(Lease.take(file, { freshMs: 60_000, force: true })?.held()).toBe(true);
	expect(lease?.held()).toBe(false);
});

test("a program that was stopped between its look and its take does not get a lease that others have had since", () => {
	const { dir, file, generations } = leaseIn();
	const dead = JSON.stringify({ pid: 2 ** 22 + 1, start: "1", nonce: "x" });
	fs.writeFileSync(`${file}.4`, dead);
	const late = Lease.holder(file); // it has looked, and is stopped
	for (let round = 0; round < 2; round++) Lease.take(file)?.release();
	const holder = Lease.take(file);
	expect(late?.clear()).toBe(false);
	expect(holder?.held()).toBe(true);
	expect(generations()).toEqual([path.basename(generations()[0] ?? "")]);
	expect(fs.readdirSync(dir)).toHaveLength(1);
	holder?.release();
});

test("a holder in another pid namespace or on another host is not looked up by its pid: only silence makes it stale", () => {
	const { file } = leaseIn();
	const elsewhere = JSON.stringify({ pid: 2 ** 22 + 1, start: "1", nonce: "x", host: "0badf00d" });
	fs.writeFileSync(`${file}.1`, elsewhere);
	expect(Lease.take(file)).toBeUndefined();
	backdate(`${file}.1`);
	const lease = Lease.take(file);
	expect(lease?.held()).toBe(true);
	lease?.release();
});

test("a holder of this machine that gives no sign of life has not abandoned the lease until it has ended", () => {
	const { file } = leaseIn();
	expect(Lease.isAbandoned(file)).toBe(true);
	const lease = Lease.take(file);
	backdate(`${file}.1`); // as if this program had been stopped
	expect([Lease.isFree(file), Lease.isAbandoned(file)]).toEqual([true, false]);
	fs.writeFileSync(`${file}.1`, JSON.stringify({ pid: process.pid, start: "1", nonce: "x", host: here() }));
	expect(Lease.isAbandoned(file)).toBe(true);
	lease?.release();
});

test("a lease of an earlier version holds as long as its program lives, and what makes no sense does not hold", () => {
	const { dir, file } = leaseIn();
	fs.writeFileSync(file, JSON.stringify({ pid: process.pid, start: readStat(process.pid)?.start, nonce: "x" }));
	expect(Lease.take(file)).toBeUndefined();
	for (const stale of [JSON.stringify({ pid: process.pid, start: "1", nonce: "x" }), "not json"]) {
		fs.writeFileSync(file, stale);
		const lease = Lease.take(file);
		expect(lease?.held()).toBe(true);
		lease?.release();
		for (const name of fs.readdirSync(dir)) fs.unlinkSync(path.join(dir, name));
	}
});

test("programs that contend for it, some killed while they have it: never two at once", async () => {
	const said = await contend({ programs: 4, rounds: 150, lives: 2, random: seeded("contenders") });
	expect(said.filter((line) => !/^(?:killed|had \d+)$/.test(line))).toEqual([]);
});
