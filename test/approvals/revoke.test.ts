/** What was allowed for a task is taken back, and what it asks is withdrawn. */
import { expect, test } from "vitest";
import { revokedSchema } from "../../src/doors/http/schemas.js";
import { cli } from "../support/cli.js";
import { atEnd } from "../support/home.js";
import { overApi } from "../support/http.js";
import { asked, setting } from "./support.js";

test("revoke: what was allowed for the task is asked about again, also what was allowed once and not used; another task keeps its own", async () => {
	const { runtime, risky, dir, another, runs } = await setting();
	const other = await another("other");
	const { approval_id: mine } = await runtime.terminal({ command: risky });
	const { approval_id: theirs } = await other.terminal({ command: risky, workdir: dir });
	const { approval_id: once } = await runtime.terminal({ command: `${risky} ` });
	const { approval_id: open } = await runtime.terminal({ command: `${risky}  ` });
	await runtime.approvals.answer(mine as string, { answer: "task", by: "test" });
	await other.approvals.answer(theirs as string, { answer: "task", by: "test" });
	await runtime.approvals.answer(once as string, { answer: "once", by: "test" });
	expect(await runtime.terminal({ command: risky })).toMatchObject({ status: "exited" });

	const person = await another();
	expect(person.approvals.revoke("default", { by: "me" })).toEqual({
		task: "default",
		allowed: [{ approval_id: mine, command: risky, cwd: dir, place: "local", by: "test" }],
		unused: [once],
		withdrawn: [open],
	});
	expect(person.approvals.revoke("default")).toEqual({ task: "default", allowed: [], unused: [], withdrawn: [] });
	expect(runtime.approvals.get(open as string).state).toBe("withdrawn");
	await expect(runtime.approvals.answer(open as string, { answer: "once" })).rejects.toMatchObject({
		code: "ANSWERED",
		message: `${open} was withdrawn: all that was allowed for its task was taken back (me)`,
	});
	for (const command of [risky, `${risky} `, `${risky}  `]) expect(await runtime.terminal({ command })).toMatchObject({ status: "pending_approval" });
	expect(runs()).toBe(1);
	expect(await other.terminal({ command: risky, workdir: dir })).toMatchObject({ status: "exited" });

	const [again] = runtime.approvals.list({ task: "default" });
	await runtime.approvals.answer(again?.id as string, { answer: "task" }); // what is allowed afterwards counts
	expect(await runtime.terminal({ command: risky })).toMatchObject({ status: "exited" });
});

test("revoke: a call that waits for its question is refused, in words, and asks nothing new", async () => {
	const { runtime, risky, another, runs } = await setting();
	const person = await another();
	atEnd(person.approvals.attend());
	const call = runtime.terminal({ command: risky });
	const [id] = await asked(person);
	expect(person.approvals.revoke("default", { by: "me" })).toMatchObject({ withdrawn: [id] });
	expect(await call).toMatchObject({
		status: "blocked",
		outcome: "denied",
		approval_id: id,
		error: expect.stringContaining("withdrawn the question about this"),
	});
	expect(person.approvals.list()).toEqual([]);
	expect(runs()).toBe(0);
});

test("revoke: over HTTP and at the command line; bad input is refused in words", async () => {
	const { runtime, risky, home } = await setting();
	const api = await overApi(runtime);
	const { approval_id: first } = await runtime.terminal({ command: risky });
	expect(await api.call(revokedSchema, "POST", "/api/tasks/revoke", { task: "default" })).toMatchObject({ withdrawn: [first], allowed: [] });
	expect(await api.fails("POST", "/api/tasks/revoke", {})).toBe("INVALID 400");
	expect(await api.fails("POST", "/api/tasks/revoke", { task: "default", all: true })).toBe("INVALID 400");
	const { approval_id: second } = await runtime.terminal({ command: risky });
	const done = await cli(home, ["approvals", "revoke", "--task", "default"]);
	expect([done.code, done.stdout]).toEqual([0, `${second}: withdrawn\n`]);
	expect((await cli(home, ["approvals", "revoke"])).stderr).toContain("say of which task");
	expect((await cli(home, ["approvals", "revoke", "--task", "none"])).stderr).toContain('nothing was allowed for the task "none"');
	for (const bad of [undefined, "", 7, null]) expect(() => runtime.approvals.revoke(bad as string)).toThrow("give the name of a task");
	expect(() => runtime.approvals.revoke("t", { by: 7 as never })).toThrow("`by` is text");
});
