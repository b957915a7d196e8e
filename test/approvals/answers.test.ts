import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { atEnd, until } from "../support/home.js";
import { asked, setting } from "./support.js";

test("once is one run; two at the same time are one question, of which one runs and the other asks again", async () => {
	const { runtime, risky, another, runs } = await setting();
	const person = await another();
	atEnd(person.approvals.attend());
	const first = runtime.terminal({ command: risky });
	const second = runtime.terminal({ command: risky });
	const [id] = await asked(person);
	await until("both wait", () => fs.readdirSync(person.home.approvals).filter((name) => name.startsWith(`w.${id}.`)).length === 2);
	expect(person.approvals.get(id as string)).toMatchObject({
		command: risky,
		task: "default",
		place: "local",
		state: "pending",
		waiting: true,
		parts: [{ start: 0, end: 21, text: "git push --force 2>&1", rule: "force-push" }],
		choices: ["once", "task", "always", "no"],
	});
	await person.approvals.answer(id as string, { answer: "once", by: "test", message: "go on" });
	const done = await Promise.race([first, second]);
	expect(done).toMatchObject({ status: "exited", note: expect.stringContaining("A person allowed this (once, test) and says: go on.") });
	const [again] = await asked(person);
	expect(again).not.toBe(id);
	expect(runs()).toBe(1);
	await person.approvals.answer(again as string, { answer: "no", message: "not twice" });
	const results = await Promise.all([first, second]);
	expect(results.filter(({ status }) => status === "blocked")).toMatchObject([
		{ outcome: "denied", approval_id: again, error: expect.stringContaining("not twice") },
	]);
	expect(runs()).toBe(1);
});

test("for a task: not asked again there, asked in another; neither task can use the answer of the other", async () => {
	const { runtime, risky, dir, another, runs } = await setting();
	const other = await another("other");
	const mine = await runtime.terminal({ command: risky });
	const theirs = await other.terminal({ command: risky, workdir: dir });
	expect(theirs.approval_id).not.toBe(mine.approval_id);
	expect(runtime.approvals.list({ task: "other" }).map(({ id }) => id)).toEqual([theirs.approval_id]);
	await other.approvals.answer(mine.approval_id as string, { answer: "task" });
	expect(await other.terminal({ command: risky, workdir: dir })).toMatchObject({ status: "pending_approval", approval_id: theirs.approval_id });
	expect(await runtime.terminal({ command: risky })).toMatchObject({ status: "exited" });
	expect(await runtime.terminal({ command: risky, background: true })).toMatchObject({ error: null });
	await until("it ran", () => runs() === 2);
	expect(await runtime.terminal({ command: `${risky} ` })).toMatchObject({ status: "pending_approval" }); // exactly this one
	expect(await runtime.terminal({ command: risky, workdir: "/" })).toMatchObject({ status: "pending_approval" }); // and there
	const restarted = await another();
	expect(await restarted.terminal({ command: risky })).toMatchObject({ status: "exited" });
});

test("always: a rule in the person's file, which tests itself, lasts, and is theirs to remove", async () => {
	const { runtime, risky, config, another, write } = await setting();
	const file = path.join(config, "policy.json");
	write("policy.json", { rules: [], defaults: { publish: "deny" } });
	const { approval_id } = await runtime.terminal({ command: risky });
	await runtime.approvals.answer(approval_id as string, { answer: "always", by: "test" });
	const stored = JSON.parse(fs.readFileSync(file, "utf8"));
	expect(stored).toMatchObject({ defaults: { publish: "deny" }, rules: [{ decision: "allow", match: { text: [risky] }, examples: { match: [risky] } }] });
	expect(await (await another("other")).terminal({ command: risky, workdir: stored.rules[0].match.cwd[0] })).toMatchObject({ status: "exited" });
	write("policy.json", { ...stored, rules: [] });
	expect(await runtime.terminal({ command: risky })).toMatchObject({ status: "pending_approval" });
	expect(JSON.parse(fs.readFileSync(file, "utf8")).rules).toEqual([]);
	// A file that cannot take a rule is found before anything is answered; the person may still answer otherwise.
	fs.writeFileSync(file, "{");
	const [waits] = runtime.approvals.list();
	await expect(runtime.approvals.answer(waits?.id as string, { answer: "always" })).rejects.toMatchObject({ code: "CONFIG" });
	expect(runtime.approvals.get(waits?.id as string).state).toBe("pending");
});

test("from two doors at once one answer counts, and the other is told whose", async () => {
	const { runtime, risky, another, runs } = await setting();
	const { approval_id: id } = await runtime.terminal({ command: risky });
	const doors = await Promise.all(["a", "b", "c", "d"].map(async (by) => ({ by, at: await another() })));
	const answers = await Promise.allSettled(doors.map(({ by, at }, n) => at.approvals.answer(id as string, { answer: n % 2 ? "no" : "once", by })));
	const won = answers.findIndex(({ status }) => status === "fulfilled");
	expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
	for (const lost of answers)
		if (lost.status === "rejected") expect(lost.reason).toMatchObject({ code: "ANSWERED", message: expect.stringContaining(`by ${doors[won]?.by}`) });
	expect(await runtime.terminal({ command: risky })).toMatchObject({ status: won % 2 ? "blocked" : "exited" });
	expect(runs()).toBe(won % 2 ? 0 : 1);
	// A damaged answer is none, and lets nothing through.
	const { approval_id: damaged } = await runtime.terminal({ command: risky });
	fs.writeFileSync(path.join(runtime.home.approvals, `a.${damaged}`), "{");
	await expect(runtime.approvals.answer(damaged as string, { answer: "task" })).rejects.toMatchObject({ code: "ANSWERED" });
	expect(await runtime.terminal({ command: risky })).toMatchObject({ status: "pending_approval", approval_id: damaged });
});

test("a program that shows the questions of one task is no listener for another task", async () => {
	const { runtime, risky, another, runs } = await setting();
	const person = await another("theirs");
	const questions = person.approvals.stream({ task: "theirs" });
	const waited = questions.next();
	expect(await runtime.terminal({ command: risky })).toMatchObject({ status: "pending_approval" }); // it does not wait
	const call = person.terminal({ command: risky });
	const { value } = await waited;
	expect(value).toMatchObject({ task: "theirs", waiting: true });
	await person.approvals.answer(value?.id ?? "", { answer: "no" });
	expect(await call).toMatchObject({ status: "blocked", outcome: "denied" });
	expect(runs()).toBe(0);
	await questions.return();
});

test("silence is a no", async () => {
	const { runtime, risky, runs } = await setting({ expires: 1 });
	const leave = runtime.approvals.attend();
	const result = await runtime.terminal({ command: risky });
	expect(result).toMatchObject({
		status: "blocked",
		outcome: "expired",
		error: expect.stringMatching(/no person answered within 1 s: silence is a no.*Do not rephrase/s),
	});
	await expect(runtime.approvals.answer(result.approval_id as string, { answer: "once" })).rejects.toMatchObject({
		code: "ANSWERED",
		message: expect.stringContaining("expired"),
	});
	leave();
	// One that nobody waited for is told once, to whoever comes next.
	const { approval_id } = await runtime.terminal({ command: risky });
	await until("it has expired", () => runtime.approvals.get(approval_id as string).state === "expired");
	expect(await runtime.terminal({ command: risky })).toMatchObject({ status: "blocked", outcome: "expired", approval_id });
	expect(await runtime.terminal({ command: risky })).toMatchObject({ status: "pending_approval" });
	expect(runs()).toBe(0);
});

test("an interruption takes the question back; the next call is not touched by it", async () => {
	const { runtime, risky, runs } = await setting();
	atEnd(runtime.approvals.attend());
	const stop = new AbortController();
	const interrupted = runtime.terminal({ command: risky }, { signal: stop.signal });
	const [id] = await asked(runtime);
	stop.abort();
	expect(await interrupted).toMatchObject({ status: "interrupted", error: expect.stringContaining("nothing was run") });
	expect(runtime.approvals.get(id as string).state).toBe("withdrawn");
	await expect(runtime.approvals.answer(id as string, { answer: "once" })).rejects.toMatchObject({ code: "ANSWERED" });
	const next = runtime.terminal({ command: risky });
	const [again] = await asked(runtime);
	await runtime.approvals.answer(again as string, { answer: "once" });
	expect(await next).toMatchObject({ status: "exited" });
	expect(runs()).toBe(1);
});

test("a call with a deadline answers in time, and the next one goes on waiting; a listener counts as a person", async () => {
	const { runtime, risky, another } = await setting();
	const person = await another();
	const stop = new AbortController();
	const seen: string[] = [];
	const listening = (async () => {
		for await (const approval of person.approvals.stream({ signal: stop.signal })) seen.push(approval.id);
	})();
	await until("a listener is there", () => runtime.approvals.isAttended(runtime.task));
	const early = await runtime.terminal({ command: risky }, { within: 800 });
	expect(early).toMatchObject({ status: "pending_approval", note: expect.stringContaining("go on waiting") });
	const rest = runtime.terminal({ command: risky });
	await asked(person);
	await person.approvals.answer(early.approval_id as string, { answer: "once" });
	expect(await rest).toMatchObject({ status: "exited" });
	// A runtime that is closed lets go of whoever waits, and the question stays.
	const leaving = await another();
	const left = leaving.terminal({ command: risky });
	const [id] = await asked(person);
	await leaving.close();
	expect(await left).toMatchObject({ status: "pending_approval", approval_id: id });
	expect(person.approvals.get(id as string)).toMatchObject({ state: "pending", waiting: false });
	stop.abort();
	await listening;
	expect(seen).toEqual([early.approval_id, id]);
});

test("the runtime is killed while a question waits: another sees it, and the late answer counts for the next call, once", async () => {
	const { runtime, home, dir, risky, runs } = await setting();
	const asker = spawn(process.execPath, [fileURLToPath(new URL("../fixtures/asker.mjs", import.meta.url)), home, dir, risky], { stdio: "ignore" });
	const exit = new Promise((resolve) => asker.once("exit", resolve));
	atEnd(() => asker.kill("SIGKILL"));
	const [id] = await asked(runtime);
	asker.kill("SIGKILL");
	await exit;
	expect(runtime.approvals.get(id as string)).toMatchObject({ state: "pending", waiting: false });
	expect(runtime.approvals.isAttended(runtime.task)).toBe(false);
	await runtime.approvals.answer(id as string, { answer: "once" });
	expect(runs()).toBe(0);
	expect(await runtime.terminal({ command: risky, workdir: dir })).toMatchObject({ status: "exited" });
	expect(await runtime.terminal({ command: risky, workdir: dir })).toMatchObject({ status: "pending_approval" });
	expect(runs()).toBe(1);
});
