/** Which program leads the foreground of a terminal: bash becomes the command where `bash -c` would. */
import { describe, expect, test } from "vitest";
import { loneAt } from "../../src/keeper/lone.js";
import { PTY_TOOLS, runtimeWith } from "../fixtures/pty-tools.js";
import { testRuntime, textOf } from "../support/home.js";

test("a text that ends in one plain command, after cd and export at most, is known as such", () => {
	const found: [string, number][] = [
		["timeout 20 python3 -q", 0],
		["  vim 'a b' \"c $HOME ${x}\" d/*.txt\n", 2],
		["cd /src && timeout 5 ./run --a=b", 11],
		["cd a && export X=1 Y='2;3' &&\n  less f", 32],
	];
	for (const [text, at] of found) expect([text, loneAt(text)]).toEqual([text, at]);
	const lists = ["a; b", "a && b", "a | b", "a &", "a > f", "a\nb", "{ a; }", "(a)", "! a", "trap 'echo bye' EXIT && a"];
	const words = ["a $(b)", 'a "$(b "c" ; d)"', "a `b`", "X=1 a", "a # b", "a \\; b", "", 'cd "é" && a', "a 'b", 'a "b\\" ; c"'];
	for (const text of [...lists, ...words]) expect([text, loneAt(text)]).toEqual([text, undefined]);
});

describe.each(PTY_TOOLS.filter(({ name }) => name !== "script"))("on a terminal by $name", (pty) => {
	test("a program that makes a group of its own reads the terminal, as at a prompt", async (context) => {
		const runtime = await runtimeWith(pty, context);
		for (const command of ["timeout 60 bash -c 'read -r x; exit $x'", "cd / && timeout 60 bash -c 'read -r x; exit $x'"]) {
			const process = await runtime.spawn({ command, terminal: true });
			await process.write("3\n");
			expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
		}
	});

	test("the command leads its session and the foreground, and its keeper is not in it", async (context) => {
		const runtime = await runtimeWith(pty, context);
		for (const command of ["ps -o pid=,pgid=,sid=,tpgid= -p $$; exit", ["sh", "-c", "ps -o pid=,pgid=,sid=,tpgid= -p $$; exit"]]) {
			const process = await runtime.spawn({ command, terminal: true });
			await process.wait({ timeout: 100_000 });
			expect(new Set(textOf(process).trim().split(/\s+/)).size).toBe(1);
		}
	});
});

test("a builtin and a keyword stay what they are, and what is not found is said as ever", async () => {
	const runtime = await testRuntime();
	const run = async (command: string) => {
		const process = await runtime.spawn({ command, terminal: true });
		const { status } = await process.wait({ timeout: 100_000 });
		return [textOf(process), "exitCode" in status ? status.exitCode : status.status];
	};
	expect(await run("type echo")).toEqual(["echo is a shell builtin\r\n", 0]);
	expect(await run("no-such-program-anywhere 'x y'")).toEqual(["bash: line 1: no-such-program-anywhere: command not found\r\n", 127]);
	expect((await run("time sh -c 'exit 4'"))[1]).toBe(4);
});
