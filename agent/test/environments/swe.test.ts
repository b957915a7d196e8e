import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { statusesIn } from "../../src/environments/test-output.js";
import { loadTasks, type TaskItem } from "../../src/tasks/index.js";
import { tempDir } from "../support/dirs.js";
import { field, put, wordsOf } from "./support.js";

const TEST_PATCH = `--- a/check.sh
+++ b/check.sh
@@ -1 +1,3 @@
-[ "$(sh add.sh 1 2)" = 3 ] && echo "ok 1 - adds" || echo "not ok 1 - adds"
+[ "$(sh add.sh 1 2)" = 3 ] && echo "ok 1 - adds" || echo "not ok 1 - adds"
+[ "$(sh add.sh 1 -2)" = -1 ] && echo "ok 2 - subtracts" || echo "not ok 2 - subtracts"
+echo "ok 3 - later # SKIP"
`;
const PATCH = `--- a/add.sh
+++ b/add.sh
@@ -1 +1 @@
-echo $(($1 + \${2#-}))
+echo $(($1 + $2))
`;

function repository(): { readonly repo: string; readonly base_commit: string } {
	const repo = put(tempDir("repo"), { "add.sh": "echo $(($1 + ${2#-}))\n", "check.sh": `${TEST_PATCH.split("\n")[3]?.slice(1)}\n` });
	const git = (...args: string[]) => execFileSync("git", ["-C", repo, "-c", "user.name=t", "-c", "user.email=t@t", ...args], { encoding: "utf8" });
	git("init", "--quiet");
	git("add", "-A");
	git("commit", "--quiet", "-m", "x");
	return { repo, base_commit: git("rev-parse", "HEAD").trim() };
}

function rows(...more: readonly object[]): TaskItem[] {
	const file = path.join(tempDir("rows"), "rows.jsonl");
	const row = {
		...repository(),
		instance_id: "a-1",
		problem_statement: "It cannot subtract.",
		patch: PATCH,
		test_patch: TEST_PATCH,
		eval_script: "sh check.sh",
		FAIL_TO_PASS: ["subtracts"],
		PASS_TO_PASS: ["adds", "later"],
	};
	fs.writeFileSync(file, more.map((one) => `${JSON.stringify({ ...row, ...one })}\n`).join(""));
	const { items, problems } = loadTasks(file);
	expect(problems).toEqual([]);
	return [...items];
}

it("a row of SWE-bench is resolved when what failed passes and what passed still does; its tests are its own, whatever the agent made of them", async () => {
	const { play } = await field();
	const [item, silent, generous] = rows({}, { eval_script: "echo nothing; exit 3" }, { new_file_reward: 0.1 }) as [TaskItem, TaskItem, TaskItem];
	const [oracle, nop, breaks, cheat, unheard, fresh] = await Promise.all([
		...[play(item, "oracle"), play(item, "nop"), play(item, "echo 'echo -1' > add.sh")],
		...[play(item, `echo 'echo "ok 2 - subtracts"' > check.sh`), play(silent, "oracle"), play(generous, "touch new.py")],
	]);
	const hows = [oracle, nop, breaks, cheat, unheard, fresh].map((one) => one?.how);
	expect(hows, wordsOf(oracle as never)).toEqual(["scored 1 tamperable", ...Array(3).fill("scored 0 tamperable"), "scorer failed", "scored 0.1 tamperable"]);
	expect(breaks?.outcome).toMatchObject({ score: { parts: { fail_to_pass: 1, pass_to_pass: 0.5 } } });
	expect(fs.readFileSync(path.join(oracle?.folder ?? "", "model.patch"), "utf8")).toContain("+echo $(($1 + $2))");
});

describe("names of tests are read from", () => {
	it.each([
		[
			"pytest -rA",
			"noise\nPASSED t/a.py::test_x[1 - 2]\nFAILED t/a.py::test_y - assert 1\nSKIPPED t/b.py::z\nERROR t/c.py\n",
			{ "t/a.py::test_x[1 - 2]": "passed", "t/a.py::test_y": "failed", "t/b.py::z": "skipped", "t/c.py": "failed" },
		],
		["TAP", "1..3\nok 1 - adds\nnot ok 2 - takes\nok 3 - later # SKIP no reason\n", { adds: "passed", takes: "failed", later: "skipped" }],
		[
			"JUnit",
			'<testsuite><testcase classname="A" name="x &lt;1&gt;"/><testcase name="y"><failure/></testcase></testsuite>',
			{ "x <1>": "passed", "A::x <1>": "passed", y: "failed" },
		],
		["between marks only", "PASSED a\n>>>>> Start Test Output\nFAILED a\n>>>>> End Test Output\nPASSED b\n", { a: "failed" }],
	])("%s", (_, output, wanted) => {
		expect(Object.fromEntries(statusesIn(output))).toEqual(wanted);
	});
});
