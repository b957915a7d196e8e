import fs from "node:fs";
import { expect, test } from "vitest";
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
		fs.rmSync(runtime.home.root, { recursive: true, force: true, maxRetries: 100 }); // something may just be made in it, and the next command run there
		result = await run();
	}
	expect(result).toMatchObject({ status: "error", error: expect.stringContaining("home was removed") });
	expect(await runtime.terminal({ command: "echo again" })).toMatchObject({ status: "exited", output: "again\n" });
	const { session_id } = await runtime.terminal({ command: "echo beside", background: true });
	expect(await runtime.process({ action: "wait", session_id })).toMatchObject({ status: "exited", output: "beside\n" });
});

test("the home is moved away while a log is made ready in it, and back: every call answers, and what ran before is there", async () => {
	const runtime = await testRuntime();
	const [root, away] = [runtime.home.root, `${runtime.home.root}.away`];
	atEnd(() => fs.rmSync(`${root}.other`, { recursive: true, force: true }));
	await runtime.terminal({ command: "true" });
	const { session_id } = await runtime.terminal({ command: "cat", pty: true, background: true });
	fs.renameSync(root, away);
	const meanwhile = await runtime.terminal({ command: "echo $$" }); // in a home made anew, or refused
	if (meanwhile.status === "exited") atEnd(() => end(Number(meanwhile.output)));
	else expect(meanwhile).toMatchObject({ status: "error", error: expect.stringContaining("home was removed") });
	if (fs.existsSync(root)) fs.renameSync(root, `${root}.other`);
	fs.renameSync(away, root);
	const back = () => runtime.terminal({ command: "echo back" });
	const first = await back();
	expect(first.status === "exited" ? first : await back()).toMatchObject({ status: "exited", output: "back\n" });
	expect(await runtime.process({ action: "poll", session_id })).toMatchObject({ error: null, session_id });
});

function end(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// gone by itself
	}
}
