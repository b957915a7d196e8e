/** Two programs that keep the same replica, one of which is slow. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { BLANK_RECORD, segmentName } from "../../../src/keeper/layout.js";
import { NO_VITALS } from "../../../src/keeper/remote-state.js";
import type { Spec } from "../../../src/keeper/spec.js";
import { Mirror } from "../../../src/places/remote/mirror.js";
import type { Seen } from "../../../src/places/remote/seen.js";
import { readStatus } from "../../../src/process/status.js";
import { tempDir } from "../../support/home.js";

const GONE = { pid: 4_000_000, start: "1" };
const SPEC = { id: "proc_000000000001", box: "a box", host: { host: "", boot: "", pidns: "" }, starter: GONE, startedAt: 0 } as unknown as Spec;

const seen = (records: Record<string, string>, more: Partial<Seen> = {}): Seen => ({
	...NO_VITALS,
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

test("a stale look does not mark a new process lost", async () => {
	expect(await after(BEFORE)).toEqual({ status: "starting" });
	expect(await after(RUNS, BEFORE)).toMatchObject({ status: "running", pid: 11 });
});

test("a stale look does not take back a recorded end", async () => {
	expect(await after(RUNS, OVER, RUNS)).toMatchObject({ status: "exited", exitCode: 3 });
	expect(await after(RUNS, OVER, BEFORE)).toMatchObject({ status: "exited", exitCode: 3 });
});

test("a process seen dead without a recorded end is lost", async () => {
	expect(await after(RUNS, KILLED)).toMatchObject({ status: "lost" });
});

test("a process that was never seen remotely is not lost for being absent; one that was seen is", async () => {
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

describe("a command of a shell, of which two replicas tell", () => {
	const BASH = { pid: 11, start: "110" };
	const COMMAND = {
		...SPEC,
		id: "proc_a00000000002",
		within: { name: "a00000000002.1", shell: "proc_a00000000001", bash: BASH, keeper: { pid: 10, start: "100" }, older: [] },
	} as unknown as Spec;
	const slot = (exit: string, more: Partial<Seen> = {}) => seen({ meta: "keeper 20 200\n", exit }, { alive: ["20 200"], drained: true, ...more });
	const ENDED = seen(
		{ meta: "keeper 10 100\nchild 11 110\n", "shell/begun": "a00000000002.1 \n", exit: `${"exit 0 -".padEnd(63)}\n` },
		{ dead: ["10 100", "11 110"], drained: true },
	);
	const DEAD = { dead: ["11 110"] };

	async function statusAfter(...looks: (readonly ["shell" | "slot", Seen])[]): Promise<unknown> {
		const home = tempDir("replicas");
		const dirs = { shell: path.join(home, "a", "proc_a00000000001"), slot: path.join(home, "a", "proc_a00000000002") };
		for (const dir of Object.values(dirs)) fs.mkdirSync(path.join(dir, "shell"), { recursive: true });
		for (const [which, look] of looks) await new Mirror({ look: async () => look, skew: 0, boot: "" }, dirs[which]).sync();
		return readStatus(dirs.slot, COMMAND);
	}

	test("the end of the shell says nothing as long as the command was last seen before it", async () => {
		expect(await statusAfter(["slot", slot(BLANK_RECORD)], ["shell", ENDED])).toMatchObject({ status: "running" });
		expect(await statusAfter(["shell", ENDED])).toMatchObject({ status: "running" });
	});

	test("its own end counts, whichever replica is the newer one", async () => {
		const own = slot(`${"exit 7 -".padEnd(63)}\n`, DEAD);
		expect(await statusAfter(["slot", slot(BLANK_RECORD)], ["shell", ENDED], ["slot", own])).toMatchObject({ status: "exited", exitCode: 7 });
		expect(await statusAfter(["slot", own], ["shell", ENDED])).toMatchObject({ status: "exited", exitCode: 7 });
	});

	test("the end of the shell is its end once it was seen without one of its own after that, and a look that comes late does not take it back", async () => {
		expect(await statusAfter(["shell", ENDED], ["slot", slot(BLANK_RECORD, DEAD)])).toMatchObject({ status: "exited", exitCode: 0 });
		expect(await statusAfter(["shell", ENDED], ["slot", slot(BLANK_RECORD, DEAD)], ["slot", slot(BLANK_RECORD)])).toMatchObject({
			status: "exited",
			exitCode: 0,
		});
	});

	test("a process is lost if its directory was removed before its end was seen", async () => {
		const gone = seen({}, { gone: true, drained: true });
		expect(await statusAfter(["slot", slot(BLANK_RECORD)], ["shell", ENDED], ["slot", gone])).toMatchObject({
			status: "lost",
			reason: expect.stringContaining("gone"),
		});
	});
});
