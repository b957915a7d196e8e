import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { Ends, LAST_CALL_MS } from "../../src/places/ends.js";
import { tempDir } from "../support/home.js";

const KEY = "slurm-0123456789ab";
const HOUR = 3_600_000;

it("the end of a place is told once, and again five minutes before, by whichever program comes first", () => {
	const home = { root: tempDir() };
	const [one, two] = [new Ends(home), new Ends(home)];
	const at = Date.now() + HOUR;
	for (const ends of [one, two]) ends.learn(KEY, "a life", at);
	expect(one.take(KEY, "slurm://main")).toEqual([
		expect.stringMatching(/^slurm:\/\/main ends at \d{4}-\d\d-\d\d \d\d:\d\d \(UTC.*\), in 60 min, whatever runs in it then\.$/),
	]);
	expect([one.take(KEY, "slurm://main"), two.take(KEY, "slurm://main")]).toEqual([[], []]);
	expect(fs.readFileSync(path.join(home.root, "places", `${KEY}.ends`), "utf8")).toBe(`${at} 1 a life`);
	const soon = at - LAST_CALL_MS + 1_000;
	expect(two.take(KEY, "slurm://main", soon)).toEqual([expect.stringMatching(/in 5 min, whatever runs in it then: save what has to stay\.$/)]);
	expect([two.take(KEY, "slurm://main", soon), one.take(KEY, "slurm://main", soon)]).toEqual([[], []]);
	const three = new Ends(home);
	three.learn(KEY, "a life", at + 10); // a program that comes later, and reads the clock a little differently
	expect(three.take(KEY, "slurm://main", soon)).toEqual([]);
});

it("another life, or a limit that was moved, is told anew; one that has no end any more is not", () => {
	const home = { root: tempDir() };
	const ends = new Ends(home);
	const at = Date.now() + HOUR;
	ends.learn(KEY, "a life", at);
	expect(ends.take(KEY, "p")).toHaveLength(1);
	ends.learn(KEY, "a life", at + HOUR);
	expect(ends.take(KEY, "p")).toHaveLength(1);
	ends.learn(KEY, "another life", at + HOUR);
	expect(ends.take(KEY, "p")).toHaveLength(1);
	ends.learn(KEY, "another life", undefined);
	expect(ends.take(KEY, "p")).toEqual([]);
	expect(fs.existsSync(path.join(home.root, "places", `${KEY}.ends`))).toBe(false);
});

it("one that is over already is not announced", () => {
	const ends = new Ends({ root: tempDir() });
	ends.learn(KEY, "a life", Date.now() - 1);
	expect(ends.take(KEY, "p")).toEqual([]);
});
