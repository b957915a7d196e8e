/** What goes wrong, and news of processes, files, progress. */
import fs from "node:fs";
import path from "node:path";
import { FakeClock } from "holdfast/testing";
import { expect, test } from "vitest";
import { calls } from "../model-server/index.js";
import { until } from "../support/dirs.js";
import { smallDisk } from "../support/small-disk.js";
import { gateWorld } from "./support.js";

test("news: updates and ends come once, batched, by the mode of the chat; the model is told in any case", async () => {
	const world = await gateWorld({
		gateway: { news: "error" },
		script: (request) => {
			if (/ended after/.test(request.said)) return "Noted.";
			if (request.results.length > 0) return "Started.";
			const [, code] = /exit (\d)/.exec(request.said) ?? [];
			return calls(["terminal", { command: `echo last line; exit ${code}`, background: true, notify_on_complete: true }]);
		},
	});
	await world.start();
	world.chats.write("exit 0");
	await world.shows("Noted.");
	world.chats.write("/news");
	await world.shows(/News of background processes: error/);
	expect(world.chats.texts().some((text) => text.startsWith("▸"))).toBe(false);
	world.chats.write("exit 3", { chat: "c2" });
	await world.shows(/^▸ [\s\S]*exit code 3[\s\S]*last line/, "c2");
	expect(world.chats.in("c2").find(({ text }) => text.startsWith("▸"))?.rings).toBe(false);
	world.chats.write("/news off", { chat: "c2" });
	await world.shows("News of background processes: off.", "c2");
});

test("check_interval reaches the chat that asked, once, also what was printed while no gateway ran", async () => {
	const clock = new FakeClock();
	const world = await gateWorld({
		noticeClock: clock,
		gateway: { news: "all" },
		script: (request) => {
			if (/still runs/.test(request.said)) return "Noted.";
			if (request.results.length > 0) return "Started.";
			const command = "echo one; until [ -e go ]; do sleep 0.05; done; echo two; exec sleep 600";
			return calls(["terminal", { command, background: true, check_interval: 30 }]);
		},
	});
	const told = (): string[] => world.chats.texts("c4").filter((text) => text.startsWith("▸"));
	const printed = (word: string): Promise<void> =>
		until(`it has printed ${word}`, () => world.runtime.list({ task: "agent/tele/direct/c4" }).some((one) => one.read(0).bytes.includes(word)));
	const first = await world.start();
	world.chats.write("build", { chat: "c4" });
	await world.shows("Started.", "c4");
	await printed("one");
	clock.pass(30_000);
	await world.shows(/^▸ [^\n]*still runs[\s\S]*one/, "c4");
	await first.stop();
	fs.writeFileSync(path.join(world.dir, "work", "go"), "");
	await printed("two");
	clock.pass(30_000);
	await world.start();
	await until("it is told", () => told().length === 2);
	expect(told()[1]).toMatch(/still runs[\s\S]*two/);
	expect(world.chats.texts("c1")).toEqual([]);
});

test("files come in under a name that is safe, and go out once; one that is too large is named", async () => {
	const world = await gateWorld({
		gateway: { fileBytes: 100 },
		script: (request) => {
			if (request.results.some(({ text }) => /on its way/.test(text))) return "Sent.";
			const [, file] = /(\/\S+\/x)\b/.exec(request.said) ?? [];
			return file === undefined
				? "No file."
				: calls(["terminal", { command: `tr a-z A-Z < ${file} > back.txt` }], ["send_file", { path: "back.txt", text: "In capitals" }]);
		},
	});
	await world.start();
	const content = (text: string): string => Buffer.from(text).toString("base64");
	world.chats.write("shout", {
		files: [
			{ name: "../../x", content: content("hello\n") },
			{ name: "big.bin", content: content("x".repeat(101)), size: 101 },
		],
	});
	await world.shows("Sent.");
	expect(world.model.requests[0]?.said).toMatch(/The file big\.bin was not taken: it has 101 bytes, and 100 are allowed/);
	const [file] = world.chats.in().filter((one) => one.file);
	expect(file).toMatchObject({ text: "In capitals", file: { name: "back.txt", content: content("HELLO\n") } });
});

test("a long answer comes in parts in their order, a very long one as a file; 100 KB from a person are taken", async () => {
	const parts = `${"A sentence of the answer. ".repeat(300)}`;
	const world = await gateWorld({ script: [parts, "y".repeat(60_000), "ok"] });
	await world.start();
	world.chats.write("long");
	await until("all parts are there", () => world.chats.in().length === 2, 30_000);
	expect(world.chats.in().map(({ rings }) => rings)).toEqual([true, false]);
	world.chats.write("longer", { chat: "c2" });
	await until("the file is there", () => world.chats.in("c2").some(({ file }) => file?.name === "answer.md"), 30_000);
	expect(world.chats.in("c2")).toHaveLength(2);
	world.chats.write("z".repeat(100_000), { chat: "c3" });
	await world.shows("ok", "c3");
	expect(world.model.requests[2]?.said).toHaveLength(100_000);
});

test("a full disk: a message is not acknowledged, that is said once, and it is answered when there is room", async (context) => {
	const disk = smallDisk(context);
	const world = await gateWorld({ script: ["Hello.", "Back again."] });
	fs.rmSync(path.join(world.home.root, "inbox"), { recursive: true });
	fs.mkdirSync(path.join(disk.dir, "inbox"));
	fs.symlinkSync(path.join(disk.dir, "inbox"), path.join(world.home.root, "inbox"));
	const gateway = await world.start();
	world.chats.write("hi");
	await world.shows("Hello.");
	await until("it was acknowledged", () => world.chats.acknowledged === 1);
	disk.fill();
	world.chats.write("x".repeat(20_000));
	await world.shows(/^Your message was not taken/);
	await until("it is tried again", () => gateway.hall.counters.get("unstored") > 3, 30_000);
	expect(world.chats.acknowledged).toBe(1);
	expect(world.chats.texts().filter((text) => text.startsWith("Your message was not taken"))).toHaveLength(1);
	disk.empty();
	await world.shows("Back again.");
	await until("it was acknowledged", () => world.chats.acknowledged === 2);
	expect(world.model.requests).toHaveLength(2);
	await gateway.stop();
});

test("a token that is revoked in the middle ends that platform with words, and no other; a blocked chat stops nothing", async () => {
	const world = await gateWorld({
		platforms: ["tele", "other"],
		gateway: { people: { "tele/jo": "admin", "other/jo": "admin" } },
		script: (request) => `Answer to ${request.said}`,
	});
	const gateway = await world.start();
	const other = world.double.platform("other");
	world.chats.gone.add("c5");
	world.chats.write("blocked", { chat: "c5" });
	world.chats.write("one");
	await world.shows("Answer to one");
	await until("it was given up", () => gateway.hall.counters.get("refused") === 1);
	world.chats.broken = { kind: "key" };
	world.chats.write("two");
	await until("it is said", () => world.problems.some((text) => /tele has ended: the double says key; run `holdfast-agent setup platform`/.test(text)), 30_000);
	other.write("three");
	await world.shows("Answer to three", "c1", other);
	expect(gateway.status.platforms.map(({ name, up }) => [name, up])).toEqual([
		["tele", false],
		["other", true],
	]);
});

test("progress is one silent message, which says in the end that it is over", async () => {
	const world = await gateWorld({
		script: (request) => (request.results.length === 0 ? calls(["terminal", { command: "until [ -e go ]; do sleep 0.05; done" }]) : "Done."),
	});
	await world.start();
	world.chats.write("wait");
	await until("progress is shown", () => world.chats.messages.some(({ id, text }) => id.startsWith("prog_") && /\$ until /.test(text)), 30_000);
	fs.writeFileSync(path.join(world.dir, "work", "go"), "");
	await world.shows("Done.");
	const progress = (): (typeof world.chats.messages)[number][] => world.chats.messages.filter(({ id }) => id.startsWith("prog_"));
	await until("it says that it is over", () => /^✓ 1 step/.test(progress()[0]?.text ?? ""), 30_000);
	expect(progress().map(({ rings }) => rings)).toEqual([false]);
	expect(world.chats.typings).toBeGreaterThan(0);
});
