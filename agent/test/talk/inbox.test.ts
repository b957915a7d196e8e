import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { AgentHome } from "../../src/base/index.js";
import { admit, Inbox, type InboxItem, Log } from "../../src/talk/index.js";
import { tempHome, until } from "../support/dirs.js";
import { startProgram } from "../support/program.js";

const BY = { platform: "test", person: "p" };
const item = (id: string, text = `said ${id}`): InboxItem => ({ kind: "user", id, text, by: BY, mode: "queue" });
const ids = (inbox: Inbox): string[] => inbox.waiting().map(({ id }) => id);
const begin = (home: AgentHome) => Log.begin(home, { task: "t", place: "local", model: "m" });

it("what was accepted is on the disk for another program, in the order it came, with all that was said about it", async () => {
	const home = tempHome();
	const inbox = new Inbox(home, "20261118_120000_aaaaaa", { clock: { now: () => 1_000 } });
	const full: InboxItem = {
		kind: "user",
		id: "telegram/bot/812",
		text: "hi\n🙂",
		by: { ...BY, name: "Jo", message: "812" },
		files: [{ name: "a", path: "/a", bytes: 1 }],
		mode: "steer",
	};
	expect(await inbox.put(full)).toBe(true);
	expect(await inbox.put({ kind: "notice", id: "proc_1-completed", text: "done" })).toBe(true);
	const at = "1970-01-01T00:00:01.000Z";
	const all = [
		{ ...full, at },
		{ kind: "notice", id: "proc_1-completed", text: "done", at },
	];
	expect(new Inbox(home, "20261118_120000_aaaaaa").waiting()).toEqual(all);
	await new Inbox(home, "20261118_120000_aaaaaa", { clock: { now: () => 2_000 }, rewriteBytes: 1 }).put(item("m1"));
	expect(fs.readFileSync(inbox.file, "utf8")).toMatch(/^\{"t":"known"/); // written anew, and the times are as they were
	expect(inbox.waiting()).toEqual([...all, { ...item("m1"), at: "1970-01-01T00:00:02.000Z" }]);
	expect(new Inbox(home, "20261118_120000_bbbbbb").waiting()).toEqual([]);
	expect(path.basename(inbox.file)).toBe("20261118_120000_aaaaaa.jsonl");
	expect(fs.statSync(inbox.file).mode & 0o777).toBe(0o600);
});

it("an id is accepted once, also after its message has left and after a restart", async () => {
	const home = tempHome();
	const inbox = new Inbox(home, "t");
	await using log = await begin(home);
	expect(await inbox.put(item("m1"))).toBe(true);
	expect(await inbox.put(item("m1", "again"))).toBe(false);
	await admit(inbox, log);
	expect(await new Inbox(home, "t").put(item("m1", "again"))).toBe(false);
	expect(await inbox.takeBack("m1")).toBeUndefined();
	expect(log.entries.filter(({ t }) => t === "user")).toHaveLength(1);
});

it("a message that waits is taken back by one of those who try", async () => {
	const home = tempHome();
	const [one, two] = [new Inbox(home, "t"), new Inbox(home, "t")];
	await one.put(item("m1"));
	await one.put(item("m2"));
	const taken = await Promise.all([one.takeBack("m1"), two.takeBack("m1")]);
	expect(taken.filter((found) => found !== undefined)).toEqual([expect.objectContaining(item("m1"))]);
	expect(ids(two)).toEqual(["m2"]);
});

it("nothing is empty, and nothing is moved while a call is open", async () => {
	const home = tempHome();
	const inbox = new Inbox(home, "t");
	await using log = await begin(home);
	await expect(inbox.put(item("m1", " \n "))).rejects.toMatchObject({ code: "INVALID" });
	await log.append({ t: "user", id: "m0", text: "go", by: BY });
	await log.append({ t: "assistant", text: "", calls: [{ id: "c1", name: "terminal", args: "{}" }], stop: "calls", model: "m" });
	await inbox.put(item("m2"));
	expect(await admit(inbox, log)).toEqual([]);
	expect(ids(inbox)).toEqual(["m2"]);
	await log.append({ t: "result", call: "c1", text: "", failed: false, how: "ran" });
	expect(await admit(inbox, log)).toMatchObject([{ t: "user", id: "m2" }]);
	expect(ids(inbox)).toEqual([]);
});

it("only those that are asked for are moved; the others keep waiting", async () => {
	const home = tempHome();
	const inbox = new Inbox(home, "t");
	await using log = await begin(home);
	for (const id of ["m1", "m2", "m3"]) await inbox.put(item(id));
	expect(await admit(inbox, log, ({ id }) => id === "m2")).toMatchObject([{ id: "m2" }]);
	expect(ids(inbox)).toEqual(["m1", "m3"]);
});

it("a program killed between the two files leaves the message in both, and it is said once", async () => {
	const home = tempHome();
	const inbox = new Inbox(home, "t");
	await using log = await begin(home);
	await inbox.put(item("m1"));
	await log.append({ t: "user", id: "m1", text: "said m1", by: BY });
	expect(ids(inbox)).toEqual(["m1"]);
	expect(await admit(inbox, log)).toEqual([]);
	expect(ids(inbox)).toEqual([]);
	expect(log.entries.filter(({ t }) => t === "user")).toHaveLength(1);
});

it("if one cannot be said, it and those behind it stay", async () => {
	const home = tempHome();
	const inbox = new Inbox(home, "t");
	for (const id of ["m1", "m2", "m3"]) await inbox.put(item(id));
	const said: string[] = [];
	const move = inbox.move(
		() => true,
		async ({ id }) => {
			if (id === "m2") throw new Error("no");
			said.push(id);
		},
	);
	await expect(move).rejects.toThrow("no");
	expect([said, ids(inbox)]).toEqual([["m1"], ["m2", "m3"]]);
});

it("is written anew when it has grown, without what has left, and still knows the ids", async () => {
	const home = tempHome();
	const inbox = new Inbox(home, "t", { rewriteBytes: 5_000 });
	await using log = await begin(home);
	for (let n = 0; n < 60; n++) {
		await inbox.put(item(`m${n}`, "x".repeat(200)));
		if (n < 55) await admit(inbox, log);
	}
	expect(fs.statSync(inbox.file).size).toBeLessThan(10_000);
	const reader = new Inbox(home, "t");
	expect(ids(reader)).toEqual(["m55", "m56", "m57", "m58", "m59"]);
	for (let n = 0; n < 60; n++) expect(await reader.put(item(`m${n}`))).toBe(false);
});

it("a reader notices that it was written anew, however often, also where the file system uses an inode again", async () => {
	const home = tempHome();
	const writer = new Inbox(home, "t", { rewriteBytes: 600 });
	const reader = new Inbox(home, "t");
	await using log = await begin(home);
	for (let n = 0; n < 40; n++) {
		await writer.put(item(`m${n}`, "x".repeat(n % 7 === 0 ? 300 : 10)));
		if (n % 3 === 0) expect(ids(reader)).toEqual(ids(writer));
		if (n % 2 === 0) await admit(writer, log, ({ id }) => id !== "m1");
	}
	expect(ids(reader)).toEqual(["m1", "m39"]);
});

it("a message of megabytes is accepted, and the file is not written anew for every one that follows", async () => {
	const home = tempHome();
	const inbox = new Inbox(home, "t");
	await inbox.put(item("big", "x".repeat(10_000_000)));
	const { ino } = fs.statSync(inbox.file);
	for (let n = 0; n < 5; n++) await inbox.put(item(`m${n}`));
	expect(fs.statSync(inbox.file).ino).toBe(ino);
	expect(ids(new Inbox(home, "t"))).toEqual(["big", "m0", "m1", "m2", "m3", "m4"]);
});

it("many programs put at once and none loses a message, also while it is written anew", async () => {
	const home = tempHome();
	const writers = Array.from({ length: 3 }, () => startProgram(path.join(import.meta.dirname, "fixtures/writer.mjs"), [home.root]));
	for (const writer of writers) await writer.line();
	const mine = new Inbox(home, "t", { rewriteBytes: 500 });
	await using log = await begin(home);
	for (const writer of writers) writer.say("puts 30");
	const done = Promise.all(writers.map((writer) => writer.line()));
	let over = false;
	void done.then(() => (over = true));
	while (!over) await admit(mine, log);
	expect(await done).toEqual(["put", "put", "put"]);
	await admit(mine, log);
	const said = log.entries.flatMap((entry) => (entry.t === "user" ? [entry.text] : []));
	expect(new Set(said).size).toBe(90);
	for (const { pid } of writers) expect(said.filter((text) => text.startsWith(`${pid} `))).toEqual(Array.from({ length: 30 }, (_, n) => `${pid} ${n}`));
});

it("tells when another program has put something in", async () => {
	const home = tempHome();
	const inbox = new Inbox(home, "t");
	let woken = 0;
	const stop = inbox.watch(() => woken++);
	const other = startProgram(path.join(import.meta.dirname, "fixtures/writer.mjs"), [home.root]);
	await other.line();
	other.say("put hello");
	expect(await other.line()).toBe("true");
	await until("it is told", () => woken > 0 && ids(inbox).length === 1);
	stop();
});

it("a torn line was never accepted; a damaged one is named", async () => {
	const home = tempHome();
	const inbox = new Inbox(home, "t");
	await inbox.put(item("m1"));
	fs.appendFileSync(inbox.file, '{"t":"put","id":"m2","te');
	expect(ids(new Inbox(home, "t"))).toEqual(["m1"]);
	expect(await inbox.put(item("m2"))).toBe(true);
	expect(ids(new Inbox(home, "t"))).toEqual(["m1", "m2"]);
	fs.appendFileSync(inbox.file, '{"t":"put"}\n');
	expect(() => new Inbox(home, "t").waiting()).toThrow(expect.objectContaining({ code: "BROKEN", message: expect.stringContaining('{"t":"put"}') }));
});
