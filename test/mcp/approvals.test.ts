import { expect, test } from "vitest";
import { asked, setting } from "../approvals/support.js";
import { atEnd, until } from "../support/home.js";
import { type Connected, GENERATIONS, overHttp, overStdio } from "../support/mcp.js";

const ELICITS = { elicitation: { form: {} } };

/** What a client's person sees, and says. */
function person({ client }: Connected, say: () => { action: string; content?: Record<string, unknown> }): string[] {
	const seen: string[] = [];
	client.setRequestHandler("elicitation/create", ({ params }) => {
		seen.push((params as { message: string }).message);
		return say() as { action: "accept" };
	});
	return seen;
}

test.each(GENERATIONS)("a person is asked through a client that can (%s): once, and no with a message", async (generation) => {
	const { runtime, risky, dir, runs, home } = await setting({ unattended: "deny" });
	const http = await (await overHttp(runtime)).connect({ generation, capabilities: ELICITS, query: "?task=one" });
	let answer: Record<string, unknown> = { answer: "once" };
	const seen = person(http, () => ({ action: "accept", content: answer }));
	expect(await http.call("terminal", { command: risky, workdir: dir })).toMatchObject({ status: "exited", note: expect.stringContaining("once, mcp client") });
	expect(seen).toEqual([expect.stringContaining(risky)]);
	expect(seen[0]).toContain("force-push");
	answer = { answer: "no", message: "use a branch" };
	expect(await http.call("terminal", { command: risky, workdir: dir })).toMatchObject({
		status: "blocked",
		outcome: "denied",
		error: expect.stringContaining("use a branch"),
	});
	expect(runs()).toBe(1);
	// The same on stdio; to close the form is a no.
	const stdio = await overStdio(home, ["--task", "two"], { generation, capabilities: ELICITS });
	const closed = person(stdio, () => ({ action: "cancel" }));
	expect(await stdio.call("terminal", { command: risky, workdir: dir })).toMatchObject({ status: "blocked", outcome: "denied" });
	expect(closed).toHaveLength(1);
	expect(runs()).toBe(1);
	expect(runtime.approvals.list()).toEqual([]);
});

test.each(GENERATIONS)("a client that cannot ask gets an answer in time (%s), and goes on by calling again", async (generation) => {
	const { runtime, risky, dir, runs } = await setting();
	await runtime.terminal({ command: "true" }, { task: "one" }); // its shell is there
	const { call } = await (await overHttp(runtime, { answerMs: 1_500 })).connect({ generation, query: "?task=one" });
	const first = await call("terminal", { command: risky, workdir: dir });
	expect(first).toMatchObject({ status: "pending_approval", note: expect.stringContaining("holdfast approvals answer") }); // nobody is there
	const leave = runtime.approvals.attend();
	expect(await call("terminal", { command: risky, workdir: dir })).toMatchObject({
		status: "pending_approval",
		approval_id: first.approval_id,
		note: expect.stringContaining("go on waiting"),
	});
	leave();
	await runtime.approvals.answer(first.approval_id as string, { answer: "once" });
	expect(await call("terminal", { command: risky, workdir: dir })).toMatchObject({ status: "exited" });
	expect(runs()).toBe(1);
});

test("a form that is open in the client goes away when somebody else has answered", async () => {
	const { runtime, risky, dir } = await setting();
	const door = await (await overHttp(runtime)).connect({ capabilities: ELICITS, query: "?task=one" });
	let open = false;
	door.client.setRequestHandler("elicitation/create", async (_request, { mcpReq }) => {
		open = true;
		await new Promise((resolve) => mcpReq.signal.addEventListener("abort", resolve, { once: true }));
		open = false;
		return { action: "accept", content: { answer: "no" } };
	});
	const result = door.call("terminal", { command: risky, workdir: dir });
	const [id] = await asked(runtime);
	await until("the form is open", () => open);
	await runtime.approvals.answer(id as string, { answer: "once", by: "elsewhere" });
	expect(await result).toMatchObject({ status: "exited", note: expect.stringContaining("once, elsewhere") });
	await until("the form is gone", () => !open);
});

test("a client's answers concern its own task alone", async () => {
	const { runtime, risky, dir } = await setting();
	const { approval_id } = await runtime.terminal({ command: risky });
	const served = await overHttp(runtime);
	const meta = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": ELICITS } };
	const params = {
		name: "terminal",
		arguments: { command: risky, workdir: dir },
		inputResponses: { [approval_id as string]: { action: "accept", content: { answer: "once" } } },
		...meta,
	};
	const headers = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "terminal" };
	const answer = await served.request({ headers, body: { jsonrpc: "2.0", id: 1, method: "tools/call", params } });
	expect(await answer.text()).toContain("input_required"); // a question of its own
	expect(runtime.approvals.get(approval_id as string).state).toBe("pending");
	atEnd(() => runtime.approvals.close());
});
