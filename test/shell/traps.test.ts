/** A command that traps or ignores signals in the shell itself: at its deadline the rest of it does not run all the same. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { mayTrapAbort } from "../../src/shell/interrupt.js";
import { tempDir } from "../support/home.js";
import { testShell } from "./harness.js";

const TRAPS = [
	"trap '' PWR",
	"trap : PWR",
	"trap -- 'echo; echo' SIGPWR",
	"trap : 30",
	'for s in $(kill -l | grep -o "SIG[A-Z0-9+-]*"); do trap : $s; done 2>/dev/null',
	"trap '' {1..64} 2>/dev/null",
	"S=PWR; trap : $S",
	"trap '' TERM INT",
	"trap : TERM INT HUP QUIT",
	"trap : CHLD CONT TSTP",
	"trap true DEBUG",
	"set -T; trap true DEBUG; trap true RETURN",
	"set -E; trap true ERR",
	"trap : EXIT",
];

test("no trap lets the rest of a command run at its deadline, and the next command is killed as well", async () => {
	const shell = await testShell();
	const dir = tempDir();
	const deadline = { timeoutMs: 1_000, onTimeout: "kill" } as const;
	const ends = TRAPS.map(async (trap, number) => {
		const { run } = shell.another();
		const late = path.join(dir, String(number));
		const first = await run(`${trap}; sleep 600; : >${late}`, deadline);
		const second = await run(`echo ok; sleep 600; : >${late}`, deadline);
		return [trap, first.end, first.code, second.end, second.out, fs.existsSync(late)];
	});
	expect(await Promise.all(ends)).toEqual(TRAPS.map((trap) => [trap, "timeout", 124, "timeout", "ok\n", false]));
});

test("a trap for PWR lasts no longer than its command", async () => {
	const { run } = await testShell();
	await run("trap : PWR; K=kept");
	const late = path.join(tempDir(), "late");
	await run(`sleep 600; : >${late}`, { timeoutMs: 500, onTimeout: "kill" });
	expect(await run("echo $K")).toMatchObject({ out: "kept\n", notes: [] });
	expect(fs.existsSync(late)).toBe(false);
});

test("traps for other signals do not cost the shell", () => {
	const others = ["trap 'rm -f \"$tmp\"' EXIT", 'trap "kill $pid; echo $s" INT TERM', "trap cleanup EXIT; echo $PWR 30", "strap x PWR", "trap - INT"];
	expect(others.filter(mayTrapAbort)).toEqual([]);
});
