/** People who write to a gateway on several platforms while it is killed again and again, and what must hold in the end. */
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Certainty } from "../../src/gateway/platforms/platform.js";
import { calls, type SeenRequest, type Step } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { randomFrom, seedOf } from "../support/seed.js";
import type { GateProgram, ProgramWorld } from "./support.js";

/** A message of ours as people see it. */
export interface Seen {
	/** The platform's id. */
	readonly id: string;
	readonly text: string;
	readonly buttons: readonly string[];
	/** How often it was changed, where that is known. */
	readonly edits?: number;
	press(label: string): void;
}

/** One platform with its people. */
export interface Crowd {
	readonly name: string;
	readonly certainty: Certainty;
	/** The chats that people write in. */
	readonly chats: readonly string[];
	/** False: what is said now waits in the history. */
	readonly connected?: () => boolean;
	write(text: string, chat: string): void;
	seen(): readonly Seen[];
}

export interface KillsOptions {
	readonly world: ProgramWorld;
	readonly crowds: readonly Crowd[];
	readonly kills: number;
	readonly start: () => GateProgram;
	/** Where each command of the model writes a line. */
	readonly file: string;
}

/** A platform that cannot keep a press for a gateway that is away: then a person presses again. */
const PRESS_AGAIN_MS = 1_000;

const numbersIn = (text: string, word: string): number[] => [...text.matchAll(new RegExp(`${word} (\\d+)\\b`, "g"))].map(([, n]) => Number(n));
const isMarked = ({ text }: Seen): boolean => text.startsWith("(perhaps again)");
/** The digits of the question that a message asks. */
const questionIn = ({ text }: Seen): string | undefined => /May this run\?\W+([0-9a-f]{4})/.exec(text)?.[1];

/** A model that calls a command for each message that has none yet; then it answers all that are unanswered. Every tenth has to be approved. */
export function answersEach(file: string) {
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

/** Kills it at random moments of its work, and looks at what people have seen and what has run. */
export async function surviveKills({ world, crowds, kills, start, file }: KillsOptions): Promise<void> {
	const random = randomFrom(seedOf("kills"));
	let n = 0;
	const sent = new Map<string, number[]>();
	const write = (crowd: Crowd, chat = crowd.chats[Math.floor(random() * crowd.chats.length)] as string): void => {
		n++;
		crowd.write(`message ${n}`, chat);
		sent.set(crowd.name, [...(sent.get(crowd.name) ?? []), n]);
	};
	// A person who allows whatever is asked, once, as soon as it is shown.
	const pressed = new Map<string, number>();
	const person = setInterval(() => {
		for (const crowd of crowds)
			for (const message of crowd.seen()) {
				const one = `${crowd.name} ${message.id}`;
				if (!message.buttons.includes("Once") || Date.now() < (pressed.get(one) ?? 0)) continue;
				pressed.set(one, Date.now() + PRESS_AGAIN_MS);
				message.press("Once");
			}
	}, 20);
	atEnd(() => clearInterval(person));
	const answered = (crowd: Crowd): Set<number> => new Set(crowd.seen().flatMap(({ text }) => numbersIn(text, "answer")));
	const openOf = (crowd: Crowd): number[] => {
		const there = answered(crowd);
		return (sent.get(crowd.name) ?? []).filter((one) => !there.has(one));
	};
	const open = (): number => crowds.reduce((sum, crowd) => sum + openOf(crowd).length, 0);
	const allAnswered = (): Promise<void> =>
		until("everything is answered", () => open() === 0, 600_000).catch((error: Error) => {
			const left = crowds.map((crowd) => [crowd.name, openOf(crowd)]);
			throw new Error(`${error.message}; open: ${JSON.stringify(left)}\n${world.problems.slice(-20).join("\n")}`);
		});
	/** Requests to the model, messages sent and changed. */
	const done = (): number =>
		world.model.requests.length + crowds.reduce((sum, crowd) => sum + crowd.seen().reduce((all, { edits = 0 }) => all + 1 + edits, 0), 0);

	// Everyone has met: what is said to a bot that does not know the chat while it is away is lost on some platforms.
	const first = start();
	expect(await first.ready).toBe(true);
	await until("all are connected", () => crowds.every(({ connected }) => connected?.() ?? true));
	for (const crowd of crowds) for (const chat of crowd.chats) write(crowd, chat);
	await allAnswered();
	await first.kill();
	for (let kill = 1; kill < kills; kill++) {
		const gateway = start();
		expect(await gateway.ready).toBe(true);
		if (open() < 30) for (const crowd of crowds) write(crowd);
		// After some steps of its work, and between two of them: however quick the machine is, each gateway gets something done.
		const goal = done() + Math.floor(random() * 12);
		for (const end = Date.now() + 5_000; done() < goal && open() > 0 && Date.now() < end; ) await sleep(2);
		await sleep(random() * 50);
		await gateway.kill();
	}
	const last = start();
	expect(await last.ready).toBe(true);
	await allAnswered();
	const asking = (): Seen[] =>
		crowds.flatMap((crowd) => (crowd.certainty === "fill" ? [] : crowd.seen().filter((one) => questionIn(one) && one.buttons.length > 0)));
	await until("every question says what became of it", () => asking().length === 0);
	expect(await last.kill("SIGTERM")).toBe(0);

	const ran = numbersIn(fs.readFileSync(file, "utf8"), "call");
	expect([...ran].sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, at) => at + 1));
	for (const crowd of crowds) {
		const times = new Map<string, number>();
		const count = (what: string): unknown => times.set(what, (times.get(what) ?? 0) + 1);
		for (const message of crowd.seen()) {
			if (isMarked(message)) continue;
			for (const one of numbersIn(message.text, "answer")) count(`answer ${one}`);
			const question = questionIn(message);
			// Of one that is opened and filled the opening may be there twice; the whole of it, with its buttons, once.
			if (question !== undefined && (crowd.certainty !== "fill" || message.text.includes("waits until"))) count(`question ${question}`);
		}
		const doubled = [...times].filter(([, count]) => count > 1);
		expect({ platform: crowd.name, doubled }).toEqual({ platform: crowd.name, doubled: [] });
	}
	const marked = crowds.map((crowd) => [crowd.name, crowd.seen().filter(isMarked).length] as const);
	const asked = new Set(crowds.flatMap((crowd) => crowd.seen().flatMap((one) => questionIn(one) ?? [])));
	console.log(
		`${n} messages, ${ran.length} calls, ${asked.size} questions, ${kills} kills; marked as perhaps again: ${JSON.stringify(Object.fromEntries(marked))}`,
	);
	expect(asked.size).toBeGreaterThanOrEqual(Math.floor(n / 10)); // none was lost; the same four digits come twice at times
	const mayMark = new Set(crowds.filter(({ certainty }) => certainty === "fill" || certainty === "unsure").map(({ name }) => name));
	expect(marked.filter(([name, count]) => count > 0 && !mayMark.has(name))).toEqual([]);
}
