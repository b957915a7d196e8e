/** 200 chats for ten minutes (MINUTES=n for fewer): memory and descriptors stay flat, and no turn is stuck. */
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { calls } from "../model-server/index.js";
import { until } from "../support/dirs.js";
import { randomFrom, seedOf } from "../support/seed.js";
import type { DoubleChats } from "./double.js";
import { gateProgram, programWorld } from "./support.js";

const MINUTES = Number(process.env.MINUTES ?? 10);
const CHATS = Number(process.env.CHATS ?? 200);

const memoryOf = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
const filesOf = (pid: number): number => fs.readdirSync(`/proc/${pid}/fd`).length;

test(`${CHATS} chats for ${MINUTES} minutes`, { timeout: (MINUTES + 10) * 60_000 }, async () => {
	const random = randomFrom(seedOf("chats"));
	const world = await programWorld({
		script: (request) => {
			const [, n = "0"] = /message (\d+)$/.exec(request.said) ?? [];
			return Number(n) % 5 === 0 && request.results.length === 0 ? calls(["terminal", { command: "echo hi" }]) : `answer ${n}`;
		},
		config: { toolsets: ["terminal"] },
	});
	const [chats] = world.platforms as [DoubleChats];
	const gateway = gateProgram(world);
	await gateway.ready;
	const end = Date.now() + MINUTES * 60_000;
	const asked = new Map<string, number>();
	const answered = new Set<string>();
	let seen = 0;
	const look = (): void => {
		for (const { chat, text } of chats.messages.slice(seen)) if (text.startsWith("answer")) answered.add(`${chat} ${text}`);
		seen = chats.messages.length;
	};
	const open = (): number => [...asked].filter(([chat, n]) => !answered.has(`${chat} answer ${n}`)).length;
	const samples: { memory: number; files: number }[] = [];
	let n = 0;
	let next = Date.now() + 60_000;
	while (Date.now() < end) {
		look();
		const chat = `c${Math.floor(random() * CHATS)}`;
		const before = asked.get(chat);
		if (open() < 20 && (before === undefined || answered.has(`${chat} answer ${before}`))) {
			asked.set(chat, ++n);
			chats.write(`message ${n}`, { chat });
		}
		await sleep(20);
		if (Date.now() < next) continue;
		next += 60_000;
		samples.push({ memory: Math.round(memoryOf(gateway.pid)), files: filesOf(gateway.pid) });
	}
	await until("no turn is stuck", () => {
		look();
		return open() === 0;
	}).catch((error: Error) => {
		const stuck = [...asked].filter(([chat, n]) => !answered.has(`${chat} answer ${n}`));
		throw new Error(`${error.message}: ${JSON.stringify(stuck)}\n${world.problems.slice(-20).join("\n")}`);
	});
	console.log(`${n} messages in ${asked.size} chats; each minute: ${JSON.stringify(samples)}`);
	// After half of the time all chats were used: from then on nothing may grow.
	const half = samples[Math.floor(samples.length / 2)];
	const last = samples.at(-1);
	if (half && last && samples.length >= 4) {
		expect(last.memory).toBeLessThan(half.memory * 1.5);
		expect(last.files).toBeLessThan(half.files * 1.5 + 20);
	}
	expect(await gateway.kill("SIGTERM")).toBe(0);
});
