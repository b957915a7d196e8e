/** Delivery to one target: tries, pauses, limits. */
import { expect, test } from "vitest";
import type { NotifyTarget } from "../../src/base/index.js";
import { type Report, TargetLine } from "../../src/push/line.js";
import type { PushMessage } from "../../src/push/message.js";
import { atEnd, tempDir, until } from "../support/home.js";
import { ntfyDouble, receiver } from "./support.js";

const message = (title = "hello", more: Partial<PushMessage> = {}): PushMessage => ({
	v: 1,
	kind: "end",
	at: "",
	task: "t",
	title,
	text: "x",
	url: "http://localhost/",
	...more,
});

function line(
	target: NotifyTarget,
	times = { timeoutMs: 30_000, pausesMs: [1, 1], waitingMs: 0 },
): { line: TargetLine; reports: (Parameters<Report>[1] | undefined)[] } {
	const closing = new AbortController();
	const reports: Parameters<Report>[1][] = [];
	const made = new TargetLine(target, { times, report: (_, failing) => void reports.push(failing), closing: closing.signal });
	atEnd(async () => {
		closing.abort();
		await made.idle();
	});
	return { line: made, reports };
}

const hookTo = (url: string): NotifyTarget => ({ kind: "webhook", name: "hook", on: ["end"], url });

test("what may pass is tried again, what cannot is not; a redirect is not followed", async () => {
	for (const [statuses, tries, reported] of [
		[[500, 503, 200], 3, undefined],
		[[500, 429, 500], 3, { error: "it answered 500", lost: 1 }],
		[[404], 1, { error: "it answered 404", lost: 1 }],
		[[302, 200], 1, { error: "it answered 302, a redirect, which is not followed", lost: 1 }],
	] as const) {
		const { url, received } = await receiver((_, number) => statuses[number - 1]);
		const { line: one, reports } = line(hookTo(url));
		one.add(message());
		await one.idle();
		expect([received.length, reports]).toEqual([tries, [reported]]);
	}
});

test("a target that is not there, and one that hangs, lose what is too much for the line and say so; then it works again", async () => {
	const nowhere = line(hookTo("http://127.0.0.1:1"));
	nowhere.line.add(message());
	await nowhere.line.idle();
	expect(nowhere.reports).toEqual([{ error: expect.stringContaining("cannot reach it ("), lost: 1 }]);

	let hangs = true;
	const { url, received } = await receiver(() => (hangs ? undefined : 200));
	const hung = line(hookTo(url), { timeoutMs: 4_000, pausesMs: [], waitingMs: 0 });
	for (let number = 0; number <= 150; number++) hung.line.add(message(`${number}`)); // one is under way, 100 wait, 50 are lost
	await until("the first has come", () => received.length === 1);
	hangs = false;
	await hung.line.idle();
	expect(hung.reports.slice(0, 2)).toEqual([{ error: "no answer within 4 s", lost: 51 }, undefined]);
	expect(received.map(({ body }) => JSON.parse(body).title)).toEqual(["0", ...Array.from({ length: 100 }, (_, at) => `${at + 51}`)]);
});

test("a question that has expired is not sent any more", async () => {
	const { url, received } = await receiver(() => 200);
	const { line: one, reports } = line(hookTo(url));
	one.add(message("late", { expires_at: new Date(Date.now() - 1).toISOString() }));
	await one.idle();
	expect([received, reports]).toEqual([[], [{ error: "it was not reached before the question expired", lost: 1 }]]);
});

test("a command that fails, hangs or is not there is said; what it has started ends with it", async () => {
	const dir = tempDir();
	for (const [command, timeoutMs, error] of [
		[["/bin/sh", "-c", "echo no bell >&2; exit 3"], 30_000, "/bin/sh exited with 3: no bell"],
		[["/bin/sh", "-c", "sleep 300 & sleep 300"], 500, "no answer within 0.5 s"],
		[[`${dir}/none`], 30_000, expect.stringContaining(`${dir}/none cannot be started`)],
	] as const) {
		const { line: one, reports } = line({ kind: "command", name: "desk", on: ["end"], command: [...command] }, { timeoutMs, pausesMs: [], waitingMs: 0 });
		one.add(message("$(touch x) `touch y`"));
		await one.idle();
		expect(reports).toEqual([{ error, lost: 1 }]);
	}
});

test("a title of any language reaches ntfy", async () => {
	const ntfy = await ntfyDouble("topic");
	const { line: one } = line({ kind: "ntfy", name: "phone", on: ["end"], url: ntfy.url });
	one.add(message("構築 ✓: done, with; signs"));
	await one.idle();
	expect(ntfy).toMatchObject({ refused: [], messages: [{ title: "構築 ✓: done, with; signs", actions: [] }] });
});
