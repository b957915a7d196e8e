/** A row of SWE-bench: the repository as it was, the problem in words, and the row's tests, run in the place where the agent worked. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { PlaceObject } from "holdfast";
import { type Environment, EpisodeError, quoted, type Score, type Setting, type ToolContext } from "../episode/index.js";
import type { SweRow } from "../tasks/index.js";
import { containerOf } from "./container.js";
import { statusesIn } from "./test-output.js";

const EVAL_SECONDS = 1_800;
const SHOWN = 1_000;
const SAME_USER = "the agent and the tests ran as the same user";

export function sweEnvironment(row: SweRow): Environment {
	let setting: Setting | undefined;
	const as = { user: null } as const;
	return {
		...{ rounds: 1, scoreSeconds: EVAL_SECONDS + 120 },
		async place({ place, work }) {
			setting = row.image === undefined ? cloned(row, place, work) : contained(row.image, place);
			return setting;
		},
		start: async () => ({ prompt: row.problem_statement }),
		async score(cx) {
			await cx
				.run("git add -A -N . 2>/dev/null; git diff --binary HEAD", as)
				.then(({ bytes }) => fs.writeFileSync(path.join(cx.folder, "model.patch"), bytes()));
			if (row.test_patch !== "") await applyTests(cx, row);
			return { score: await judged(cx, row) };
		},
		async solve(cx) {
			if (row.patch === "") throw new EpisodeError("environment", "agent_program", "this row has no patch, so there is nothing for the oracle to do");
			await apply(cx, row.patch, "the row's own patch");
		},
	};
}

function contained(image: string, place: string | PlaceObject): Setting {
	return { place: { ...containerOf(image, place), profile: "plain", lifetime: "task" } as PlaceObject, hands: "root", mask: false };
}

/** Without an image: a clone of a repository of this machine, in the directory of the episode. */
function cloned({ repo, base_commit }: SweRow, place: string | PlaceObject, work: string): Setting {
	const git = (...args: string[]): void => {
		const { status, stderr } = spawnSync("git", ["-c", "core.hooksPath=/dev/null", ...args], { encoding: "utf8" });
		if (status !== 0) throw new EpisodeError("environment", "setup", `the repository ${repo} could not be cloned at ${base_commit}: ${stderr.slice(-SHOWN)}`);
	};
	if (!path.isAbsolute(repo))
		throw new EpisodeError("environment", "setup", `the row has no image, and its repo "${repo}" is no folder of this machine; give one of them`);
	git("clone", "--quiet", "--no-hardlinks", "--no-checkout", "--", repo, work);
	git("-C", work, "checkout", "--quiet", "--detach", base_commit);
	return { place, cwd: work };
}

async function apply(cx: ToolContext, patch: string, what: string): Promise<void> {
	const file = `/tmp/.holdfast-${cx.task.replaceAll(/[^A-Za-z0-9]/g, "-")}.patch`;
	await cx.write(file, patch.endsWith("\n") ? patch : `${patch}\n`, { mode: 0o644 });
	const at = quoted(file);
	const { exit_code, text } = await cx.run(`git apply --verbose ${at} || git apply --verbose --3way ${at} || patch --batch --forward --fuzz=5 -p1 -i ${at}`, {
		user: null,
	});
	await cx.run(`rm -f ${at}`);
	if (exit_code !== 0) throw new EpisodeError("scorer", "failed", `${what} could not be applied: ${text().slice(-SHOWN)}`);
}

/** Its files are first as the repository has them, whatever the agent made of them. */
async function applyTests(cx: ToolContext, { test_patch, base_commit }: SweRow): Promise<void> {
	const files = [...new Set([...test_patch.matchAll(/^(?:---|\+\+\+) [ab]\/(.+)$/gm)].map(([, name = ""]) => name.trim()))];
	const restore = files.map((file) => `git checkout --quiet ${quoted(base_commit)} -- ${quoted(file)} 2>/dev/null || rm -rf -- ${quoted(file)}`);
	await cx.run(restore.join("\n"), { user: null });
	await apply(cx, test_patch, "the patch with the row's tests");
}

async function judged(cx: ToolContext, row: SweRow): Promise<Score> {
	const { FAIL_TO_PASS, PASS_TO_PASS } = row;
	const named = [...FAIL_TO_PASS, ...PASS_TO_PASS];
	const files = [...new Set(named.map((name) => name.split("::")[0] ?? name))];
	const script = row.eval_script ?? `python3 -m pytest -rA ${files.map(quoted).join(" ")}`;
	const ran = await cx.run(script, { user: null, timeout: EVAL_SECONDS, leaveNothing: true });
	const output = ran.text();
	fs.mkdirSync(path.join(cx.folder, "verifier"), { recursive: true });
	fs.writeFileSync(path.join(cx.folder, "verifier/test-stdout.txt"), output, { mode: 0o600 });
	if (ran.timed_out) throw new EpisodeError("scorer", "timeout", `the tests did not end within ${EVAL_SECONDS} s and were killed`);
	const score = (reward: number, parts?: Record<string, number>): Score => ({ reward, evidence: [], tamperable: SAME_USER, ...(parts ? { parts } : {}) });
	if (named.length === 0) return score(ran.exit_code === 0 ? 1 : 0);
	const found = statusesIn(output);
	if (!named.some((name) => found.has(name)))
		throw new EpisodeError(
			"scorer",
			"failed",
			`the tests (exit code ${ran.exit_code}) said nothing about ${named[0]} or any other test of the row: ${output.slice(-SHOWN)}`,
		);
	const mended = FAIL_TO_PASS.filter((name) => found.get(name) === "passed").length;
	const kept = PASS_TO_PASS.filter((name) => ["passed", "skipped"].includes(found.get(name) ?? "")).length;
	const parts = { fail_to_pass: share(mended, FAIL_TO_PASS), pass_to_pass: share(kept, PASS_TO_PASS) };
	if (mended === FAIL_TO_PASS.length && kept === PASS_TO_PASS.length) return score(1, parts);
	const more = row.new_file_reward !== undefined && (await hasNewFile(cx)) ? row.new_file_reward : 0;
	return score(more, parts);
}

const share = (hits: number, all: readonly string[]): number => (all.length === 0 ? 1 : hits / all.length);

const hasNewFile = async (cx: ToolContext): Promise<boolean> =>
	/^diff --git .*\nnew file mode/m.test(fs.readFileSync(path.join(cx.folder, "model.patch"), "utf8")) &&
	(await cx.run("git diff --name-only --diff-filter=A HEAD | grep -q '\\.py$'", { user: null })).exit_code === 0;
