/** A start that fails before anything could run is tried again; what may have run never is. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { HoldfastError } from "../../src/base/errors.js";
import { childrenOf, readProc } from "../../src/base/proc.js";
import { tryAgain } from "../../src/keeper/again.js";
import { findTools } from "../../src/keeper/tools.js";
import { ProcessSnapshot } from "../../src/process/tree.js";
import { tempDir, testRuntime, until } from "../support/home.js";

/** A sh that is gone at once for its first starts, as when no process can be made; then it is the real one. */
function failing(starts: number): { sh: string; count: () => number } {
	const dir = tempDir();
	const sh = path.join(dir, "sh");
	const tries = path.join(dir, "tries");
	fs.writeFileSync(tries, "");
	fs.writeFileSync(sh, `#!/bin/sh\necho try >>'${tries}'\n[ $(wc -l <'${tries}') -gt ${starts} ] || exit 2\nexec /bin/sh "$@"\n`, { mode: 0o700 });
	return { sh, count: () => fs.readFileSync(tries, "utf8").split("\n").length - 1 };
}

for (const terminal of [false, true]) {
	const kind = terminal ? "on a terminal" : "without a terminal";

	test(`keepers that do not come up, twice: the third has the command, which runs once, ${kind}`, async () => {
		const ran = path.join(tempDir(), "ran");
		const { sh, count } = failing(2);
		const runtime = await testRuntime({ tools: { ...findTools(), sh, subreaper: undefined } });
		const process = await runtime.spawn({ command: `echo once >>'${ran}'`, terminal });
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
		expect(fs.readFileSync(ran, "utf8")).toBe("once\n");
		expect(runtime.list({ task: null }).map(({ id }) => id)).toEqual([process.id]);
		expect(count()).toBeGreaterThanOrEqual(3);
	});

	test(`a warm keeper that was killed with all of its own before the word to go is replaced, ${kind}`, async () => {
		const ran = path.join(tempDir(), "ran");
		const runtime = await testRuntime({ warm: 1 });
		await (await runtime.spawn({ command: "true" })).wait({ timeout: 100_000 });
		// Adopted by init, so it is found by its session: it leads one, with its collector and the child that waits for the word.
		const waiting = () =>
			[...new ProcessSnapshot().stats.values()]
				.filter(({ pid, session }) => pid === session && childrenOf(pid).length === 2 && readProc(`/proc/${pid}/cmdline`)?.includes(runtime.home.root))
				.map(({ pid }) => pid);
		await until("a keeper waits", () => waiting().length === 1);
		globalThis.process.kill(-(waiting()[0] as number), "SIGKILL");
		const kept = await runtime.spawn({ command: `echo once >>'${ran}'; exit 3`, terminal });
		expect((await kept.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
		expect(fs.readFileSync(ran, "utf8")).toBe("once\n");
	});
}

test("keepers that never come up are an error after the third, nothing runs, and nothing is left", async () => {
	const ran = path.join(tempDir(), "ran");
	const { sh, count } = failing(Number.MAX_SAFE_INTEGER);
	const runtime = await testRuntime({ tools: { ...findTools(), sh, subreaper: undefined } });
	await expect(runtime.spawn({ command: `: >'${ran}'` })).rejects.toMatchObject({ code: "START_FAILED", message: expect.stringContaining("nothing ran") });
	expect([fs.existsSync(ran), count(), runtime.list({ task: null })]).toEqual([false, 3, []]);
});

test("a shell gets its log although two keepers did not come up", async () => {
	const { sh } = failing(2);
	const runtime = await testRuntime({ tools: { ...findTools(), sh, subreaper: undefined } });
	expect(await runtime.terminal({ command: "echo one" })).toMatchObject({ status: "exited", output: "one\n", exit_code: 0 });
});

test("a keeper that is killed when its command has started is not replaced: it runs once", async () => {
	const ran = path.join(tempDir(), "ran");
	const runtime = await testRuntime();
	const kept = await runtime.spawn({ command: `echo once >>'${ran}'; kill -9 $PPID; sleep 0.1` });
	await kept.wait({ timeout: 100_000 });
	expect(fs.readFileSync(ran, "utf8")).toBe("once\n");
	expect(runtime.list({ task: null })).toHaveLength(1);
});

test("only what says that nothing ran, or that no process could be made, is tried again", async () => {
	const tries = async (error: Error): Promise<number> => {
		let count = 0;
		const start = () => {
			count++;
			return Promise.reject(error);
		};
		await expect(tryAgain(start)).rejects.toBe(error);
		return count;
	};
	expect(await tries(new HoldfastError("INTERNAL", "x", { cause: Object.assign(new Error("spawn EAGAIN"), { code: "EAGAIN" }) }))).toBe(3);
	expect(await tries(new HoldfastError("START_FAILED", "x"))).toBe(1);
	expect(await tries(new HoldfastError("NO_FILES", "x", { cause: Object.assign(new Error("EMFILE"), { code: "EMFILE" }) }))).toBe(1);
});
