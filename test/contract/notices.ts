import fs from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import type { Begin, Result, Test } from "./door.js";

export function noticeCases(begin: Begin, test: Test): void {
	test("a completion comes once, with the next result, also when a poll has seen the end", async () => {
		const { start, process, terminal, dir } = await begin();
		const door = gate(dir);
		const id = await start(`${door.command}; echo bye; exit 3`, { notify_on_complete: true });
		door.open();
		const [notice] = await nextNotices(() => process({ action: "poll", session_id: id }));
		expect(notice).toMatchObject({ kind: "completed", session_id: id, status: "exited", exit_code: 3, text: expect.stringContaining("bye") });
		expect(await terminal({ command: "true" })).not.toHaveProperty("notices");
	});

	test("a caller that has waited for the end, read its log, or killed it is not told again", async () => {
		const { start, process, terminal, dir } = await begin();
		const [first, second] = [gate(dir, "first"), gate(dir, "second")];
		const waited = await start(`${first.command}; exit 3`, NOTIFY);
		const read = await start(`${second.command}; exit 3`, NOTIFY);
		const killed = await start("sleep 300", NOTIFY);
		first.open();
		expect(await process({ action: "wait", session_id: waited })).not.toHaveProperty("notices");
		expect(await process({ action: "kill", session_id: killed })).not.toHaveProperty("notices");
		second.open();
		let log: Result;
		do log = await process({ action: "log", session_id: read });
		while (log.status === "running");
		expect(log).not.toHaveProperty("notices");
		expect(await terminal({ command: "true" })).not.toHaveProperty("notices");
	});

	test("a line that was watched for", async () => {
		const { start, process, dir } = await begin();
		const door = gate(dir);
		const id = await start(`${door.command}; echo fine; echo 'an ERROR here'; sleep 300`, { watch_patterns: ["ERROR"] });
		door.open();
		const [notice] = await nextNotices(() => process({ action: "poll", session_id: id }));
		expect(notice).toMatchObject({ kind: "match", session_id: id, text: expect.stringContaining("an ERROR here") });
	});

	test("both at once: the end wins, and that is said", async () => {
		const { terminal } = await begin();
		const result = await terminal({ command: "sleep 300", background: true, notify_on_complete: true, watch_patterns: ["x"] });
		expect(result).toMatchObject({ status: "running", note: expect.stringContaining("watch_patterns was ignored") });
	});

	test("a pattern that can never match is refused, and nothing runs", async () => {
		const { terminal, process } = await begin();
		expect(await terminal({ command: "sleep 300", background: true, watch_patterns: ["a\nb"] })).toMatchObject({
			status: "error",
			error: expect.stringMatching(/^watch_patterns\.0 is the string "a\\nb", but must not contain line breaks/),
		});
		expect(await process({ action: "list" })).toMatchObject({ processes: [] });
	});

	test("other tasks do not get them", async () => {
		const { start, process, other, dir } = await begin();
		const stranger = await other("another task");
		const door = gate(dir);
		const id = await start(`${door.command}; exit 3`, NOTIFY);
		door.open();
		let seen: Result;
		do seen = await stranger.process({ action: "list" });
		while ((await process({ action: "list" })).notices === undefined && seen.notices === undefined);
		expect(seen).not.toHaveProperty("notices");
		expect(id).toBeDefined();
	});
}

const NOTIFY = { notify_on_complete: true };

/** Nothing happens before the answer to the start is here: else that would bring the notice. */
function gate(dir: string, name = "open"): { command: string; open: () => void } {
	const file = path.join(dir, name);
	return { command: `until [ -e ${file} ]; do sleep 0.02; done`, open: () => fs.writeFileSync(file, "") };
}

/** Call until a result has some. */
async function nextNotices(call: () => Promise<Result>): Promise<NonNullable<Result["notices"]>> {
	for (;;) {
		const { notices } = await call();
		if (notices) return notices;
	}
}
