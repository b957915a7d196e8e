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
	expect(seen[0]?.split("\n")).toEqual([`An agent wants to run this in ${dir}:`, expect.stringContaining("(force-push)"), risky]);
	answer = { answer: "no", message: "use a branch" };
	expect(await http.call("terminal", { command: risky, workdir: dir })).toMatchObject({
		status: "blocked",
		outcome: "denied",
		error: expect.stringContaining("use a branch"),
	});
	expect(runs()).toBe(1);
	// The same on stdio.
	const stdio = await overStdio(home, ["--task", "two"], { generation, capabilities: ELICITS });
	person(stdio, () => ({ action: "accept", content: { answer: "no" } }));
	expect(await stdio.call("terminal", { command: risky, workdir: dir })).toMatchObject({ status: "blocked", outcome: "denied" });
	expect(runs()).toBe(1);
	expect(runtime.approvals.list()).toEqual([]);
});

test.each(GENERATIONS)("only a person's answer is a no (%s): what the client declines or closes stays open", async (generation) => {
	const { runtime, risky, dir, runs } = await setting();
	const door = await (await overHttp(runtime)).connect({ generation, capabilities: ELICITS, query: "?task=one" });
	let say: { action: string; content?: Record<string, unknown> } = { action: "decline" };
	const seen = person(door, () => say);
	const first = await door.call("terminal", { command: risky, workdir: dir });
	expect(first).toMatchObject({
		status: "pending_approval",
		error: null,
		note: expect.stringContaining("the client declined the question, perhaps without showing it"),
	});
	expect(first.note).toContain(`approvals answer ${first.approval_id} once --home ${runtime.home.root}`);
	for (const other of [{ action: "cancel" }, { action: "accept", content: {} }, { action: "accept", content: { answer: "perhaps" } }]) {
		say = other;
		const again = await door.call("terminal", { command: risky, workdir: dir });
		expect(again).toMatchObject({
			status: "pending_approval",
			approval_id: first.approval_id,
			note: expect.stringMatching(/No person has said yes or no: .*approvals answer/),
		});
	}
	expect(seen).toHaveLength(4);
	expect(runtime.approvals.get(first.approval_id as string).state).toBe("pending");
	await runtime.approvals.answer(first.approval_id as string, { answer: "once" });
	expect(await door.call("terminal", { command: risky, workdir: dir })).toMatchObject({ status: "exited" });
	expect(runs()).toBe(1);
});

test.each(GENERATIONS)("Codex gets a form without a field that may be left empty (%s)", async (generation) => {
	const { runtime, risky, dir } = await setting();
	const served = await overHttp(runtime);
	const fields: string[][] = [];
	for (const name of ["codex-mcp-client", "claude-code"]) {
		const door = await served.connect({ generation, capabilities: ELICITS, name, query: `?task=${name}` });
		door.client.setRequestHandler("elicitation/create", ({ params }) => {
			const { properties } = (params as { requestedSchema: { properties: Record<string, { description: string }> } }).requestedSchema;
			fields.push(Object.keys(properties));
			expect(properties.answer?.description).toContain("(force-push)");
			return { action: "accept", content: { answer: "once" } };
		});
		expect(await door.call("terminal", { command: risky, workdir: dir })).toMatchObject({ status: "exited" });
	}
	expect(fields).toEqual([["answer"], ["answer", "message"]]);
});

test.each(GENERATIONS)("a client that cannot ask gets an answer in time (%s), and goes on by calling again", async (generation) => {
	const { runtime, risky, dir, runs } = await setting();
	await runtime.terminal({ command: "true" }, { task: "one" }); // its shell is there
	const { call } = await (await overHttp(runtime, { answerMs: 1_500 })).connect({ generation, query: "?task=one" });
	const first = await call("terminal", { command: risky, workdir: dir });
	expect(first).toMatchObject({ status: "pending_approval", note: expect.stringContaining("approvals answer") }); // nobody is there
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

test("an open form in the client closes when another door has answered", async () => {
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
