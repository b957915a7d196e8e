/** Hundreds of commands of all kinds in a few tasks at once: each has its own output, early and late, and that of no other command. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { tempDir, until } from "../support/home.js";
import { seeded } from "../support/seed.js";
import { testShell } from "./harness.js";

const COMMANDS = 150;
const TASKS = 4;

test("600 commands: what each prints, and when, stays with it", { timeout: 1_800_000 }, async () => {
	const random = seeded("soak-ranges");
	const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
	const first = await testShell();
	const go = path.join(tempDir(), "go");
	const late = (word: string) => `until [ -e ${go} ]; do sleep 0.05; done; echo late ${word}`;
	const kinds: ((word: string) => { command: string; now: string; later?: string })[] = [
		(word) => ({ command: `echo ${word}`, now: `${word}\n` }),
		(word) => ({ command: `/bin/echo ${word}; (exit 3)`, now: `${word}\n` }),
		(word) => ({ command: `W=${word}`, now: "" }),
		(word) => ({ command: `echo ${word} | cat; echo ${word} >&2`, now: `${word}\n${word}\n` }),
		(word) => ({ command: `for i in {1..2000}; do echo ${word} $i; done`, now: Array.from({ length: 2000 }, (_, at) => `${word} ${at + 1}\n`).join("") }),
		(word) => ({ command: `(${late(word)}) & echo ${word}`, now: `${word}\n`, later: `late ${word}\n` }),
		(word) => ({ command: `( (${late(word)}) & ); echo ${word}`, now: `${word}\n`, later: `late ${word}\n` }),
		(word) => ({ command: `setsid -f true; echo ${word}`, now: `${word}\n` }),
	];
	const wanted = new Map<string, string>();
	await Promise.all(
		Array.from({ length: TASKS }, async (_, task) => {
			const shell = first.another(`task ${task}`);
			let holders = 0;
			for (let number = 0; number < COMMANDS; number++) {
				const kind = pick(kinds)(`t${task}n${number}`);
				if (kind.later !== undefined && ++holders > 10) continue;
				const ran = await shell.run(kind.command);
				expect(ran.out).toBe(kind.now);
				expect(wanted.has(ran.id)).toBe(false);
				wanted.set(ran.id, kind.now + (kind.later ?? ""));
			}
		}),
	);
	fs.writeFileSync(go, "");
	const textOf = (id: string) => {
		const { log } = first.runtime.get(id);
		return log.read(0, log.bounds().end + 1).bytes.toString();
	};
	for (const [id, text] of wanted) await until(`${id} has all that is its own`, () => textOf(id) === text);
});
