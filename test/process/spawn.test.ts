import { inspect } from "node:util";
import { expect, test } from "vitest";
import { tempDir, testRuntime, textOf } from "../support/home.js";

test("a command's output and exit code are there after it ended", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "echo out; echo err >&2; exit 7" });
	const { status, matched } = await process.wait({ timeout: 100_000 });
	expect(matched).toBe("exit");
	expect(status).toMatchObject({ status: "exited", exitCode: 7, signal: null });
	expect(textOf(process)).toBe("out\nerr\n");
	expect(inspect({ process })).toBe(`{\n  process: Process ${process.id} of task ${process.spec.task}: echo out; echo err >&2; exit 7\n}`);
});

test("an argument vector runs without a shell, whatever is in it", async () => {
	const runtime = await testRuntime();
	const words = ["printf", "%s|", "a b", "it's", '"$HOME"', "*", "", "\n", "é"];
	const process = await runtime.spawn({ command: words });
	await process.wait({ timeout: 100_000 });
	expect(textOf(process)).toBe('a b|it\'s|"$HOME"|*||\n|é|');
});

test("it runs in the given directory, with what is named in the environment and nothing secret", async () => {
	const runtime = await testRuntime();
	const cwd = tempDir('it\'s a "dir" ü');
	process.env.TEST_SERVICE_API_KEY = "sk-not-for-children";
	const spawned = await runtime.spawn({ command: 'pwd; echo "$GIVEN"; env', cwd, env: { GIVEN: "two\nlines 'quoted'" } });
	await spawned.wait({ timeout: 100_000 });
	delete process.env.TEST_SERVICE_API_KEY;
	const text = textOf(spawned);
	expect(text.startsWith(`${cwd}\ntwo\nlines 'quoted'\n`)).toBe(true);
	expect(text).not.toContain("sk-not-for-children");
	expect(text).toContain(`HOLDFAST_ID=${spawned.id}`);
});
