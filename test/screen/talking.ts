/** Conversations with programs on a terminal: no look may be ahead of what was typed. A few rounds in the tests, many in the soak. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { encodeKeys, readScreen, untilWaiting, waitingFor } from "../../src/screen/index.js";
import { testRuntime } from "../support/home.js";
import { missing, onTerminal, which } from "./programs.js";

/** Type something, wait until it waits again, and look: the screen must have the reaction to just that. */
const TALKING: [string, string, (round: number) => [string, RegExp]][] = [
	["bash", "while read -r -p 'n? ' x; do echo \"got $x\"; done", (n) => [`${n}\n`, new RegExp(`got ${n}\\nn\\?$`)]],
	["bash", "while read -r -s -p 'pw? ' x; do echo \"len ${#x}\"; done", (n) => [`${"x".repeat(n)}\n`, new RegExp(`len ${n}\\npw\\?$`)]],
	["bash", 'while read -r x; do sleep 0.03; echo "got $x"; done', (n) => [`${n}\n`, new RegExp(`got ${n}$`)]],
	["bash", "PS1='$ ' bash --norc -i", (n) => [`echo $((${n} * 7))<ENTER>`, new RegExp(`\\n${n * 7}\\n\\$$`)]],
	["python3", "python3 -q", (n) => [`print(${n} * 7)<ENTER>`, new RegExp(`\\n${n * 7}\\n>>>$`)]],
];

/** So many `rounds` with each program, and so many single `looks`. */
export function talking({ rounds, looks }: { rounds: number; looks: number }): void {
	describe("after something was typed, waits again only when it has taken it", () => {
		for (const [program, command, talk] of TALKING) {
			test.skipIf(!which(program))(`${command}${missing(program)}`, async () => {
				const process = await onTerminal(await testRuntime(), command);
				await untilWaiting(process, { timeout: 100_000 });
				for (let round = 1; round <= rounds; round++) {
					const [keys, screen] = talk(round);
					await process.write(encodeKeys(keys));
					expect(await untilWaiting(process, { timeout: 100_000 })).toMatchObject({ matched: "input" });
					expect((await readScreen(process)).screen).toMatch(screen);
				}
			});
		}
	});

	test("one look right after something was typed never says that it still waits for that", async () => {
		const process = await onTerminal(await testRuntime(), "mkfifo gate; while read -r x; do read -r y <gate; done");
		for (let round = 0; round < looks; round++) {
			expect(await untilWaiting(process, { timeout: 100_000 })).toMatchObject({ matched: "input" });
			await process.write(`${round}\n`);
			expect(await waitingFor(process)).toEqual({ waiting: false });
			await fs.promises.writeFile(path.join(process.spec.cwd, "gate"), "on\n");
		}
	});
}
