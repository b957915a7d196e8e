/**
 * Random lives of a conversation, in the three wire formats: a model that answers, calls, errs, breaks off and says nothing; a person who steers, stops and
 * leaves; a program that is killed before or behind any line. The model server checks every request with rules of its own.
 */
import { expect } from "vitest";
import { agentConfigSchema, newMessageId, openAgentHome } from "../../src/base/index.js";
import { openModel } from "../../src/model/index.js";
import { admit, type EntryBody, Inbox, Log } from "../../src/talk/index.js";
import { type AgentTool, registryOf, type ToolOutcome } from "../../src/tools/index.js";
import type { TurnEvent } from "../../src/turn/events.js";
import { isUnanswered } from "../../src/turn/lines.js";
import { Steering, type Wish } from "../../src/turn/steer.js";
import { runTurn } from "../../src/turn/turn.js";
import { calls, empty, fails, modelServer, type Place, type Step, type StepCall, say } from "../model-server/index.js";
import { memoryRoot, tempDir } from "../support/dirs.js";
import { randomFrom, seedOf } from "../support/seed.js";

class Killed extends Error {}

const ME = { platform: "test", person: "jo" } as const;
const PLACES: readonly Place[] = ["headers", "first byte", "start", "text", "arguments", "whole arguments", "closed call", "finish"];

/** Lives until so many requests were made. Returns how many there were. */
export async function randomLives({ requests }: { readonly requests: number }): Promise<number> {
	const seed = seedOf("lives");
	const random = randomFrom(seed);
	const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
	const home = openAgentHome(`${tempDir("lives", memoryRoot())}/home`);
	const { limits } = agentConfigSchema.parse({ limits: { steps: 12 } });
	const clock = { sleep: async () => {}, random: () => 0 };
	let [lives, made] = [0, 0];
	while (made < requests) {
		await using server = await modelServer({ script: () => randomStep(random, one), broken: "expected" });
		const format = one(["chat", "responses", "anthropic"] as const);
		const url = format === "anthropic" ? server.url.replace(/\/v1$/, "") : server.url;
		const model = openModel({ endpoint: { url, format }, model: "scripted" }, { clock });
		const ran = new Map<string, number>();
		const tools = toolsOf(ran, random);
		const key = `life-${lives++}`;
		const inbox = new Inbox(home, key);
		const said: string[] = [];
		const first = await Log.begin(home, { task: key, place: "local", model: "scripted" });
		await first.leave();
		const put = async (): Promise<void> => {
			const id = newMessageId();
			said.push(id);
			await inbox.put({ kind: "user", id, text: `message ${said.length}`, by: ME, mode: one(["steer", "queue", "interrupt"] as const) });
		};
		await put();
		let calm = false;
		for (let round = 0; ; round++) {
			// Opened anew each time, as another program would.
			const log = await Log.open(home, first.id);
			if (!isUnanswered(log) && inbox.waiting().length === 0) {
				await log.leave();
				if (calm || round > 8) break;
				await put();
				continue;
			}
			calm = round > 6;
			const steering = new Steering();
			const at = { event: calm ? -1 : Math.floor(random() * 30), append: calm || random() < 0.6 ? -1 : Math.floor(random() * 8), before: random() < 0.5 };
			let [events, appends] = [0, 0];
			const append = async (body: EntryBody) => {
				const dies = appends++ === at.append;
				if (dies && at.before) throw new Killed();
				const entry = await log.append(body);
				if (dies) throw new Killed();
				return entry;
			};
			const emit = (_: TurnEvent): void => {
				if (events++ !== at.event) return;
				const wish = one<Wish>(["steer", "steer", "stop", "leave"]);
				void (wish === "steer" ? put() : Promise.resolve()).then(() => steering.want(wish));
			};
			try {
				await runTurn({
					log,
					admit: async (which) => void (await admit(inbox, log, which)),
					model: () => model,
					tools: registryOf(tools, ["reads", "writes", "throws", "plain"]),
					system: () => "You are being tested.",
					limits,
					steering,
					emit,
					append,
					keep: () => {},
					news: async () => {},
					redact: (text) => text,
					spoken: () => inbox.waiting().length > 0,
					compact: async () => ({ did: "nothing", before: 0, fits: true, why: "" }),
					resumed: isUnanswered(log),
					again: random() < 0.9,
				});
			} catch (error) {
				if (!(error instanceof Killed)) throw error;
			}
			await log.leave();
		}
		made += server.requests.length;
		const log = Log.read(home, first.id);
		expect(server.broken, `SEED=${seed}, life ${key}`).toEqual([]);
		expect(log.openCalls, `SEED=${seed}, life ${key}`).toEqual([]);
		const heard = log.entries.flatMap((entry) => (entry.t === "user" ? [entry.id] : []));
		expect([...heard].sort(), `SEED=${seed}, life ${key}`).toEqual([...said].sort());
		for (const [id, times] of ran) expect(times, `SEED=${seed}, life ${key}, call ${id}`).toBe(1);
		const results = log.entries.filter((entry) => entry.t === "result" && entry.how === "ran" && entry.text === "written");
		for (const entry of results) expect(entry.t === "result" && ran.get(entry.call), `SEED=${seed}, life ${key}`).toBe(1);
	}
	return made;
}

/** `writes` can tell what became of a call, `plain` cannot. Both count how often each call was run. */
function toolsOf(ran: Map<string, number>, random: () => number): AgentTool[] {
	const count = (id: string): ToolOutcome => {
		ran.set(id, (ran.get(id) ?? 0) + 1);
		return { text: "written", failed: false };
	};
	const tool = (name: string, changes: boolean, run: AgentTool["run"], more: Partial<AgentTool> = {}): AgentTool => ({
		name,
		description: name,
		schema: { type: "object", properties: {} },
		changes,
		run,
		...more,
	});
	return [
		tool("reads", false, async () => {
			if (random() < 0.5) await new Promise((resolve) => setImmediate(resolve));
			return { text: random() < 0.1 ? "" : `read ${Math.floor(random() * 1e9)}`, failed: random() < 0.1 };
		}),
		tool("writes", true, async (_, { id }) => count(id), {
			became: async (_, { id }) => (ran.has(id) ? { state: "ended", outcome: { text: "written", failed: false } } : { state: "never" }),
		}),
		tool("plain", true, async (_, { id }) => count(id)),
		tool("throws", true, async () => {
			throw new Error("it throws");
		}),
	];
}

function randomStep(random: () => number, one: <T>(list: readonly T[]) => T): Step {
	const args = (): StepCall["args"] => (random() < 0.85 ? { n: Math.floor(random() * 1e9) } : one(['{"a":', "", "nul", "[1]", '{"a":1}}', '"text"']));
	const name = (): string => one(["reads", "reads", "writes", "plain", "throws", "no_such_tool", "bad name ü"]);
	const id = (): Partial<StepCall> => (random() < 0.8 ? {} : { id: one(["call_0", "x".repeat(450), "odd id/ü", null]) });
	const some = (): Step => calls(...Array.from({ length: 1 + Math.floor(random() * 4) }, () => ({ name: name(), args: args(), ...id() })));
	const answer = (): Step => (random() < 0.45 ? some() : random() < 0.5 ? { ...some(), text: "Let me see." } : say("All is well."));
	const kind = random();
	if (kind < 0.7) {
		const step = answer();
		// An id that was used in an answer which was lost is taken for that one's by the server: it would miss that one's reasoning.
		const own = step.calls?.some(({ id: given }) => given !== undefined);
		return random() < 0.3 && !own ? { ...step, reasoning: "Thinking about it." } : step;
	}
	if (kind < 0.76) return empty;
	if (kind < 0.82) return { ...answer(), finish: "length" };
	if (kind < 0.85) return { reasoning: "Only thinking." };
	const whole: Step = random() < 0.6 ? { ...some(), text: "Let me see." } : say("All is well.");
	const at = one(PLACES.filter((place) => whole.calls !== undefined || !["arguments", "whole arguments", "closed call"].includes(place)));
	if (kind < 0.93) return { ...whole, fault: { kind: "cut", at, how: one(["socket", "end"]) } };
	if (kind < 0.96) return { ...whole, fault: { kind: "error", at, message: "overloaded" } };
	return fails(one([429, 500, 503, 529, 400, 413]));
}
