import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { namesIn, readIfThere } from "../../src/base/files.js";
import type { Home } from "../../src/base/home.js";
import { procDir } from "../../src/keeper/layout.js";
import { testRuntime, until } from "../support/home.js";
import { type Connected, GENERATIONS, type Generation, overHttp, overStdio, testHome } from "../support/mcp.js";

describe.each(GENERATIONS)("logs as resources, protocol %s", (generation) => {
	test("each process of the task has one, newest first, and those of other tasks cannot be read", async () => {
		const { connect } = await overHttp(await testRuntime());
		const [mine, other] = [await connect({ generation, query: "?task=mine" }), await connect({ generation, query: "?task=other" })];
		const { session_id: first } = await mine.call("terminal", { command: "echo one;   printf '\\033[1mtwo\\033[0m\\n'", background: true });
		const { session_id: second } = await mine.call("terminal", { command: "sleep 1000", background: true });
		const { resources } = await mine.client.listResources();
		expect(resources.map(({ uri }) => uri)).toEqual([uriOf(second), uriOf(first)]);
		expect(resources[1]).toMatchObject({ title: "echo one; printf '\\033[1mtwo\\033[0m\\n'", mimeType: "text/plain" });
		await mine.call("process", { action: "wait", session_id: first });
		expect((await mine.client.readResource({ uri: uriOf(first) })).contents).toMatchObject([{ text: "one\ntwo\n", mimeType: "text/plain" }]);
		expect((await other.client.listResources()).resources).toEqual([]);
		for (const [{ client }, uri] of [
			[other, uriOf(first)],
			[mine, uriOf("proc_000000000000")],
			[mine, `${uriOf(first)}/more`],
			[mine, "file:///etc/passwd"],
		] as const)
			await expect(client.readResource({ uri })).rejects.toThrow(/not found/i);
	});

	test("the template says how a log is named", async () => {
		const { client } = await (await overHttp(await testRuntime())).connect({ generation });
		expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([{ uriTemplate: "holdfast://process/{session_id}/log" }]);
	});

	test("a long one is its end, from the start of a line, and says what is left out", async () => {
		const { client, call } = await (await overHttp(await testRuntime())).connect({ generation });
		const { session_id } = await call("terminal", { command: "seq 1 100000; echo ü", background: true });
		await call("process", { action: "wait", session_id });
		const { text, _meta } = await read(client, uriOf(session_id));
		const [note, line, ...rest] = text.split("\n");
		expect(note).toBe(`[${_meta.byte_offset} bytes before this are left out; process(action="log", session_id="${session_id}", byte_offset=…) reads them]`);
		expect(line).toMatch(/^\d{5}$/);
		expect(rest.slice(-3)).toEqual(["100000", "ü", ""]);
		expect(Buffer.byteLength(text)).toBeLessThan(201_000);
	});

	test("a subscriber is told when a log has grown, until it unsubscribes", async () => {
		const runtime = await testRuntime();
		const { connect } = await overHttp(runtime);
		await subscribing(await connect({ generation }), generation, { pid: process.pid, home: runtime.home.root });
	});

	test("over stdio too", async () => {
		const home = testHome();
		const connected = await overStdio(home, [], { generation });
		await subscribing(connected, generation, { pid: connected.transport.pid as number, home });
	});

	test("a program that is gone is not watched", async () => {
		const runtime = await testRuntime();
		const { id } = await runtime.spawn({ command: "sleep 1000", task: "mine" });
		const { connect } = await overHttp(runtime);
		const server = { pid: process.pid, home: runtime.home.root };
		const connected = await connect({ generation, query: "?task=mine" });
		await subscribe(connected, generation, uriOf(id));
		await until("it is watched", () => watches(server, id));
		await connected.transport.terminateSession();
		await connected.client.close();
		await until("nobody watches any more", () => !watches(server, id));
	});
});

test("a flood is an update now and then, not one for each piece", async () => {
	const { client, call } = await (await overHttp(await testRuntime())).connect();
	const { session_id } = await call("terminal", { command: "read; for i in $(seq 1 200); do echo $i; sleep 0.01; done", background: true });
	const updates = count(client);
	await client.subscribeResource({ uri: uriOf(session_id) });
	const began = performance.now();
	await call("process", { action: "submit", session_id, data: "" });
	await call("process", { action: "wait", session_id });
	await until("an update", () => updates.length > 0);
	expect(updates.length).toBeLessThanOrEqual((performance.now() - began) / 1_000 + 2); // one a second, however long it takes
});

test("no process can be subscribed to that is not there", async () => {
	const { client } = await (await overHttp(await testRuntime())).connect();
	await expect(client.subscribeResource({ uri: uriOf("proc_000000000000") })).rejects.toThrow(/not found/i);
});

/** One line before, one while subscribed, one after. */
async function subscribing(connected: Connected, generation: Generation, server: { pid: number; home: string }): Promise<void> {
	const { client, call } = connected;
	const { session_id } = await call("terminal", { command: "echo before; while read line; do echo $line; done", background: true });
	const uri = uriOf(session_id);
	const shows = async (text: string) => {
		while (!(await read(client, uri)).text.includes(text));
	};
	await shows("before");
	const updates = count(client);
	const never = await subscribe(connected, generation, uri);
	await until("it is watched", () => watches(server, session_id));
	await never();
	await until("nobody watches any more", () => !watches(server, session_id));
	const end = await subscribe(connected, generation, uri);
	await until("it is watched again", () => watches(server, session_id));
	await call("process", { action: "submit", session_id, data: "while" });
	await until("an update", () => updates.length > 0);
	expect(updates).toEqual([uri]);
	await end();
	await call("process", { action: "submit", session_id, data: "after" });
	await shows("after");
	expect(updates).toEqual([uri]);
}

/** Does a program watch the directory of a process? */
function watches({ pid, home }: { pid: number; home: string }, id: string): boolean {
	const inode = fs.statSync(procDir({ procs: path.join(home, "procs") } as Home, id)).ino.toString(16);
	const dir = `/proc/${pid}/fdinfo`;
	return namesIn(dir).some((fd) => readIfThere(`${dir}/${fd}`)?.includes(` ino:${inode} `));
}

async function read(client: Connected["client"], uri: string): Promise<{ text: string; _meta: { byte_offset: number } }> {
	const { contents } = await client.readResource({ uri });
	return contents[0] as unknown as { text: string; _meta: { byte_offset: number } };
}

const uriOf = (id: string): string => `holdfast://process/${id}/log`;

function count(client: Connected["client"]): string[] {
	const updates: string[] = [];
	client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updates.push(params.uri));
	return updates;
}

/** In the way of each generation. Returns what ends it. */
async function subscribe({ client }: Connected, generation: Generation, uri: string): Promise<() => Promise<unknown>> {
	if (generation === "2025-11-25") {
		await client.subscribeResource({ uri });
		return () => client.unsubscribeResource({ uri });
	}
	const subscription = await client.listen({ resourceSubscriptions: [uri] });
	return () => subscription.close();
}
