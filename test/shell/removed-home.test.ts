import fs from "node:fs";
import { expect, test } from "vitest";
import { errno } from "../../src/base/errors.js";
import { atEnd, testRuntime } from "../support/home.js";

test("the home is removed while a runtime uses it: that is said once, then it is made anew, and nothing but the old shell is left", async () => {
	const runtime = await testRuntime({ warm: 1 });
	const shells: number[] = [];
	atEnd(() => shells.forEach(end)); // nobody knows of them any more
	const run = () => runtime.terminal({ command: "echo $$" });
	let result = await run();
	while (result.status === "exited") {
		if (shells.length > 0) expect(result.note).toContain("home was removed after the last command, so this is a new shell, in ");
		shells.push(Number(result.output));
		remove(runtime.home.root);
		result = await run();
	}
	expect(result).toMatchObject({ status: "error", error: expect.stringContaining("home was removed") });
	expect(await runtime.terminal({ command: "echo again" })).toMatchObject({ status: "exited", output: "again\n" });
	const { session_id } = await runtime.terminal({ command: "echo beside", background: true });
	expect(await runtime.process({ action: "wait", session_id })).toMatchObject({ status: "exited", output: "beside\n" });
});

/** Something may just be made in it, and the next command run there. With `maxRetries` rmSync would wait, for minutes, and not remove what has come meanwhile. */
function remove(dir: string): void {
	for (;;) {
		try {
			fs.rmSync(dir, { recursive: true, force: true });
			return;
		} catch (error) {
			if (errno(error) !== "ENOTEMPTY") throw error;
		}
	}
}

function end(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// gone by itself
	}
}
