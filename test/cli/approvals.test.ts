import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { asked, setting } from "../approvals/support.js";
import { CLI, cli, hasTmux, Terminal } from "../support/cli.js";
import { textOf, until } from "../support/home.js";

const NODE = `'${process.execPath}' '${CLI}'`;

test("list, show and answer; a second answer and an unknown id are refused", async () => {
	const { runtime, risky, home, runs } = await setting();
	expect(await cli(home, ["approvals"])).toMatchObject({ code: 0, stderr: "nothing waits for an answer\n" });
	const { approval_id: id = "" } = await runtime.terminal({ command: risky });
	expect((await cli(home, ["approvals"])).stdout).toMatch(new RegExp(`${id} +pending +default +\\d+s +git push`));
	expect(JSON.parse((await cli(home, ["approvals", "list", "--json"])).stdout)).toMatchObject({ approvals: [{ id, command: risky, state: "pending" }] });
	expect((await cli(home, ["approvals", "show", id.slice(5, 10)])).stdout).toContain("(force-push), bytes 0 to 21: git push --force");
	expect(await cli(home, ["approvals", "answer", id, "perhaps"])).toMatchObject({ code: 2, stderr: expect.stringContaining("one of once, task, always, no") });
	expect(await cli(home, ["approvals", "answer", id, "once", "-m", "go"])).toMatchObject({
		code: 0,
		stderr: expect.stringContaining("counts for the next identical call"),
	});
	expect(await cli(home, ["approvals", "answer", id, "no"])).toMatchObject({ code: 1, stderr: expect.stringMatching(/answered before: once, by terminal, /) });
	expect(await cli(home, ["approvals", "answer", "0000", "no"])).toMatchObject({ code: 3 });
	expect(await runtime.terminal({ command: risky })).toMatchObject({ status: "exited", note: expect.stringContaining("and says: go") });
	expect(runs()).toBe(1);
});

test("an agent cannot answer: not by a command, not by a program of its own, not by a terminal of its own", async () => {
	const { runtime, risky, home, dir } = await setting();
	const { approval_id: id } = await runtime.terminal({ command: risky });
	expect(await runtime.terminal({ command: `holdfast approvals answer ${id} once` })).toMatchObject({ status: "blocked", rule: "floor-approval" });
	expect(await runtime.terminal({ command: `echo once > ${home}/approvals/a.${id}` })).toMatchObject({ status: "blocked", rule: "floor-policy" });
	// Hidden from the rules, it finds itself inside of what Holdfast keeps; also when it has cleaned its environment.
	const script = `${dir}/script.sh`;
	await runtime.terminal({
		command: `printf '%s\\n' 'HOLDFAST_HOME=${home} ${NODE} approvals answer ${id} once; env -i HOLDFAST_HOME=${home} ${NODE} approvals answer ${id} once' > ${script}`,
	});
	const tried = await runtime.terminal({ command: `bash ${script} 2>&1` });
	expect(tried.output.match(/this runs inside of proc_/g)).toHaveLength(2);
	// Nor by the library, with an environment that says something else.
	const program = `${dir}/answer.mjs`;
	const code = `const { openRuntime } = await import(${JSON.stringify(path.resolve("dist/lib/index.js"))});
		const runtime = await openRuntime({ home: ${JSON.stringify(home)}, warm: 0 });
		const done = await runtime.approvals.answer(${JSON.stringify(id)}, { answer: "always", by: "terminal, jo" }).then(() => "ANSWERED", (error) => error.code + ": " + error.message);
		console.log(done); await runtime.close();`;
	fs.writeFileSync(program, code);
	const node = process.execPath;
	const library = await runtime.terminal({ command: `${node} ${program}; HOLDFAST_ID=proc_0123456789ab ${node} ${program}; env -i ${node} ${program}` });
	expect(library.output.match(/^FORBIDDEN: this runs inside of proc_/gm)).toHaveLength(3);
	const kept = await runtime.spawn({ command: [node, program], task: "a person's" }); // by hand, from outside
	expect((await kept.wait({ timeout: 100_000 })).status).toMatchObject({ exitCode: 0 });
	expect(textOf(kept)).toContain("ANSWERED");
	expect(runtime.approvals.get(id as string)).toMatchObject({ state: "answered", answer: "always", by: "terminal, jo" });
});

test("an agent's terminal is no place to be asked at", async () => {
	const { runtime, risky, home, dir } = await setting();
	const { approval_id: id } = await runtime.terminal({ command: risky });
	const second = `${dir}/second.sh`;
	await runtime.terminal({ command: `printf '%s\\n' 'HOLDFAST_HOME=${home} ${NODE.replaceAll("'", "")} terminal -- git push --force' > ${second}` });
	const typed = await runtime.terminal({ command: `bash ${second}`, pty: true, timeout: 60 });
	expect(typed).toMatchObject({ status: "exited", screen: expect.stringContaining("pending_approval") }); // and is not asked there
	expect(runtime.approvals.get(id as string).state).toBe("pending");
});

test.skipIf(!hasTmux)("a person at a terminal is asked there (needs tmux); and watch asks about what comes", async () => {
	const { runtime, risky, home, config, dir, runs } = await setting();
	const env = { HOLDFAST_HOME: home, XDG_CONFIG_HOME: config.replace(/\/holdfast$/, ""), NO_COLOR: "1" };
	const quoted = risky.replaceAll("'", "'\\''");
	const here = new Terminal(`${NODE} terminal --workdir ${dir} -- '${quoted}'`, env);
	await here.shows("Allow it? [o]nce, for this [t]ask, [a]lways, [n]o");
	await here.type("maybe", "Enter");
	await here.shows(/Allow it\?[\s\S]*Allow it\?/);
	await here.type("n not today", "Enter");
	await here.shows(/^\[blocked, denied/m); // not what was typed: what came of it
	await until("no person is present any more", () => !runtime.approvals.isAttended(runtime.task));
	expect(runs()).toBe(0);
	const watch = new Terminal(`${NODE} approvals watch`, env);
	await until("a person is present", () => runtime.approvals.isAttended(runtime.task));
	const first = runtime.terminal({ command: risky });
	await watch.shows("Allow it?");
	await watch.type("o", "Enter");
	expect(await first).toMatchObject({ status: "exited" });
	const second = runtime.terminal({ command: risky });
	await watch.shows(/Allow it\?[\s\S]*Allow it\?/);
	const [id] = await asked(runtime);
	await runtime.approvals.answer(id as string, { answer: "no", by: "elsewhere" });
	expect(await second).toMatchObject({ status: "blocked" });
	await watch.shows(`${id}: no, by elsewhere`);
	await watch.type("C-c");
	await until("no person is present", () => !runtime.approvals.isAttended(runtime.task));
});
