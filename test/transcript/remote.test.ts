/** The transcript of commands that ran on another machine, a real sshd on loopback. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { namesIn } from "../../src/base/files.js";
import { cli } from "../support/cli.js";
import { elsewhere } from "../support/elsewhere.js";
import { until } from "../support/home.js";
import { noSshd } from "../support/sshd.js";

test.skipIf(noSshd)("what a shell of another machine has printed is kept here, nothing of it there; it opens by its id without that machine", async () => {
	const { home, env, sshd, runtime } = await elsewhere();
	const commands = ["echo one", "cd /tmp", "pwd; (exit 3)"];
	for (const command of commands) await runtime.terminal({ command });
	const tickets = () => namesIn(path.join(home, "ended")).flatMap((hour) => namesIn(path.join(home, "ended", hour)));
	await until("both that printed are kept", () => tickets().filter((name) => name.endsWith(".ranges")).length === 2);
	const boxes = path.join(sshd.home, ".local/state/holdfast/boxes");
	const entriesIn = async () => {
		const { stdout } = await cli(home, ["log", "default", "--json"], { env });
		return stdout
			.split("\n")
			.filter(Boolean)
			.map((line) => JSON.parse(line));
	};
	const entries = await entriesIn();
	const ids: string[] = [0, 2].map((at) => entries[at]?.session_id); // what printed nothing usually has none: the next command has its id
	for (const id of ids) expect(fs.existsSync(path.join(boxes, namesIn(boxes)[0] ?? "", "procs", id.charAt(5), id))).toBe(false);
	await sshd.stop();
	expect(await entriesIn()).toEqual(entries);
	expect(entries).toMatchObject([
		{ command: "echo one", status: "exited", exit_code: 0, bytes: 4, output: "one\n" },
		{ command: "cd /tmp", status: "exited", exit_code: 0, bytes: 0 },
		{ command: "pwd; (exit 3)", status: "exited", exit_code: 3, bytes: 5, output: "/tmp\n", place: expect.stringMatching(/^ssh:/) },
	]);
	expect(entries[1]).not.toHaveProperty("note");
	for (const [at, output] of ["one\n", "/tmp\n"].entries())
		expect(await cli(home, ["logs", ids[at] as string], { env })).toMatchObject({ code: 0, stdout: output, stderr: "" });
	expect(JSON.parse((await cli(home, ["prune", "--older-than", "0s", "--json"], { env })).stdout).removed).toEqual(expect.arrayContaining(ids));
	const after = await entriesIn();
	expect(after.map(({ bytes }) => bytes)).toEqual([null, 0, null]);
	for (const at of [0, 2]) expect(after[at].note).toMatch(/was removed at/);
	await sshd.start();
});
