/** 200 SIGKILLs of a gateway in full traffic on three platforms at once (KILLS=n for fewer): what people said is answered once, what was called ran once. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { calls, type SeenRequest, type Step } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { randomFrom, seedOf } from "../support/seed.js";
import type { DoubleChats } from "./double.js";
import { gateProgram, programWorld } from "./support.js";

const KILLS = Number(process.env.KILLS ?? 200);
const CHATS = ["c1", "c2", "c3", "c4"];
const PLATFORMS = [
	{ name: "exactly", traits: { certainty: "exact" } },
	{ name: "looked", traits: { certainty: "lookup" } },
	{ name: "filled", traits: { certainty: "fill" } },
] as const;

const numbersIn = (text: string, word: string): number[] => [...text.matchAll(new RegExp(`${word} (\\d+)\\b`, "g"))].map(([, n]) => Number(n));

/** Calls a command for each message that has none yet; then answers all that are unanswered. Every tenth has to be approved. */
function model(file: string) {
	return ({ body }: SeenRequest): Step | string => {
		const messages = body.messages as readonly { role: string; content?: unknown; tool_calls?: unknown }[];
		const said = (role: string): string =>
			messages
				.filter((one) => one.role === role)
				.map((one) => JSON.stringify([one.content, one.tool_calls]))
				.join("\n");
		const asked = numbersIn(said("user"), "message");
		const called = new Set(numbersIn(said("assistant"), "call"));
		const answered = new Set(numbersIn(said("assistant"), "answer"));
		const fresh = asked.filter((n) => !called.has(n));
		if (fresh.length > 0)
			return calls(...fresh.map((n) => ["terminal", { command: `echo call ${n} >> ${file}${n % 10 === 0 ? "; git push --force origin main" : ""}` }] as const));
		return (
			asked
				.filter((n) => !answered.has(n))
				.map((n) => `answer ${n}`)
				.join(", ") || "nothing is left"
		);
	};
}

test(`${KILLS} kills`, { timeout: 3_600_000 }, async () => {
	const random = randomFrom(seedOf("kills"));
	const script = { play: (_: SeenRequest): Step | string => "" };
	const world = await programWorld({ script: (request) => script.play(request), all: PLATFORMS, config: { busy: "queue", limits: { steps: 1_000 } } });
	const file = path.join(world.dir, "calls");
	script.play = model(file);
	let n = 0;
	const sent = new Map<string, number[]>();
	const write = (chats: DoubleChats): void => {
		n++;
		chats.write(`message ${n}`, { chat: CHATS[Math.floor(random() * CHATS.length)] as string });
		sent.set(chats.name, [...(sent.get(chats.name) ?? []), n]);
	};
	// A person who allows whatever is asked, once, as soon as it is shown.
	const pressed = new Set<string>();
	const person = setInterval(() => {
		for (const chats of world.platforms)
			for (const message of chats.messages) {
				const one = `${chats.name} ${message.message}`;
				if (pressed.has(one) || !message.buttons.some(({ label }) => label === "Once")) continue;
				pressed.add(one);
				chats.tap(message, "Once");
			}
	}, 20);
	atEnd(() => clearInterval(person));
	const answered = (chats: DoubleChats): Set<number> => new Set(chats.messages.flatMap(({ text }) => numbersIn(text, "answer")));
	const open = (): number => world.platforms.reduce((sum, chats) => sum + (sent.get(chats.name) ?? []).filter((one) => !answered(chats).has(one)).length, 0);

	/** Messages acknowledged, requests to the model, messages sent and edited. */
	const done = (): number =>
		world.model.requests.length +
		world.platforms.reduce((sum, { acknowledged, messages }) => sum + acknowledged + messages.reduce((all, { edits }) => all + 1 + edits.length, 0), 0);

	for (let kill = 0; kill < KILLS; kill++) {
		const gateway = gateProgram(world, { crashes: 1_000_000 });
		expect(await gateway.ready).toBe(true);
		if (open() < 30) for (const chats of world.platforms) write(chats);
		// After some steps of its work, and between two of them: however quick the machine is, each gateway gets something done.
		const goal = done() + Math.floor(random() * 12);
		for (const end = Date.now() + 5_000; done() < goal && open() > 0 && Date.now() < end; ) await sleep(2);
		await sleep(random() * 50);
		await gateway.kill();
	}
	const last = gateProgram(world, { crashes: 1_000_000 });
	expect(await last.ready).toBe(true);
	await until("everything is answered", () => open() === 0, 600_000).catch((error: Error) => {
		throw new Error(`${error.message}; open: ${open()}\n${world.problems.slice(-20).join("\n")}`);
	});
	expect(await last.kill("SIGTERM")).toBe(0);

	const ran = numbersIn(fs.readFileSync(file, "utf8"), "call");
	const lost = Array.from({ length: n }, (_, at) => at + 1).filter((one) => !ran.includes(one));
	for (const one of lost)
		console.log(spawnSync("grep", ["-rhE", `"result"|call ${one} >>`, world.home.conversations], { encoding: "utf8" }).stdout.slice(0, 20_000));
	expect([...ran].sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, at) => at + 1));
	for (const chats of world.platforms) {
		const times = new Map<number, number>();
		for (const { text } of chats.messages)
			if (!text.startsWith("(perhaps again)")) for (const one of numbersIn(text, "answer")) times.set(one, (times.get(one) ?? 0) + 1);
		const doubled = [...times].filter(([, count]) => count > 1);
		expect({ platform: chats.name, doubled }).toEqual({ platform: chats.name, doubled: [] });
		const questions = chats.messages.filter(({ id }) => /^appr_[0-9a-f]+$/.test(id));
		const asked = new Set(questions.map(({ id }) => id));
		if (chats.traits.certainty !== "fill") expect(questions).toHaveLength(asked.size);
		expect(questions.filter(({ buttons }) => buttons.length > 0 && chats.traits.certainty !== "fill")).toEqual([]);
	}
	const marked = world.platforms.map((chats) => [chats.name, chats.messages.filter(({ text }) => text.startsWith("(perhaps again)")).length]);
	console.log(`${n} messages, ${ran.length} calls, ${KILLS} kills; marked as perhaps again: ${JSON.stringify(Object.fromEntries(marked))}`);
	expect(marked.filter(([name, count]) => name !== "filled" && count !== 0)).toEqual([]);
});
