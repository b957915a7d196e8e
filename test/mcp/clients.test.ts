/** Which client has which task, for clients over HTTP: seen from other programs. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { taskKey } from "../../src/base/index.js";
import { clientFields, prunePresence } from "../../src/doors/mcp/presence.js";
import { CLI, cli } from "../support/cli.js";
import { atEnd, testRuntime, until } from "../support/home.js";
import type { Process, Runtime } from "../support/internal.js";
import { GENERATIONS, newClient, overHttp, testHome } from "../support/mcp.js";

const leases = (home: string, task: string) => {
	const dir = path.join(home, "mcp");
	return fs
		.readdirSync(dir)
		.filter((name) => name.startsWith(taskKey(task)))
		.map((name) => path.join(dir, name));
};

/** As if nothing had been heard for so long. */
function longAgo(home: string, task: string, ms: number): void {
	const then = new Date(Date.now() - ms);
	for (const file of leases(home, task)) fs.utimesSync(file, then, then);
}

const stateOf = (runtime: Runtime, task: string) => clientFields(runtime.home, task).client;

describe.each(GENERATIONS)("a client over HTTP, protocol %s", (generation) => {
	test("is shown with its name and version; the next one of the task in its place; and is gone when the server is", async () => {
		const runtime = await testRuntime();
		const served = await overHttp(runtime);
		const query = "?task=site";
		const { call } = await served.connect({ generation, query, name: "some-client", version: "2.7.1" });
		await call("terminal", { command: "true" });
		expect(clientFields(runtime.home, "site")).toEqual({
			client: "connected",
			client_name: "some-client",
			client_version: "2.7.1",
			silent_since: null,
			gone_since: null,
		});
		const other = await served.connect({ generation, query, name: "other", version: "1" });
		await other.call("terminal", { command: "true" });
		expect(clientFields(runtime.home, "site")).toMatchObject({ client: "connected", client_name: "other" });
		await served.door.close();
		expect(clientFields(runtime.home, "site")).toMatchObject({ client: "gone", client_name: "other", gone_since: expect.any(String) });
	});
});

test("a client with nothing open counts as silent after a while, until its next request; a listening client does not", async () => {
	const runtime = await testRuntime();
	const served = await overHttp(runtime);
	const quiet = await served.connect({ generation: "2026-07-28", query: "?task=quiet" });
	await quiet.call("terminal", { command: "true" });
	longAgo(runtime.home.root, "quiet", 120_000);
	expect(clientFields(runtime.home, "quiet")).toMatchObject({ client: "silent", silent_since: expect.any(String), gone_since: null });
	while (stateOf(runtime, "quiet") === "silent") await quiet.call("terminal", { command: "true" }); // signs of life are some seconds apart
	expect(stateOf(runtime, "quiet")).toBe("connected");

	const listening = await served.connect({ generation: "2025-11-25", query: "?task=listening" }); // its client has a stream open
	await listening.call("terminal", { command: "true" });
	longAgo(runtime.home.root, "listening", 120_000);
	await until("it has given a sign of life", () => stateOf(runtime, "listening") === "connected");
});

test("a session that its client has ended is gone; what it has left stays, and is forgotten when it is as old as logs get", async () => {
	const runtime = await testRuntime();
	const served = await overHttp(runtime);
	const { call, transport } = await served.connect({ name: "leaver", version: "3" });
	await call("terminal", { command: "sleep 1000", background: true });
	const [{ spec }] = runtime.list({ task: null }) as [Process];
	expect(stateOf(runtime, spec.task)).toBe("connected");
	await transport.terminateSession();
	await until("the server has noted it", () => stateOf(runtime, spec.task) === "gone");
	prunePresence(runtime.home);
	expect(stateOf(runtime, spec.task)).toBe("gone");
	longAgo(runtime.home.root, spec.task, 8 * 86_400_000);
	prunePresence(runtime.home);
	expect([stateOf(runtime, spec.task), leases(runtime.home.root, spec.task)]).toEqual([null, []]);
});

test("in `holdfast tasks`; with a server that was killed it is gone, and end --gone ends what it has left", async () => {
	const home = testHome();
	const server = spawn(process.execPath, [CLI, "serve", "--port", "0", "--json"], {
		env: { ...process.env, HOLDFAST_HOME: home },
		stdio: ["ignore", "pipe", "ignore"],
	});
	atEnd(() => server.kill("SIGKILL"));
	let said = "";
	server.stdout.setEncoding("utf8").on("data", (text: string) => {
		said += text;
	});
	await until("it serves", () => said.includes("\n"));
	const token = fs.readFileSync(path.join(home, "token"), "utf8").trim();
	const client = newClient({ name: "some\u202eclient", version: "2" });
	atEnd(() => client.close());
	await client.connect(new StreamableHTTPClientTransport(new URL(JSON.parse(said).mcp), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
	await client.callTool({ name: "terminal", arguments: { command: "sleep 1000", background: true } });
	const { stdout } = await cli(home, ["tasks"]);
	expect(stdout).toMatch(/^connected +some\\u202eclient 2 +1 +0 +\d +\d+s +mcp-[0-9a-f]{12}$/m);
	expect(JSON.parse((await cli(home, ["end", "--gone", "--json"])).stdout)).toEqual({ ended: [] });
	const closed = new Promise((resolve) => server.once("close", resolve));
	server.kill("SIGKILL");
	await closed;
	expect((await cli(home, ["tasks"])).stdout).toMatch(/^gone \d+s +some/m);
	expect(JSON.parse((await cli(home, ["end", "--gone", "--json"])).stdout).ended).toMatchObject([{ gone: true, processes: [{ command: "sleep 1000" }] }]);
});
