/** What a person sees first: `holdfast` alone, and `ps`, with what waits. */
import { expect, test } from "vitest";
import { untilWaiting } from "../../src/screen/index.js";
import { CLI, cli } from "../support/cli.js";
import { testRuntime, textOf } from "../support/home.js";

type Runtime = Awaited<ReturnType<typeof testRuntime>>;

/** What `holdfast ARGS` prints on a terminal. */
async function onTerminal(runtime: Runtime, args: readonly string[], cols = 100): Promise<string> {
	const env = { HOLDFAST_HOME: runtime.home.root, NO_COLOR: "1" };
	const shown = await runtime.spawn({ command: [process.execPath, CLI, ...args], terminal: { cols, rows: 40 }, env, task: "looker" });
	expect((await shown.wait({ timeout: 100_000 })).status).toMatchObject({ exitCode: 0 });
	return textOf(shown).replaceAll("\r", "");
}

/** A server in one task, and a program that asks something in another. */
async function twoTasks(): Promise<{ runtime: Runtime; server: string; question: string }> {
	const runtime = await testRuntime();
	const server = await runtime.spawn({ command: "sleep 1000", name: "web", task: "site" });
	const asks = await runtime.spawn({ command: 'read -p "Deploy? [y/N] " answer', terminal: { cols: 80, rows: 24 }, name: "deploy", task: "agent" });
	await untilWaiting(asks, { timeout: 100_000 });
	return { runtime, server: server.id, question: asks.id };
}

test("holdfast alone shows a person what runs, what waits and what to do next; a program gets the help", async () => {
	const { runtime, server, question } = await twoTasks();
	const refused = await runtime.terminal({ command: "git push --force origin main" });
	const approval = /appr_[0-9a-f]{12}/.exec(JSON.stringify(refused))?.[0] as string;
	const text = await onTerminal(runtime, []);
	expect(text).toContain(`An agent asks (task ${runtime.task}, ${approval})\n  git push --force origin main\n`);
	expect(text).toMatch(new RegExp(`${question} +agent +waits: line +\\d+ +\\d+s +deploy: read`));
	expect(text.indexOf(question)).toBeLessThan(text.indexOf(server)); // what asks comes first
	expect(text).toMatch(new RegExp(`holdfast approvals answer ${approval.slice(5, 9)} once +allow it`));
	expect(text).toMatch(/holdfast attach deploy +answer it: Deploy\? \[y\/N\]/);
	expect(text).toMatch(/holdfast logs -f web +follow/);
	expect((await cli(runtime.home.root, [])).stdout).toContain("Usage: holdfast COMMAND");
	const json = JSON.parse((await cli(runtime.home.root, ["status", "--json", "--task", "agent"])).stdout);
	expect(json).toMatchObject({ approvals: [], ended: 0, processes: [{ session_id: question, waiting_for: "line", status: "running" }] });
	expect(json.next[0].command).toBe("holdfast attach deploy");
});

test("status of an empty home says how to begin", async () => {
	const { home } = await testRuntime();
	const { stdout } = await cli(home.root, ["status"]);
	expect(stdout).toMatch(/^Nothing runs\.\n\nholdfast shell +open a shell/);
});

test("ps shows a person every task, and what waits; --task, and --json, one", async () => {
	const { runtime, server, question } = await twoTasks();
	const { stdout } = await cli(runtime.home.root, ["ps"]);
	expect(stdout).toMatch(/^ID +TASK +STATUS +PID +RAN +COMMAND\n/);
	expect(stdout).toMatch(new RegExp(`${question} +agent +waits: line`));
	expect(stdout).toMatch(new RegExp(`${server} +site +running`));
	const one = await cli(runtime.home.root, ["ps", "--task", "site"]);
	expect(one.stdout).toMatch(/^ID +STATUS +PID/);
	expect(one.stdout).not.toContain(question);
	const list = async (...args: string[]) => JSON.parse((await cli(runtime.home.root, ["ps", "--json", ...args])).stdout).processes;
	expect(await list()).toEqual([]);
	expect(await list("--all")).toMatchObject([
		{ session_id: question, waiting_for: "line" },
		{ session_id: server, waiting_for: null },
	]);
});

test("on a terminal that does not know its size, run works, and lines are as on one of 80 columns", async () => {
	const { runtime, server } = await twoTasks();
	const sizeless = async (...args: string[]) => {
		const command = `stty cols 0 rows 0 && exec "$@"`;
		const env = { HOLDFAST_HOME: runtime.home.root, NO_COLOR: "1" };
		const terminal = { cols: 100, rows: 40 };
		const shown = await runtime.spawn({ command: ["bash", "-c", command, "bash", process.execPath, CLI, ...args], terminal, env, task: "looker" });
		expect((await shown.wait({ timeout: 30_000 })).status, textOf(shown)).toMatchObject({ exitCode: 0 });
		return textOf(shown).replaceAll("\r", "").split("\n");
	};
	expect(await sizeless("ps")).toContainEqual(expect.stringMatching(new RegExp(`^${server} +site +running .* web: sleep 1000$`)));
	expect(await sizeless("run", "--", "stty size; echo done")).toEqual(expect.arrayContaining(["24 80", "done"]));
});

test.each([40, 20])("on a terminal of %i columns no line is longer, and ids are short enough to type", async (cols) => {
	const { runtime, server } = await twoTasks();
	for (const args of [[], ["ps"]]) {
		const lines = (await onTerminal(runtime, args, cols)).split("\n");
		expect(lines.filter((line) => line.length > cols && !line.startsWith("holdfast "))).toEqual([]); // what is to be copied stays whole
		expect(lines.some((line) => line.startsWith(server.slice(5, 11)))).toBe(true);
		if (args.length === 0) expect(lines[lines.indexOf("holdfast serve") + 1]).toMatch(/^ {6}see every/); // too narrow for two columns
	}
	if (cols === 20) expect(await onTerminal(runtime, ["tasks"], cols)).toMatch(/^\S+ {2}1 waiting$/m); // no heading says of what
});
