/** Two programs that keep the same replica, one of which is slow. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { BLANK_RECORD, segmentName } from "../../../src/keeper/layout.js";
import { NOBODY } from "../../../src/keeper/there.js";
import { Mirror } from "../../../src/places/far/mirror.js";
import type { Seen } from "../../../src/places/far/seen.js";
import type { Spec } from "../../../src/process/spec.js";
import { readStatus } from "../../../src/process/status.js";
import { tempDir } from "../../support/home.js";

const GONE = { pid: 4_000_000, start: "1" };
const SPEC = { id: "proc_000000000001", box: "a box", host: { host: "", boot: "", pidns: "" }, starter: GONE, startedAt: 0 } as unknown as Spec;

const seen = (records: Record<string, string>, more: Partial<Seen> = {}): Seen => ({
	...NOBODY,
	stamp: "x",
	gone: false,
	records: new Map(Object.entries(records).map(([name, text]) => [name, { bytes: Buffer.from(text), at: Date.now() }])),
	segments: [],
	offset: 0,
	bytes: Buffer.alloc(0),
	times: Buffer.alloc(0),
	timesOffset: 0,
	...more,
});

const BEFORE = seen({ exit: BLANK_RECORD });
const RUNS = seen({ meta: "keeper 10 100\nchild 11 110\n", exit: BLANK_RECORD }, { alive: ["10 100", "11 110"] });
const OVER = seen({ meta: "keeper 10 100\nchild 11 110\n", exit: `${"exit 3 -".padEnd(63)}\n` }, { dead: ["10 100", "11 110"], drained: true });
const KILLED = seen({ meta: "keeper 10 100\nchild 11 110\n", exit: BLANK_RECORD }, { dead: ["10 100", "11 110"], drained: true });

/** The status after each of these looks, each by another program. */
async function after(...looks: Seen[]): Promise<unknown> {
	const dir = path.join(tempDir("replica"));
	for (const look of looks) await new Mirror({ look: async () => look, skew: 0, boot: "" }, dir).sync();
	return readStatus(dir, SPEC);
}

test("a look from before the start that comes late does not make it lost", async () => {
	expect(await after(BEFORE)).toEqual({ status: "starting" });
	expect(await after(RUNS, BEFORE)).toMatchObject({ status: "running", pid: 11 });
});

test("a look from before the end that comes late does not take the end back", async () => {
	expect(await after(RUNS, OVER, RUNS)).toMatchObject({ status: "exited", exitCode: 3 });
	expect(await after(RUNS, OVER, BEFORE)).toMatchObject({ status: "exited", exitCode: 3 });
});

test("who has been seen dead, with no end on record, is lost", async () => {
	expect(await after(RUNS, KILLED)).toMatchObject({ status: "lost" });
});

test("one that nobody has seen there yet is not lost for not being there; one that was is", async () => {
	const gone = seen({}, { gone: true, drained: true });
	expect(await after(gone)).toEqual({ status: "starting" });
	expect(await after(RUNS, gone)).toMatchObject({ status: "lost", reason: expect.stringContaining("gone") });
});

test("an end is not known before what was printed before it: neither when the line breaks in between, nor when that is still being written there", async () => {
	const dir = tempDir("replica");
	const undrained = { ...OVER, drained: false };
	const late = { segments: [{ start: 0, size: 4 }], bytes: Buffer.from("last") };
	const answers: (Seen | Error)[] = [RUNS, undrained, new Error("the line broke"), undrained, undrained, { ...OVER, ...late }];
	const look = async () => {
		const next = answers.shift();
		if (next === undefined || next instanceof Error) throw next ?? new Error("there was nothing more to ask");
		return next;
	};
	const mirror = new Mirror({ look, skew: 0, boot: "" }, dir);
	await mirror.sync();
	await expect(mirror.sync()).rejects.toThrow("the line broke");
	expect(readStatus(dir, SPEC)).toMatchObject({ status: "running" });
	await mirror.sync();
	expect(readStatus(dir, SPEC)).toMatchObject({ status: "exited", exitCode: 3 });
	expect(fs.readFileSync(path.join(dir, segmentName(0)), "utf8")).toBe("last");
	expect(answers).toEqual([]);
});

test("what never ceases to print holds up the news of an end for a while only", async () => {
	const dir = tempDir("replica");
	await new Mirror({ look: async () => ({ ...OVER, drained: false }), skew: 0, boot: "" }, dir).sync();
	expect(readStatus(dir, SPEC)).toMatchObject({ status: "exited", exitCode: 3 });
});
