/** Commands that a deadline moved to the background, on a machine over SSH: each has its own code in every answer, notice and audit line. */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Runtime } from "../../support/internal.js";
import { seeded } from "../../support/seed.js";
import { sshBox } from "../../support/ssh-box.js";
import { noSshd } from "../../support/sshd.js";

const ROUNDS = 12;
const BESIDE = 5; // at once: the replicas of many are copied in any order
const COMMANDS = [
	["sleep 1.2; (exit 7)", 7],
	["sleep 1.2; exit 8", 8],
	["sleep 1.2; exec sh -c 'exit 9'", 9],
	["sleep 1.2; kill -9 $$", 137],
] as const;

/** The codes that everybody was told; a machine that was out of reach for too long may have told none yet. */
async function told(runtime: Runtime, command: string): Promise<readonly unknown[]> {
	const moved = await runtime.terminal({ command, timeout: 1 });
	const { session_id } = moved;
	const ended = moved.status === "running" ? await runtime.process({ action: "wait", session_id, timeout: 60 }) : moved;
	const polled = await runtime.process({ action: "poll", session_id });
	return [ended.exit_code, polled.exit_code, moved.error];
}

const audited = (home: string): unknown[] =>
	fs
		.readdirSync(path.join(home, "audit"), { recursive: true, encoding: "utf8" })
		.map((name) => path.join(home, "audit", name))
		.filter((file) => fs.statSync(file).isFile())
		.flatMap((file) => fs.readFileSync(file, "utf8").trim().split("\n"))
		.map((line) => JSON.parse(line).exit_code)
		.filter((code) => typeof code === "number");

describe.skipIf(noSshd)(`over SSH${noSshd ? ` (${noSshd})` : ""}`, () => {
	for (const cuts of [false, true])
		test(`the code of a moved command is its own${cuts ? ", whenever the connection is cut" : ""}`, { timeout: 3_600_000 }, async () => {
			const random = seeded("moved");
			const { home, open, killMaster } = await sshBox();
			const runtime = await open();
			for (let round = 0; round < ROUNDS; round++) {
				const [command, code] = COMMANDS[round % COMMANDS.length] as (typeof COMMANDS)[number];
				const before = cuts ? 0 : audited(home).length;
				const all = Array.from({ length: BESIDE }, () => told(runtime, command));
				if (cuts) {
					await sleep(900 + 600 * random());
					killMaster();
				}
				for (const codes of await Promise.all(all)) expect(codes).toEqual([code, code, null]);
				expect([...new Set(audited(home).slice(before))].filter((one) => !cuts && one !== code)).toEqual([]);
			}
		});
});
