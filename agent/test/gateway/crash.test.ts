/** A gateway that is killed. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { calls } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import type { DoubleChats, ShownMessage } from "./double.js";
import { gateProgram, programWorld } from "./support.js";

const promised = (): { promise: Promise<void>; resolve: () => void } => {
	let resolve = (): void => {};
	const promise = new Promise<void>((done) => (resolve = done));
	return { promise, resolve };
};

const lines = (file: string): number => (fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim().split("\n").length : 0);
const shows = (chats: DoubleChats, text: RegExp, chat = "c1"): Promise<void> =>
	until(`${chat} shows ${text}`, () => chats.texts(chat).some((one) => text.test(one)), 60_000).catch((error: Error) => {
		throw new Error(`${error.message}; it shows ${JSON.stringify(chats.texts(chat))}`);
	});

test("a message sent in a turn is answered though the gateway is killed right after it was acknowledged; each is answered once", async () => {
	const hold = promised();
	atEnd(hold.resolve);
	let first = true;
	const world = await programWorld({
		script: async (request) => {
			if (first) {
				first = false;
				await hold.promise;
			}
			return `Heard: ${request.said}`;
		},
	});
	const [chats] = world.platforms as [DoubleChats];
	const one = gateProgram(world);
	await one.ready;
	chats.write("first");
	await world.model.arrived(1);
	chats.write("second");
	await until("both are acknowledged", () => chats.acknowledged === 2);
	await one.kill();
	hold.resolve();
	const two = gateProgram(world);
	await two.ready;
	await shows(chats, /Heard: .*second/);
	// The platform has not had the acknowledgement, and delivers the same message once more.
	chats.again("second", 2);
	chats.write("third");
	await shows(chats, /Heard: third/);
	expect(chats.texts().filter((text) => /second/.test(text))).toHaveLength(1);
	expect(chats.texts()).toHaveLength(2);
	await two.kill("SIGTERM");
});

test("killed while it asks, and while a command runs: the command runs once, its true result is used, one message has the question", async () => {
	const world = await programWorld({
		script: (request) => {
			if (request.said === "go on") return /\bfinished\b/.test(JSON.stringify(request.body)) ? "Went on." : "Lost.";
			const go = path.join(world.dir, "go");
			return calls([
				"terminal",
				{ command: `echo ran >> ${world.dir}/ran; until [ -e ${go} ]; do sleep 0.05; done; echo finished; git push --force origin main` },
			]);
		},
	});
	const [chats] = world.platforms as [DoubleChats];
	const questions = (): ShownMessage[] => chats.in().filter(({ id }) => /^appr_[0-9a-f]+$/.test(id));
	const one = gateProgram(world);
	await one.ready;
	chats.write("push it");
	await until("the question is shown", () => questions().length === 1, 60_000);
	await one.kill();
	chats.tap(questions()[0] as ShownMessage, "Once");
	const two = gateProgram(world);
	await two.ready;
	await until("it runs", () => lines(`${world.dir}/ran`) === 1, 60_000);
	await two.kill();
	fs.writeFileSync(path.join(world.dir, "go"), "");
	const three = gateProgram(world);
	await three.ready;
	// The same step was cut short twice, so the person is asked; nothing is lost, and nothing is done again.
	await shows(chats, /was cut short twice/);
	chats.write("go on");
	await shows(chats, /^Went on\.$/);
	expect(lines(`${world.dir}/ran`)).toBe(1);
	expect(questions()).toHaveLength(1);
	await until("the buttons are gone", () => questions()[0]?.buttons.length === 0);
	await three.kill("SIGTERM");
});

test("TERM and KILL to the gateway alone leave processes running; one that ends meanwhile is told once, in the right chat; a second gateway ends with 78", async () => {
	const world = await programWorld({
		script: (request) => {
			if (/proc_\w+.* ended after/.test(request.said)) return "The build is over.";
			if (/and\?/.test(request.said)) return "Nothing else."; // without a build of its own, of which it would be told
			if (request.results.length > 0) return "Started.";
			return calls(["terminal", { command: `until [ -e ${world.dir}/go ]; do sleep 0.05; done; echo built`, background: true, notify_on_complete: true }]);
		},
	});
	const [chats] = world.platforms as [DoubleChats];
	const one = gateProgram(world);
	await one.ready;
	chats.write("build", { chat: "c7" });
	await shows(chats, /^Started\.$/, "c7");
	const other = gateProgram(world);
	expect(await other.ended).toBe(78);
	expect(other.said()).toContain(`tele is in use by gateway (pid ${one.pid})`);
	expect(await one.kill("SIGTERM")).toBe(0);
	const two = gateProgram(world);
	await two.ready;
	await two.kill();
	fs.writeFileSync(path.join(world.dir, "go"), "");
	const three = gateProgram(world);
	await three.ready;
	await shows(chats, /^The build is over\.$/, "c7");
	await shows(chats, /ended after .*with exit code 0/, "c7");
	await three.kill();
	const four = gateProgram(world);
	await four.ready;
	chats.write("and?", { chat: "c8" });
	await shows(chats, /^Nothing else\.$/, "c8");
	expect(chats.texts("c7").filter((text) => text === "The build is over.")).toHaveLength(1);
	expect(chats.texts("c7").filter((text) => /ended after/.test(text))).toHaveLength(1);
	expect(chats.texts("c8").some((text) => /build is over/.test(text))).toBe(false);
	await four.kill("SIGTERM");
});
