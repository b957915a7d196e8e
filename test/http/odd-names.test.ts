/** Names over HTTP that would be others once they are in a file, or act on a terminal. */
import { expect, test } from "vitest";
import { endedTaskSchema, processListSchema, startedSchema } from "../../src/doors/http/schemas.js";
import { testRuntime } from "../support/home.js";
import { overApi } from "../support/http.js";

test("a task with a NUL or half of a character in its name is refused at every door, and nothing starts; a strange but whole name is one", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	for (const task of ["a\0b", "a\ud800b", "\udc00", "", "x".repeat(1_001)]) {
		expect(await api.fails("POST", "/api/processes", { command: "true", task }), JSON.stringify(task)).toBe("INVALID 400");
		expect(await api.fails("POST", "/api/tasks/end", { task })).toBe("INVALID 400");
		expect(await api.fails("POST", "/api/tasks/revoke", { task })).toBe("INVALID 400");
	}
	for (const query of ["task=a%00b", "task="]) {
		expect(await api.fails("POST", `/api/tools/terminal?${query}`, { command: "true" }), query).toBe("INVALID 400");
		expect(await api.fails("GET", `/api/processes?${query}`)).toBe("INVALID 400");
		expect(await api.fails("GET", `/api/tasks/log?${query}`)).toBe("INVALID 400");
		const mcp = await api.request("POST", `/mcp?${query}`, { body: { jsonrpc: "2.0", id: 1, method: "ping" } });
		expect([mcp.status, await mcp.text()]).toEqual([400, expect.stringContaining("the name of a task has 1 to 1000 characters")]);
	}
	for (const name of ["a\0b", "a\u001b[8mb", "a\ud800"]) expect(await api.fails("POST", "/api/processes", { command: "true", name })).toBe("INVALID 400");
	expect(runtime.list({ task: null, shells: true })).toEqual([]);

	const task = "日本 \u{1f389}\u202e\n\t/../%2e";
	const { session_id } = await api.call(startedSchema, "POST", "/api/processes", { command: "sleep 1000", task });
	expect(await api.fails("POST", `/api/processes/${session_id}/rename`, { name: "a\u0007b" })).toBe("INVALID 400");
	expect((await api.call(processListSchema, "GET", `/api/processes?task=${encodeURIComponent(task)}`)).processes).toMatchObject([{ session_id, task }]);
	expect(await api.call(endedTaskSchema, "POST", "/api/tasks/end", { task })).toMatchObject({ task, gone: true, processes: [{ session_id }] });
});
