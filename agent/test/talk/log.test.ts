import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { type AgentHome, conversationFile, openAgentHome } from "../../src/base/index.js";
import { admit, type EntryBody, follow, Inbox, Log } from "../../src/talk/index.js";
import { tempHome } from "../support/dirs.js";
import { type Program, startProgram } from "../support/program.js";
import { smallDisk } from "../support/small-disk.js";

const BY = { platform: "test", person: "p" };
const START = { task: "t", place: "local", model: "m" };
const user = (id: string, text = `said ${id}`): EntryBody => ({ t: "user", id, text, by: BY });
const calls = (...ids: string[]): EntryBody => ({
	t: "assistant",
	text: "",
	calls: ids.map((id) => ({ id, name: "terminal", args: "{}" })),
	stop: "calls",
	model: "m",
});
const result = (call: string, text = "done"): EntryBody => ({ t: "result", call, text, failed: false, how: "ran" });
const answer = (text = "well"): EntryBody => ({ t: "assistant", text, calls: [], stop: "done", model: "m" });

async function begun(home: AgentHome, ...lines: readonly EntryBody[]): Promise<Log> {
	const log = await Log.begin(home, START);
	for (const line of lines) await log.append(line);
	return log;
}

async function writer(home: AgentHome): Promise<Program & { tell(text: string): Promise<string> }> {
	const program = startProgram(path.join(import.meta.dirname, "fixtures/writer.mjs"), [home.root]);
	expect(await program.line()).toBe("ready");
	return Object.assign(program, {
		tell: (text: string) => {
			program.say(text);
			return program.line();
		},
	});
}

it("appends lines with number and time, and another program reads them at any moment", async () => {
	const home = tempHome();
	await using log = await begun(home, user("m1"), calls("c1"));
	expect(log.id).toMatch(/^\d{8}_\d{6}_[0-9a-f]{6}$/);
	const read = Log.read(home, log.id);
	expect(read.entries).toEqual(log.entries);
	expect(read.entries.map(({ n, t }) => [n, t])).toEqual([
		[0, "begun"],
		[1, "user"],
		[2, "assistant"],
	]);
	expect(read.openCalls.map(({ id }) => id)).toEqual(["c1"]);
	expect(fs.statSync(log.file).mode & 0o777).toBe(0o600);
	await log.append(result("c1"));
	read.refresh();
	expect(read.openCalls).toEqual([]);
	expect(read.answerable).toBe(true);
});

it("refuses every line that must not come next, and writes nothing of it", async () => {
	const home = tempHome();
	await using log = await begun(home, user("m1"), calls("c1", "c2"));
	const refused = async (body: EntryBody, why: RegExp) => {
		const before = fs.readFileSync(log.file, "utf8");
		await expect(log.append(body)).rejects.toMatchObject({ code: "SEQUENCE", message: expect.stringMatching(why) });
		expect(fs.readFileSync(log.file, "utf8")).toBe(before);
	};
	for (const body of [
		user("m2"),
		{ t: "notice", id: "n", text: "x" },
		answer(),
		{ t: "note", text: "x" },
		{ t: "partial", text: "x", why: "cut" },
		{ t: "undone", from: 1 },
		{ t: "summary", upto: 1, text: "x", before: 1, after: 1 },
		{ t: "ended", why: "x" },
	] as const)
		await refused(body as EntryBody, /the call c1 has no result yet/);
	await refused(result("c2"), /the result of c1 comes next/);
	await log.append({ t: "set", title: "may come at any time" });
	await log.append(result("c1"));
	await log.append(result("c2"));
	await refused(result("c2"), /no call is open/);
	await refused(calls("c1"), /the id c1 was used/);
	await refused(calls("c3", "c3"), /the id c3 was used/);
	await refused(calls(""), /no id/);
	await refused(answer("  "), /empty/);
	await refused({ ...(user("m2") as object), text: " \n" } as EntryBody, /empty/);
	await refused({ t: "summary", upto: 2, text: "x", before: 1, after: 1 }, /between a call and its result/);
	await refused({ t: "summary", upto: 99, text: "x", before: 1, after: 1 }, /no line 99/);
	await refused({ t: "undone", from: 2 }, /no message of a person/);
	await log.append(answer());
	await refused(answer(), /nothing that it could be an answer to/);
	await refused({ t: "partial", text: "x", why: "cut" }, /nothing that it could be/);
	await log.append({ t: "summary", upto: 5, text: "all of it", before: 10, after: 1 });
	await refused({ t: "summary", upto: 1, text: "x", before: 1, after: 1 }, /goes further/);
	await refused({ t: "undone", from: 1 }, /in a summary/);
	await refused({ t: "begun", v: 1, id: log.id, ...START }, /has begun/);
});

it("a message whose id is there is not written again", async () => {
	await using log = await begun(tempHome(), user("m1", "first"));
	expect(await log.append(user("m1", "second"))).toMatchObject({ n: 1, text: "first" });
	expect(log.entries).toHaveLength(2);
});

it("a torn last line is cut off when it is opened, whatever byte it was torn at, and the calls before it are open", async () => {
	const home = tempHome();
	const log = await begun(home, user("m1"), calls("c1"), result("c1"));
	await log.leave();
	const whole = fs.readFileSync(log.file);
	const start = whole.lastIndexOf(10, whole.length - 2) + 1;
	for (let size = start + 1; size < whole.length; size += 7) {
		fs.writeFileSync(log.file, whole.subarray(0, size));
		await using opened = await Log.open(home, log.id);
		expect(opened.openCalls.map(({ id }) => id)).toEqual(["c1"]);
		expect(fs.statSync(log.file).size).toBe(start);
		await opened.append(result("c1"));
	}
	expect(fs.readFileSync(`${log.file}.cut`, "utf8")).toContain('"n":3');
});

it("a damaged line in the middle is named, and the file is left as it is", async () => {
	const home = tempHome();
	const log = await begun(home, user("m1"), answer(), user("m2"));
	await log.leave();
	const lines = fs.readFileSync(log.file, "utf8").split("\n");
	const damaged = (change: (lines: string[]) => void) => {
		const copy = [...lines];
		change(copy);
		fs.writeFileSync(log.file, copy.join("\n"));
		return expect(Log.open(home, log.id)).rejects;
	};
	const broken = (line: number, why: RegExp) => ({ code: "BROKEN", message: expect.stringMatching(new RegExp(`line ${line} of ${log.file}.*${why.source}`)) });
	await damaged((copy) => (copy[1] = copy[1]?.slice(0, 20) ?? "")).toMatchObject(broken(2, /damaged/));
	await damaged((copy) => copy.splice(1, 1)).toMatchObject(broken(2, /it has the number 2/));
	await damaged((copy) => (copy[2] = copy[2]?.replace('"well"', "7") ?? "")).toMatchObject(broken(3, /text is not what a line "assistant" has/));
	await damaged((copy) => (copy[2] = copy[2]?.replace('"assistant"', '"dream"') ?? "")).toMatchObject(broken(3, /"dream" is no kind of line/));
	await damaged((copy) => (copy[2] = copy[2]?.replace('"assistant"', '"constructor"') ?? "")).toMatchObject(broken(3, /"constructor" is no kind of line/));
	await damaged((copy) => (copy[2] = copy[2]?.replace('"calls":[]', '"calls":[{"id":7}]') ?? "")).toMatchObject(broken(3, /calls is not what/));
	await damaged((copy) => (copy[0] = copy[0]?.replace('"v":1', '"v":2') ?? "")).toMatchObject(broken(1, /later version/));
	await damaged((copy) => (copy[0] = copy[0]?.replace(log.id, "20200101_000000_000000") ?? "")).toMatchObject(broken(1, /of conversation 20200101/));
	await damaged((copy) => (copy[2] = copy[2]?.replace('"well"', '" "') ?? "")).toMatchObject(broken(3, /the answer is empty/));
	expect(fs.readFileSync(log.file, "utf8")).toContain('" "');
});

it("what is not a conversation is not found", async () => {
	const home = tempHome();
	for (const id of ["20200101_000000_000000", "../../etc/passwd", ""]) await expect(Log.open(home, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
	expect(fs.readdirSync(home.conversations)).toEqual([]);
	fs.writeFileSync(conversationFile(home, "20200101_000000_000000"), '{"t":"beg');
	await expect(Log.open(home, "20200101_000000_000000")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

it("a second program is refused while the first has its turn, goes on from it afterwards, and the first goes on from that", async () => {
	const home = tempHome();
	const other = await writer(home);
	const id = await other.tell("begin");
	await other.tell("say one");
	await expect(Log.open(home, id)).rejects.toMatchObject({ code: "BUSY", message: expect.stringContaining(`writer (pid ${other.pid})`) });
	expect(await other.tell("leave")).toBe("left");
	await using log = await Log.open(home, id);
	await log.append(answer("two"));
	expect(await other.tell(`open ${id}`)).toContain(`BUSY: conversation ${id} is in use by holdfast-agent (pid ${process.pid})`);
	expect(await other.tell("say three")).toContain("is not held by this program; nothing was written");
	await log.leave();
	await expect(log.append(user("m9"))).rejects.toMatchObject({ code: "BUSY" });
	expect(await other.tell(`open ${id}`)).toBe("3 lines, 0 open");
	await other.tell("say four");
	await other.tell("leave");
	expect(log.take()).toBe(0);
	expect(log.entries.map((entry) => ("text" in entry ? entry.text : entry.t))).toEqual(["begun", "one", "two", "four"]);
});

it("a program whose claim another host has taken over, since it gave no sign of life for too long, writes nothing more", async () => {
	const home = tempHome();
	await using log = await begun(home, user("m1"));
	const [generation = ""] = fs.readdirSync(path.join(home.claims, log.id));
	fs.symlinkSync("1 1 elsewhere 000000000000 gateway", path.join(home.claims, log.id, String(Number(generation) + 1)));
	const before = fs.readFileSync(log.file, "utf8");
	await expect(log.append(answer())).rejects.toMatchObject({ code: "BUSY" });
	expect(log.held).toBe(false);
	expect(fs.readFileSync(log.file, "utf8")).toBe(before);
});

it("the claim of a killed program is taken over, and its open call is there to be settled", async () => {
	const home = tempHome();
	const other = await writer(home);
	const id = await other.tell("begin");
	await other.tell("say one");
	await other.tell("call c1");
	await other.kill();
	await using log = await Log.open(home, id);
	expect(log.openCalls.map((call) => call.id)).toEqual(["c1"]);
	await log.append(result("c1"));
	expect(log.answerable).toBe(true);
});

it("lines are followed as another program appends them, each once, and not before they are whole", async () => {
	const home = tempHome();
	const other = await writer(home);
	const id = await other.tell("begin");
	const stop = new AbortController();
	const seen: string[] = [];
	const following = (async () => {
		for await (const entry of follow(home, id, { from: 1, signal: stop.signal })) {
			seen.push("text" in entry ? entry.text : entry.t);
			if (seen.length === 1) fs.appendFileSync(conversationFile(home, id), '{"n":2,"t":"us'); // what a program in the middle of a write leaves
			if (seen.length === 3) stop.abort();
		}
	})();
	await other.tell("say one");
	await other.kill();
	const next = await writer(home);
	while (seen.length < 1) await new Promise((resolve) => setImmediate(resolve));
	expect(await next.tell(`open ${id}`)).toBe("2 lines, 0 open");
	await next.tell("answer two");
	await next.tell("say three");
	await following;
	expect(seen).toEqual(["one", "two", "three"]);
});

it("on a full disk a line is refused by its code and nothing is torn; when there is room it goes on", async (context) => {
	const disk = smallDisk(context);
	const home = openAgentHome(path.join(disk.dir, "home"));
	const log = await begun(home, user("m1"));
	const inbox = new Inbox(home, "t");
	await inbox.put({ kind: "user", id: "m2", text: "waits", by: BY, mode: "queue" });
	disk.fill(4_096);
	const before = fs.readFileSync(log.file, "utf8");
	await expect(log.append(answer("x".repeat(50_000)))).rejects.toMatchObject({
		code: "NO_SPACE",
		message: expect.stringContaining("the disk is full; free some space"),
	});
	await expect(inbox.put({ kind: "user", id: "m3", text: "x".repeat(50_000), by: BY, mode: "queue" })).rejects.toMatchObject({ code: "NO_SPACE" });
	expect(fs.readFileSync(log.file, "utf8")).toBe(before);
	expect(inbox.waiting().map(({ id }) => id)).toEqual(["m2"]);
	disk.fill();
	await expect(Log.begin(home, START)).rejects.toMatchObject({ code: "NO_SPACE" });
	expect(fs.readdirSync(home.conversations)).toEqual([path.basename(log.file)]);
	disk.empty();
	await log.append(answer());
	expect(await admit(inbox, log)).toMatchObject([{ id: "m2" }]);
	expect(await inbox.put({ kind: "user", id: "m3", text: "again", by: BY, mode: "queue" })).toBe(true);
	await log.leave();
	expect(Log.read(home, log.id).entries).toHaveLength(4);
});

it("a conversation of a thousand turns is opened, followed and continued", async () => {
	const home = tempHome();
	const log = await Log.begin(home, START, { disk: { write: (fd, bytes) => fs.writeSync(fd, bytes), sync: async () => {} } });
	for (let turn = 0; turn < 1_000; turn++)
		for (const line of [user(`m${turn}`), calls(`c${turn}`), result(`c${turn}`, "output ".repeat(100)), answer(`answer ${turn}`)]) await log.append(line);
	await log.leave();
	await using opened = await Log.open(home, log.id);
	expect(opened.entries).toHaveLength(4_001);
	expect(opened.callIds.size).toBe(1_000);
	await opened.append(user("last"));
});
