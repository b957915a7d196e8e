import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { renderResult } from "../support/internal.js";
import { REFUSED, setting } from "./support.js";

test("what a rule denies does not run, and the result says what, why and what next", async () => {
	const { runtime } = await setting();
	const command = `echo é; ${REFUSED}`;
	for (const more of [{}, { background: true }, { pty: true }]) {
		const result = await runtime.terminal({ command, ...more });
		expect(result).toMatchObject({
			status: "blocked",
			outcome: "refused_by_rule",
			rule: "floor-approval",
			part: { start: 9, end: 9 + REFUSED.length, text: REFUSED },
			exit_code: null,
			output: "",
			error: expect.stringContaining("Do not rephrase it"),
		});
		expect(result.session_id).toBeUndefined();
	}
	expect(runtime.list()).toEqual([]);
	const fourth = await runtime.terminal({ command });
	expect(fourth.error).toMatch(/refusal 4 in a row: stop here, and ask your user/);
	expect(renderResult(fourth)).toMatch(/^\[blocked, refused_by_rule, rule floor-approval\]\nError: a rule forbids this/);
});

test("the real directory of the shell decides, the one of `workdir` included", async () => {
	const { runtime, dir, write } = await setting({ unattended: "deny" });
	fs.mkdirSync(path.join(dir, "sub/x"), { recursive: true });
	write("policy.json", {
		rules: [
			{
				id: "not-in-sub",
				decision: "deny",
				reason: "sub is for people",
				match: { cwd: [`${dir}/sub`], program: ["touch"] },
				examples: { match: ["touch a"], not: ["ls"] },
			},
		],
	});
	expect(await runtime.terminal({ command: "touch a" })).toMatchObject({ status: "exited", exit_code: 0 });
	expect(await runtime.terminal({ command: "touch a", workdir: "sub" })).toMatchObject({ status: "blocked", rule: "not-in-sub" });
	expect(await runtime.terminal({ command: "touch a", workdir: "sub", background: true })).toMatchObject({ status: "blocked", rule: "not-in-sub" });
	await runtime.terminal({ command: `ln -s sub link; cd link` });
	expect(await runtime.terminal({ command: "touch a" })).toMatchObject({ status: "blocked", rule: "not-in-sub" });
	expect(fs.existsSync(path.join(dir, "sub/a"))).toBe(false);
});

test("what an earlier command has defined in the shell is known, in every program of the task, and in no other task", async () => {
	const { runtime, another, dir } = await setting();
	const defines = `alias g=git; p() { git "$@"; }; q() { p "$@"; }; alias gg='g '; TMPDIR=${dir}; set -- ../..`;
	expect(await runtime.terminal({ command: defines })).toMatchObject({ status: "exited", exit_code: 0 });
	for (const command of ["g push --force", "p push --force", "q push --force", "gg push --force", "\\p push --force"])
		expect(await runtime.terminal({ command }), command).toMatchObject({ status: "pending_approval", rule: "force-push", part: { text: command } });
	expect(await runtime.terminal({ command: 'rm -rf "$TMPDIR/../x"' })).toMatchObject({ status: "pending_approval", rule: "delete-outside" });
	expect(await runtime.terminal({ command: 'rm -rf "x/$1/y"' })).toMatchObject({ status: "pending_approval", rule: "delete-outside" });
	expect(await runtime.terminal({ command: "p push --force", background: true })).toMatchObject({ status: "pending_approval", rule: "force-push" });
	expect(await runtime.terminal({ command: "g --version; q --version; set -e; echo $1" })).toMatchObject({ status: "exited", exit_code: 0 });
	const later = await another();
	expect(await later.terminal({ command: "q push --force" })).toMatchObject({ status: "pending_approval", rule: "force-push" });
	const other = await another("other");
	expect(await other.terminal({ command: "q push --force" })).toMatchObject({ status: "exited", exit_code: 127 });
	await runtime.terminal({ command: "p() { echo mine; }; unalias g" });
	expect(await runtime.terminal({ command: "q push --force" })).toMatchObject({ status: "exited", output: "mine\n" });
});

test("nothing that a model, a person's file or a project's file says turns the floor off; a file that cannot be used stops everything", async () => {
	const { runtime, dir, write } = await setting();
	const allow = (id: string, match: object, yes: string) => ({ id, decision: "allow", reason: "all", match, examples: { match: [yes], not: ["ls"] } });
	write("policy.json", { rules: [allow("a", { program: ["holdfast"] }, "holdfast x"), allow("b", { text: [REFUSED] }, REFUSED)], trust: [dir] });
	fs.mkdirSync(path.join(dir, ".holdfast"));
	fs.writeFileSync(path.join(dir, ".holdfast/policy.json"), JSON.stringify({ rules: [allow("c", { program: ["holdfast"] }, "holdfast x")] }));
	for (const extra of [{}, { background: true }])
		expect(await runtime.terminal({ command: REFUSED, ...extra })).toMatchObject({ status: "blocked", rule: "floor-approval" });
	for (const extra of [{ approve: true }, { force: true }, { yolo: true }, { approval_id: "appr_000000000000" }, { policy: "off" }])
		expect(await runtime.terminal({ command: "git push -f", ...extra })).toMatchObject({
			status: "pending_approval",
			note: expect.stringContaining("terminal has no such parameter"),
		});
	write("policy.json", { defaults: { "floor-root": "allow" } });
	expect(await runtime.terminal({ command: "ls" })).toMatchObject({ status: "error", error: expect.stringMatching(/part of the floor/) });
	write("policy.json", {});
	write("config.json", { approvals: { unattended: "yes" } });
	expect(await runtime.terminal({ command: "ls" })).toMatchObject({ status: "error", error: expect.stringMatching(/config\.json cannot be used/) });
});

test("with no person to answer it is decided at once: pending, deny, or only what a rule allows", async () => {
	const { runtime, risky, write, runs } = await setting();
	const waits = await runtime.terminal({ command: risky });
	expect(waits).toMatchObject({ status: "pending_approval", approval_id: expect.stringMatching(/^appr_[0-9a-f]{12}$/), rule: "force-push", error: null });
	expect(waits.note).toContain(`approvals answer ${waits.approval_id} once --home ${runtime.home.root}`);
	expect(await runtime.terminal({ command: risky })).toMatchObject({ status: "pending_approval", approval_id: waits.approval_id }); // the same question
	write("config.json", { approvals: { unattended: "deny" } });
	expect(await runtime.terminal({ command: `${risky} ` })).toMatchObject({ status: "blocked", outcome: "unattended", rule: "force-push" });
	expect(await runtime.terminal({ command: "echo fine" })).toMatchObject({ status: "exited" });
	write("config.json", { approvals: { unattended: "allow-listed" } });
	expect(await runtime.terminal({ command: "echo fine" })).toMatchObject({ status: "blocked", outcome: "unattended" });
	write("policy.json", {
		rules: [{ id: "echo", decision: "allow", reason: "harmless", match: { program: ["echo"] }, examples: { match: ["echo a"], not: ["ls"] } }],
	});
	expect(await runtime.terminal({ command: "echo fine" })).toMatchObject({ status: "exited", output: "fine\n" });
	expect(await runtime.terminal({ command: "echo fine; ls" })).toMatchObject({ status: "blocked", outcome: "unattended" });
	const leave = runtime.approvals.attend();
	expect(await runtime.terminal({ command: "echo fine; ls" })).toMatchObject({ status: "exited" });
	leave();
	expect(runs()).toBe(0);
});

test("a line that bash cannot parse needs no approval; one that only Holdfast cannot parse does", async () => {
	const { runtime } = await setting();
	expect(await runtime.terminal({ command: "echo 'oops" })).toMatchObject({ status: "exited", output: expect.stringContaining("unexpected EOF") });
	expect(await runtime.terminal({ command: "touch x\necho 'oops" })).toMatchObject({ status: "pending_approval", rule: "unreadable" });
});
