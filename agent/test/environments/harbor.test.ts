import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { field, harborTask, script, testOutput, wordsOf } from "./support.js";

const SEEN = "ls -d $TESTS_DIR/* $SOLUTION_DIR/* $LOGS_DIR/verifier/* > seen.txt 2>/dev/null; ";
const GOOD = 'echo 1 > "$LOGS/verifier/reward.txt"';

describe("an episode of a task in Harbor's format", () => {
	it("has neither tests nor solution in its place while the agent works; a planted reward is gone when the tests start", async () => {
		const { play } = await field();
		const item = harborTask(
			'cat seen.txt; ls "$LOGS/verifier" "$TESTS"; [ -s seen.txt ] || [ -e "$LOGS/verifier/reward.json" ] && exit 1\necho 0.25 > "$LOGS/verifier/reward.txt"',
			{
				files: { "solution/solve.sh": "#!/bin/sh\ntrue\n", "tests/data": "x" },
			},
		);
		const played = await play(
			item,
			`${SEEN} mkdir -p $TESTS_DIR; echo '{"reward":1}' > $LOGS_DIR/verifier/reward.json; echo 'echo 1 > $LOGS/verifier/reward.txt' > $TESTS_DIR/test.sh`,
		);
		expect(played.how, wordsOf(played)).toBe("scored 0.25 tamperable");
		expect(testOutput(played)).toMatch(/^test-stdout.txt$/m);
		expect(testOutput(played)).toMatch(/^data\ntest.sh$/m);
		const proof = JSON.parse(fs.readFileSync(path.join(played.folder, "verifier.json"), "utf8"));
		expect(proof.evidence.map(({ file }: { file: string }) => file)).toEqual(["verifier/reward.txt", "verifier/rewards.txt", "verifier/test-stdout.txt"]);
	});

	it("at its deadline what runs is dead before the tests start, and what was left in the background still answers", async () => {
		const { play } = await field();
		const item = harborTask(
			'kill -0 "$(cat stubborn.pid)" 2>/dev/null && exit 1\nkill -0 "$(cat server.pid)" || exit 1\necho 1 > "$LOGS/verifier/reward.txt"',
			{ toml: "[agent]\ntimeout_sec = 3\n" },
		);
		const agent = `(exec setsid -f sh -c 'trap "" TERM; echo $$ > stubborn.pid; while :; do sleep 1; done') ; trap "" TERM; sleep 3600`;
		const began = Date.now();
		const played = await play(item, {
			name: "both",
			enter: async ({ cx }) => ({
				async act(_begun, _round, signal) {
					await cx.tool("terminal", { command: "echo $$ > server.pid; exec sleep 3600", background: true });
					await cx.run(agent, { signal }).catch(() => {});
					return "stopped";
				},
				leave: async () => ({ conversation: null, usage: { input: 0, output: 0 }, tools: [] }),
			}),
		});
		expect(played.how, wordsOf(played)).toBe("scored 1 tamperable");
		expect(played.outcome).toMatchObject({ end: "deadline" });
		expect(Date.now() - began).toBeLessThan(100_000);
		const proof = JSON.parse(fs.readFileSync(path.join(played.folder, "proof.json"), "utf8"));
		expect(proof).toMatchObject({ gone: true, left: [expect.stringMatching(/sleep 3600/)], stopped: [expect.stringMatching(/^proc_\w+ \d+ .*setsid/)] });
		expect(proof.ended.join("\n")).toMatch(/killed: .*exec sleep 3600/);
	});

	it("with steps: min_reward stops the rest, files stay, tests do not; mean and final", async () => {
		const { play } = await field();
		const steps = (strategy: string) =>
			harborTask("exit 1", {
				toml: `multi_step_reward_strategy = "${strategy}"\n[environment]\ndocker_image = "x"\n[[steps]]\nname = "a"\n[[steps]]\nname = "b"\nmin_reward = 0.5\n[[steps]]\nname = "c"\n`,
				files: {
					...{ "steps/a/instruction.md": "first", "steps/b/instruction.md": "second", "steps/c/instruction.md": "third" },
					"steps/a/tests/test.sh": script('cat word; echo 1 > "$LOGS/verifier/reward.txt"'),
					"steps/a/tests/only-a": "",
					"steps/b/workdir/given": "from the step\n",
					"steps/b/workdir/setup.sh": "cat given > prepared\n",
					"steps/b/tests/test.sh": script('cat word prepared; [ -e "$TESTS/only-a" ] || echo 0.25 > "$LOGS/verifier/reward.txt"'),
				},
			});
		const agent = 'ls $TESTS_DIR 2>/dev/null >> word; echo "$HOLDFAST_INSTRUCTION" >> word';
		const [mean, final] = await Promise.all([play(steps("mean"), agent), play(steps("final"), agent)]);
		expect([mean.how, final.how], wordsOf(mean) + wordsOf(final)).toEqual([`scored ${1.25 / 3} tamperable`, "scored 0.25 tamperable"]);
		expect(mean.outcome).toMatchObject({ score: { parts: { a: 1, b: 0.25 } } });
		expect(testOutput(mean, "b")).toBe("first\nsecond\nfrom the step\n");
	});

	it("whose tests hang, or that is not healthy, is an error and no reward, as is a reward that is no file or no number; a late health is good (bad tasks)", async () => {
		const { play } = await field();
		const hangs = harborTask('(setsid sleep 3600 &)\necho 1 > "$LOGS/verifier/reward.txt"\nsleep 3600', { toml: "[verifier]\ntimeout_sec = 2\n" });
		const check = (command: string) =>
			`[environment]\ndocker_image = "x"\n[environment.healthcheck]\ncommand = '${command}'\ninterval_sec = 0.1\nretries = 3\n`;
		const sick = harborTask(GOOD, { toml: check("echo not yet; exit 1") });
		const late = harborTask(GOOD, { toml: check("echo x >> tries; [ $(wc -l < tries) -gt 2 ]") });
		const none = harborTask("exit 0");
		const odd = ["mkfifo reward.json", "mkdir reward.json", "ln -s /etc/passwd reward.txt", "head -c 10000000 /dev/zero > reward.json"];
		const [[a, b, c, d], rest] = await Promise.all([
			Promise.all([play(hangs), play(sick), play(late), play(none)]),
			Promise.all(odd.map((command) => play(harborTask(`cd "$LOGS/verifier"; ${command}`)))),
		]);
		expect(rest.map(({ how }) => how)).toEqual(["scorer failed", "scorer failed", "scorer reward_invalid", "scorer reward_invalid"]);
		expect([a.how, b.how, c.how, d.how]).toEqual(["scorer timeout", "environment healthcheck", "scored 1 tamperable", "scorer reward_missing"]);
		expect(wordsOf(a)).toMatch(/did not end within 2 s \(verifier.timeout_sec\) and were killed$/);
		expect(wordsOf(b)).toMatch(/failed 3 times in a row; the last one ended with 1: not yet/);
		expect([a, b, c, d].map(({ gone }) => gone)).toEqual([true, true, true, true]);
	});

	it("whose sandbox was replaced in the middle is an error of the place and is not scored", async () => {
		const { play, runtime } = await field();
		const played = await play(harborTask(GOOD), {
			name: "ends the sandbox",
			enter: async ({ cx }) => ({
				async act() {
					await runtime.stopSandbox((await cx.box())?.id ?? "");
					return "finished";
				},
				leave: async () => ({ conversation: null, usage: { input: 0, output: 0 }, tools: [] }),
			}),
		});
		expect([played.how, played.gone]).toEqual(["place replaced", true]);
		expect(wordsOf(played)).toMatch(/is gone; another one was made, so there is nothing to score/);
	});

	it("artifacts are all that separate tests get, at the same paths, without what is excluded; a link of the agent's is not followed", async () => {
		const { play } = await field();
		const item = harborTask(
			`find /tmp/out /tmp/link /tmp/other other | sort; grep -al "sleep.4242[4]" /proc/[0-9]*/cmdline && exit 1; grep -q hi "$LOGS/artifacts/note" && ${GOOD}`,
			{
				toml: 'artifacts = [{ source = "/tmp/out", destination = "a/b", exclude = ["*.o", "deep/**"] }, "/tmp/link", "/tmp/missing"]\n[verifier.environment]\ndocker_image = "x"\n',
			},
		);
		const played = await play(
			item,
			"touch other /tmp/other; (setsid sleep 42424 > /dev/null 2>&1 < /dev/null &); mkdir -p /tmp/out/deep; touch /tmp/out/x.o /tmp/out/x.c /tmp/out/deep/y; ln -s /etc/passwd /tmp/link; echo hi > $LOGS_DIR/artifacts/note",
		);
		expect(played.how, wordsOf(played)).toBe("scored 1 tamperable");
		expect(
			testOutput(played)
				.split("\n")
				.filter((line) => line.startsWith("/")),
		).toEqual(["/tmp/out", "/tmp/out/deep", "/tmp/out/x.c"]);
		const kept = JSON.parse(fs.readFileSync(path.join(played.folder, "artifacts/manifest.json"), "utf8"));
		expect(kept).toEqual([
			{ source: "/tmp/harbor/logs/artifacts", file: "artifacts/0/logs" },
			{ source: "/tmp/out", file: "artifacts/1/b" },
			{ source: "/tmp/link" },
			{ source: "/tmp/missing" },
		]);
		expect(fs.readdirSync(path.join(played.folder, "artifacts/1/b")).sort()).toEqual(["deep", "x.c"]);
	});
});
