/** A program that is killed at one line of the log. */
import fs from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { calls, type Script, say } from "../model-server/index.js";
import { crashBench, saidIn } from "./crash-support.js";

/** Two calls that leave a mark each, then an answer. */
const marks: Script = ({ body }) => {
	const said = saidIn(body);
	const done = said.slice(said.findLastIndex(({ role }) => role === "user")).filter(({ role }) => role === "tool");
	if (done.length > 0) return say(`done: ${done.map(({ text }) => text.replaceAll("\n", " ")).join(" + ")}`);
	return calls(
		["terminal", { command: "cd /usr && NAME=Jo && echo one | tee -a $OLDPWD/marks" }],
		["terminal", { command: 'echo "$PWD $NAME"; echo two >> $OLDPWD/marks; (exit 3)' }],
	);
};

/** `crash` as fixtures/agent.mjs has it. The next program goes on: the shell has its directory and variables, and each call its true result. */
export async function killedAt(crash: string): Promise<void> {
	await using on = await crashBench(marks);
	const first = on.run({ says: [["m1", "go"]], crash });
	expect(await first.over).toBe("SIGKILL");
	const id = (await first.until(({ type }) => type === "opened"))?.id as string;
	const second = on.run({ id, says: [["m1", "go"]] });
	expect(await second.over).toBe(0);
	const log = on.log(id);
	expect(log.entries.map(({ t }) => t)).toEqual(["begun", "user", "assistant", "result", "result", "assistant"]);
	const texts = log.entries.flatMap((entry) => (entry.t === "result" ? [entry.text.replace(/\nNote: .*/s, "")] : []));
	expect(texts).toEqual(["[exited, exit code 0]\none", "[exited, exit code 3]\n/usr Jo"]);
	expect(fs.readFileSync(path.join(on.dir, "marks"), "utf8")).toBe("one\ntwo\n");
	expect(log.entries.at(-1)).toMatchObject({ t: "assistant", text: expect.stringContaining("/usr Jo") });
}
