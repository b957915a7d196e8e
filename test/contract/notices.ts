import { expect, test } from "vitest";
import type { Client, Result } from "./door.js";

export function noticeCases(begin: () => Promise<Client>): void {
	test("a completion comes once, with the next result, also when a poll has seen the end", async () => {
		const { start, process, terminal } = await begin();
		const id = await start("echo bye; exit 3", { notify_on_complete: true });
		const [notice] = await nextNotices(() => process({ action: "poll", session_id: id }));
		expect(notice).toMatchObject({ kind: "completed", session_id: id, status: "exited", exit_code: 3, text: expect.stringContaining("bye") });
		expect(await terminal({ command: "true" })).not.toHaveProperty("notices");
	});

	test("who has waited for the end, read the log of it, or killed it is not told again", async () => {
		const { start, process, terminal } = await begin();
		const [waited, read, killed] = [await start("exit 3", NOTIFY), await start("exit 3", NOTIFY), await start("sleep 300", NOTIFY)];
		expect(await process({ action: "wait", session_id: waited })).not.toHaveProperty("notices");
		expect(await process({ action: "kill", session_id: killed })).not.toHaveProperty("notices");
		let log: Result;
		do log = await process({ action: "log", session_id: read });
		while (log.status === "running");
		expect(log).not.toHaveProperty("notices");
		expect(await terminal({ command: "true" })).not.toHaveProperty("notices");
	});

	test("a line that was watched for", async () => {
		const { start, process } = await begin();
		const id = await start("echo fine; echo 'an ERROR here'; sleep 300", { watch_patterns: ["ERROR"] });
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
			error: expect.stringContaining("line breaks"),
		});
		expect(await process({ action: "list" })).toMatchObject({ processes: [] });
	});

	test("nobody else gets them", async () => {
		const { start, process, other } = await begin();
		const stranger = await other("another task");
		const id = await start("exit 3", NOTIFY);
		let seen: Result;
		do seen = await stranger.process({ action: "list" });
		while ((await process({ action: "list" })).notices === undefined && seen.notices === undefined);
		expect(seen).not.toHaveProperty("notices");
		expect(id).toBeDefined();
	});
}

const NOTIFY = { notify_on_complete: true };

/** Call until a result has some. */
async function nextNotices(call: () => Promise<Result>): Promise<NonNullable<Result["notices"]>> {
	for (;;) {
		const { notices } = await call();
		if (notices) return notices;
	}
}
