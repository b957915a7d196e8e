/** What a look says of a process that changes while it is looked at: the other side answers in the order that a test wants. */
import { expect, test } from "vitest";
import type { Link, LinkQuestion } from "../../../src/places/link/index.js";
import type { WatchAnswer } from "../../../src/places/link/watched.js";
import { Looker } from "../../../src/places/remote/look.js";

const META = "keeper 10 100\ncollector 11 110\nchild 12 120\n";
const stat = (pid: number, start: number) => `${pid} (sh) S 1 ${Array.from({ length: 50 }, (_, at) => (at === 17 ? start : 0)).join(" ")}\n`;
const record = (text: string) => text.padEnd(63).concat("\n");
const wanted = { offset: 0, times: 0, stamp: "", max: 1000, parts: () => [] };

interface Moment {
	readonly exit: string;
	readonly log: string | undefined;
	readonly alive: readonly number[];
	/** The exit as it is once everything else has been looked at. */
	readonly exitThen?: string;
	readonly meta?: string;
	/** The dd that sleeps. */
	readonly copier?: number;
}

/** One moment for each look. */
function linkOf(moments: readonly Moment[]): Link {
	const left = [...moments];
	let now: Moment;
	const watch = async (): Promise<WatchAnswer> => {
		now = left.shift() as Moment;
		const bytes = Buffer.from(now.log ?? "");
		return {
			records: { exit: { text: now.exit, at: 1 }, state: { text: "started", at: 1 } },
			sizes: { meta: META.length },
			segments: now.log === undefined ? [] : [{ offset: 0, size: bytes.length }],
			offset: 0,
			bytes,
			end: bytes.length,
		};
	};
	const answer = (question: LinkQuestion): Buffer | undefined => {
		if (question.ask === "copier") return now.copier === undefined ? undefined : Buffer.from(stat(now.copier, now.copier * 10));
		if (question.ask === "stat") return now.alive.includes(question.pid) ? Buffer.from(stat(question.pid, question.pid * 10)) : undefined;
		return "path" in question && question.path === "/d/exit" ? Buffer.from(record(now.exitThen ?? now.exit)) : undefined;
	};
	const look = async (questions: readonly LinkQuestion[]) => questions.map(answer);
	const read = async () => ({ bytes: Buffer.from(META), size: META.length });
	return { watch, look, read, facts: { helper: "perl" } } as unknown as Link;
}

test("a process that ends between the two halves of a look is never taken for one without an end", async () => {
	const seen = await new Looker().look(
		linkOf([
			{ exit: "", log: "", alive: [], exitThen: "exit 3 -" },
			{ exit: "exit 3 -", log: "ok\n", alive: [] },
		]),
		wanted,
		"/d",
	);
	expect(seen.records.get("exit")?.bytes.toString()).toBe(record("exit 3 -"));
	expect(seen.bytes.toString()).toBe("ok\n");
});

test("a dd that sleeps says that all is in the log if it was there before the log was looked at", async () => {
	const looker = new Looker();
	const alive = [10, 11, 12];
	const link = linkOf([
		{ exit: "", log: "a", alive, copier: 20 },
		{ exit: "exit 0 -", log: "a", alive, copier: 21 }, // another, which may write to another segment
		{ exit: "exit 0 -", log: "ab", alive, copier: 21 },
	]);
	const drained = [];
	for (let n = 0; n < 3; n++) drained.push((await looker.look(link, wanted, "/d")).drained);
	expect(drained).toEqual([false, false, true]);
});

test("a collector that goes during a look may have written since the log was looked at", async () => {
	const looker = new Looker();
	const link = linkOf([
		{ exit: "exit 0 -", log: undefined, alive: [] },
		{ exit: "exit 0 -", log: "ok\n", alive: [] },
	]);
	expect(await looker.look(link, wanted, "/d")).toMatchObject({ drained: false, segments: [] });
	const then = await looker.look(link, wanted, "/d");
	expect(then).toMatchObject({ drained: true });
	expect(then.bytes.toString()).toBe("ok\n");
});

test("every process named in the replica was looked for", async () => {
	const seen = await new Looker().look(linkOf([{ exit: "", log: "", alive: [10, 11, 12] }]), wanted, "/d");
	expect(seen.records.get("meta")?.bytes.toString()).toBe(META);
	expect(seen.alive).toEqual(["10 100", "11 110", "12 120"]);
});

test("a look at a command of a shell says whether that is dead, seen before its record of an end", async () => {
	const shell = { pid: 30, start: "300" };
	const look = (...moments: Moment[]) => new Looker().look(linkOf(moments), { ...wanted, shell }, "/d");
	const alive = [10, 11, 12];
	expect(await look({ exit: "", log: "", alive: [...alive, 30] })).toMatchObject({ dead: [] });
	expect(await look({ exit: "", log: "", alive })).toMatchObject({ dead: ["30 300"] });
	const late = await look({ exit: "", log: "", alive, exitThen: "exit 7 -" }, { exit: "exit 7 -", log: "", alive });
	expect(late.records.get("exit")?.bytes.toString()).toBe(record("exit 7 -"));
});
