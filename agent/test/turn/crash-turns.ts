/** Turns of a real program that is killed at random ones of its events, or a little after. Every command leaves a mark of its own: afterwards each must be there once. */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { calls, type Script, type StepCall, say } from "../model-server/index.js";
import { randomFrom, seedOf } from "../support/seed.js";
import { crashBench, saidIn } from "./crash-support.js";

export interface KilledTurns {
	readonly conversations: number;
	readonly turns: number;
	/** Turns that one program is told to make. */
	readonly batch: number;
	/** How often a conversation is killed, at most: the last programs are let finish. */
	readonly kills: number;
	/** The program is killed at one of its first so many events. A turn has at least ten. */
	readonly events: number;
	/** Or so much later, at most. */
	readonly lateMs?: number;
}

/** Returns how often it was killed. */
export async function killedTurns({ conversations, turns, batch, kills, events, lateMs = 0 }: KilledTurns): Promise<number> {
	const random = randomFrom(seedOf("killed turns"));
	await using on = await crashBench(marking);
	const marks = path.join(on.dir, "marks");
	fs.writeFileSync(marks, "");
	let killed = 0;
	for (let talk = 0; talk < conversations; talk++) {
		const says = Array.from({ length: turns }, (_, turn) => [`m${talk}-${turn}`, `job ${talk}-${turn} of ${1 + Math.floor(random() * 3)} calls`] as const);
		let id: string | undefined;
		for (let at = 0, here = 0; at < turns; ) {
			const some = says.slice(at, at + batch);
			const run = on.run({ id, says: some });
			id ??= (await run.until(({ type }) => type === "opened"))?.id as string;
			if (here < kills) {
				const moment = 1 + Math.floor(random() * events);
				await run.until(() => run.events.length >= moment);
				if (lateMs > 0) await sleep(random() * lateMs);
				run.child.kill("SIGKILL");
			}
			const how = await run.over;
			if (how === "SIGKILL") here++;
			else expect(how).toBe(0);
			at = says.filter(([message]) => on.log(id as string).hasMessage(message)).length - (how === 0 ? 0 : 1); // the last one may not be answered yet
			at = Math.max(0, at);
			killed += how === 0 ? 0 : 1;
		}
		const log = on.log(id as string);
		const answers = log.entries.flatMap((entry) => (entry.t === "assistant" && entry.calls.length === 0 ? [entry.text] : []));
		expect(answers).toEqual(says.map((_, turn) => `done ${talk}-${turn}`));
		expect(log.openCalls).toEqual([]);
	}
	const wanted = storedCommands(on, conversations).map((command) => /mark ([\w.-]+)/.exec(command)?.[1] as string);
	const found = fs.readFileSync(marks, "utf8").trim().split("\n");
	console.log(`killed turns: ${killed} kills, ${conversations * turns} turns, ${wanted.length} calls`);
	expect([...found].sort()).toEqual([...wanted].sort());
	expect(new Set(found).size).toBe(found.length);
	return killed;
}

/** The commands of all calls that the logs have. */
function storedCommands(
	on: { readonly home: { readonly conversations: string }; log(id: string): { readonly entries: readonly { readonly t: string }[] } },
	conversations: number,
): string[] {
	const ids = fs.readdirSync(on.home.conversations).flatMap((name) => (name.endsWith(".jsonl") ? [name.slice(0, -6)] : []));
	expect(ids.length).toBeGreaterThanOrEqual(conversations);
	return ids.flatMap((id) =>
		on
			.log(id)
			.entries.flatMap((entry) => (entry.t === "assistant" ? (entry as unknown as { calls: { args: string }[] }).calls : []))
			.map(({ args }) => (JSON.parse(args) as { command: string }).command),
	);
}

/** For "job A-B of N calls": N calls, one more, an answer. Marks have the number of the request in them, so that a call of an answer that was lost counts as another one. */
const marking: Script = ({ body, n }) => {
	const said = saidIn(body);
	const last = said.findLastIndex(({ role, text }) => role === "user" && text.startsWith("job "));
	const [, job, count] = /^job (\S+) of (\d)/.exec(said[last]?.text ?? "") as unknown as [string, string, string];
	const done = said.slice(last).filter(({ role }) => role === "tool").length;
	if (done > Number(count)) return say(`done ${job}`);
	const marked = (part: number): readonly [string, StepCall["args"]] => {
		const pause = part % 2 === 0 ? "sleep 0.1; " : "";
		return ["terminal", { command: `${pause}: mark ${job}.${n}.${part}; echo ${job}.${n}.${part} >> marks; ${pause}true` }];
	};
	if (done === Number(count)) return calls(marked(9));
	return calls(...Array.from({ length: Number(count) }, (_, part) => marked(part)));
};
