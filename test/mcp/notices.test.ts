import { LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { testRuntime, until } from "../support/home.js";
import type { Notice } from "../support/internal.js";
import { type Connected, cutOff, gate, overHttp, overStdio, type Result, testHome } from "../support/mcp.js";

describe.each([
	["stdio", async () => overStdio(testHome())],
	["HTTP", async () => (await overHttp(await testRuntime())).connect()],
])("over %s", (_name, open) => {
	test("a notice is announced as a log message when it comes, and is in the next result with the same id", async () => {
		const connected = await open();
		const messages = heard(connected);
		const { session_id, end } = await notifying(connected);
		end();
		await until("it is announced", () => messages.length > 0);
		expect(messages).toMatchObject([{ kind: "completed", session_id, exit_code: 3 }]);
		expect((await nextNotices(connected)).map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
		expect(await connected.call("terminal", { command: "true" })).not.toHaveProperty("notices");
	});

	test("a client that wants no such messages gets it with the result alone", async () => {
		const connected = await open();
		const messages = heard(connected);
		await connected.client.setLoggingLevel("error");
		const silent = await notifying(connected);
		silent.end();
		expect(await nextNotices(connected)).toMatchObject([{ session_id: silent.session_id }]);
		await connected.client.setLoggingLevel("info");
		const { session_id, end } = await notifying(connected);
		end();
		await until("the second is announced", () => messages.length > 0);
		expect(messages).toMatchObject([{ session_id }]);
	});
});

test("in the newer protocol a notice comes with the result", async () => {
	const connected = await (await overHttp(await testRuntime())).connect({ generation: "2026-07-28" });
	const messages = heard(connected);
	const { session_id, end } = await notifying(connected);
	end();
	expect(await nextNotices(connected)).toMatchObject([{ session_id, kind: "completed" }]);
	expect(messages).toEqual([]);
});

test.each([
	["stdio", async () => overStdio(testHome(), [], { generation: "2026-07-28" })],
	["HTTP", async () => (await overHttp(await testRuntime())).connect({ generation: "2026-07-28" })],
] as const)("there a request that asks for log messages has it announced while it lasts, over %s", async (_name, open) => {
	const connected = await open();
	const messages = heard(connected);
	const { session_id, end } = await notifying(connected);
	const door = gate();
	const asking = { name: "terminal", arguments: { command: door.command }, _meta: { [LOG_LEVEL_META_KEY]: "info" } };
	const call = connected.client.callTool(asking);
	await until("the command runs", door.started);
	end();
	await until("it is announced", () => messages.length > 0);
	door.open();
	expect(messages).toMatchObject([{ kind: "completed", session_id, exit_code: 3 }]);
	expect((await call).structuredContent).toMatchObject({ output: "started\nfinished\n", notices: [{ id: messages[0]?.id }] });
	expect(await connected.call("terminal", { command: "true" })).not.toHaveProperty("notices");
});

test("a result that reaches no caller takes no notice with it", async () => {
	const runtime = await testRuntime();
	const served = await overHttp(runtime);
	const connected = await served.connect({ generation: "2026-07-28", query: "?task=mine" });
	const { session_id, end } = await notifying(connected);
	const door = gate();
	await cutOff(served, "2026-07-28", door.command, door.started);
	end();
	await until("the process has ended", () => runtime.get(session_id).status().status === "exited");
	door.open();
	await until("the call has ended", () => !served.door.busy);
	expect(await nextNotices(connected)).toMatchObject([{ session_id }]);
});

test("clients that share a task all hear of a notice, but one result has it", async () => {
	const { connect } = await overHttp(await testRuntime(), { task: "shared" });
	const [one, other] = [await connect(), await connect()];
	const [mine, theirs] = [heard(one), heard(other)];
	const { end } = await notifying(one);
	end();
	await until("both have heard", () => mine.length > 0 && theirs.length > 0);
	expect(await nextNotices(other)).toHaveLength(1);
	expect(await one.call("terminal", { command: "true" })).not.toHaveProperty("notices");
});

/** A background process that ends with 3 when told, and then there is a notice. */
async function notifying({ call }: Connected): Promise<{ session_id: string; end: () => void }> {
	const door = gate();
	const { session_id } = await call("terminal", { command: `${door.command}; exit 3`, background: true, notify_on_complete: true });
	return { session_id, end: door.open };
}

function heard({ client }: Connected): Notice[] {
	const messages: Notice[] = [];
	client.setNotificationHandler("notifications/message", ({ params }) => void messages.push(params.data as Notice));
	return messages;
}

async function nextNotices({ call }: Connected): Promise<NonNullable<Result["notices"]>> {
	for (;;) {
		const { notices } = await call("process", { action: "list" });
		if (notices) return notices;
	}
}
