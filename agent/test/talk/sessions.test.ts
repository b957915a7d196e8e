import fs from "node:fs";
import { expect, it } from "vitest";
import { type AgentHome, conversationFile, inboxFile, sessionLogFile } from "../../src/base/index.js";
import { findSession, Inbox, Log, lastSession, listSessions, pruneSessions, setTitle, writeSessionLog } from "../../src/talk/index.js";
import { tempHome } from "../support/dirs.js";

const BY = { platform: "test", person: "p" };

/** A conversation that was last used at this second. */
async function used(home: AgentHome, second: number, text: string, title?: string, task = "t"): Promise<string> {
	await using log = await Log.begin(home, { task, place: "local", model: "m1" }, { clock: { now: () => Date.UTC(2026, 10, 16) + second * 1_000 } });
	if (text) await log.append({ t: "user", id: `m${second}`, text, by: BY });
	if (title) await setTitle(log, title);
	await log.leave();
	fs.utimesSync(log.file, second, second);
	return log.id;
}

it("lists conversations, the last used first, without those in which nothing was said", async () => {
	const home = tempHome();
	expect(listSessions(home)).toEqual([]);
	expect(lastSession(home)).toBeUndefined();
	const a = await used(home, 1, "first\nmessage \x1b[31m", "deploy page");
	const b = await used(home, 3, "x".repeat(200), undefined, "other");
	await used(home, 9, "");
	expect(listSessions(home)).toMatchObject([
		{ id: b, title: undefined, first: `${"x".repeat(79)}…`, task: "other" },
		{ id: a, title: "deploy page", first: "first message  [31m", messages: 1, model: "m1", place: "local", openCalls: 0, ended: undefined },
	]);
	expect(lastSession(home)?.id).toBe(b);
	expect(lastSession(home, { task: "t" })?.id).toBe(a);
	expect(listSessions(home, { limit: 1 })).toHaveLength(1);
});

it("finds one by id, the beginning or the last digits of it, or its title, and says what fits if that is not clear", async () => {
	const home = tempHome();
	const a = await used(home, 1, "a", "deploy page");
	const b = await used(home, 2, "b", "Deploy Server");
	const c = await used(home, 86_400 * 300, "c");
	expect(findSession(home, a).id).toBe(a);
	expect(findSession(home, c.slice(0, 10)).id).toBe(c);
	expect(findSession(home, c.slice(-6)).id).toBe(c);
	expect(findSession(home, "deploy server").id).toBe(b);
	expect(findSession(home, "page").id).toBe(a);
	expect(() => findSession(home, "deploy")).toThrow(
		expect.objectContaining({ code: "NOT_FOUND", message: expect.stringMatching(/fits 2 conversations: .*"Deploy Server".*"deploy page".*give the whole id/) }),
	);
	expect(() => findSession(home, a.slice(0, 7))).toThrow(/fits 2 conversations/);
	expect(() => findSession(home, "deploy pgae")).toThrow(/did you mean "deploy page"\?/);
	expect(() => findSession(home, "zzz")).toThrow(/`holdfast-agent sessions` lists them/);
	expect(() => findSession(home, " ")).toThrow(expect.objectContaining({ code: "INVALID" }));
});

it("the last title and model count, and a title is one line of words", async () => {
	const home = tempHome();
	const id = await used(home, 1, "a", "one");
	await using log = await Log.open(home, id);
	await setTitle(log, "  two\nlines\t ");
	await log.append({ t: "set", model: "m2", place: "ssh://box" });
	await expect(setTitle(log, " \n")).rejects.toMatchObject({ code: "INVALID" });
	expect(findSession(home, id)).toMatchObject({ title: "two lines", model: "m2", place: "ssh://box" });
});

it("a damaged conversation is listed with what is wrong, and is not what --continue goes on with", async () => {
	const home = tempHome();
	const a = await used(home, 1, "a");
	const b = await used(home, 2, "b");
	fs.writeFileSync(conversationFile(home, b), "{}\n{}\n");
	expect(listSessions(home)).toMatchObject([{ id: b, broken: expect.stringContaining("line 1") }, { id: a }]);
	expect(lastSession(home)?.id).toBe(a);
});

it("removes conversations that are older than is kept, with what was made of them, and none that is in use", async () => {
	const home = tempHome();
	const old = await used(home, 100, "a");
	const busy = await used(home, 200, "b");
	const young = await used(home, 40 * 86_400, "c");
	const spoken = await used(home, 300, "d");
	for (const id of [old, spoken]) await new Inbox(home, id).put({ kind: "user", id: "m9", text: "still there?", by: BY, mode: "queue" });
	fs.utimesSync(inboxFile(home, old), 100, 100);
	await using held = await Log.open(home, busy);
	fs.utimesSync(held.file, 200, 200);
	writeSessionLog(home, Log.read(home, old), { endpoint: "e", toolsets: [], redact: (text) => text });
	fs.mkdirSync(`${home.conversations}/${old}.d`);
	const clock = { now: () => 41 * 86_400_000 };
	expect(pruneSessions(home, 42, clock)).toEqual([]);
	expect(pruneSessions(home, 30, clock)).toEqual([old]);
	expect(listSessions(home).map(({ id }) => id)).toEqual([young, spoken, busy]);
	expect(fs.existsSync(sessionLogFile(home, old))).toBe(false);
	expect(fs.readdirSync(home.conversations).filter((name) => name.startsWith(old))).toEqual([]);
	expect(fs.readdirSync(home.claims).sort()).toEqual([busy, young, spoken, `inbox-${spoken}`].sort());
	expect(fs.readdirSync(home.inbox)).toEqual([`${spoken}.jsonl`]);
});
