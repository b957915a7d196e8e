import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import { expect, test } from "vitest";
import { namesIn, readIfThere } from "../../src/base/files.js";
import { openRuntime } from "../../src/index.js";
import { CLI, cli } from "../support/cli.js";
import { atEnd, tempDir, until } from "../support/home.js";
import { apiAt, Viewer } from "../support/http.js";
import { testHome } from "../support/mcp.js";

test("holdfast serve: a link that works, another port if that one is taken, and Ctrl-C leaves what runs and says so", async () => {
	const home = testHome();
	const taken = net.createServer();
	await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
	atEnd(() => taken.close());
	const port = (taken.address() as net.AddressInfo).port;
	expect((await cli(home, ["serve", "--link"])).stderr).toContain("no `holdfast serve` runs on this home");
	expect(await cli(home, ["serve", "--port", String(port)])).toMatchObject({
		code: 2,
		stderr: expect.stringContaining(`something already listens on 127.0.0.1:${port}`),
	});
	expect(await cli(home, ["serve", "--host", "0.0.0.0"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--token-file") });

	const { child, said } = serve(home, ["--port", String(port), "--any-port"]);
	await until("it has said where", () => said().includes("Ctrl-C stops the server"));
	const [, origin, key] = /(http:\/\/127\.0\.0\.1:\d+)\/#token=(\S+)/.exec(said()) as RegExpExecArray;
	expect(Number(new URL(origin as string).port)).not.toBe(port);
	expect(said()).toContain(`MCP endpoint: ${origin}/mcp`);
	const token = (readIfThere(`${home}/token`) as string).trim();
	expect(said()).not.toContain(token);
	const login = (given: string) =>
		fetch(`${origin}/api/login`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token: given }) });
	expect((await login(key as string)).status).toBe(200);
	const { stdout } = await cli(home, ["serve", "--link"]);
	expect((await login(stdout.trim().split("#token=")[1] as string)).status).toBe(200);

	const runtime = await openRuntime({ home, warm: 0 });
	atEnd(() => runtime.close());
	const process = await runtime.spawn({ command: "cat", terminal: true });
	const viewer = await Viewer.connect(apiAt(origin as string, token), process.id);
	viewer.send({ type: "open", offset: null });
	await viewer.takeKeyboard();
	const closed = once(child, "close"); // with all that it has said
	child.kill("SIGINT");
	expect(await closed).toEqual([0, null]);
	expect(said()).toContain("stopped; 1 process goes on");
	await viewer.until("told", () => viewer.closed);
	expect(viewer.closed?.code).toBe(1001);
	expect(process.status().status).toBe("running");
	expect(runtime.notices.waiting("default")).toMatchObject([{ kind: "keyboard" }]); // given back on the way out
	expect(namesIn(`${home}/serve`)).toEqual([]);
});

test("with two servers on a home, --link finds the newest that is alive; a server that is not asked for an address prints the link of the one that runs", async () => {
	const home = testHome();
	const link = async () => (await cli(home, ["serve", "--link"])).stdout.replace(/\/#token=\S+\n/, "");
	const first = await listening(home);
	for (const signal of ["SIGINT", "SIGKILL"] as const) {
		const second = await listening(home);
		expect(await link()).toBe(second.origin);
		const closed = once(second.child, "close");
		second.child.kill(signal);
		await closed;
		expect(await link()).toBe(first.origin);
	}
	expect(await cli(home, ["serve"])).toMatchObject({ code: 0, stdout: expect.stringContaining(`${first.origin}/#token=`) });
	expect((await cli(home, ["serve", "--any-port"])).stdout).toContain("A server runs on this home already");
});

async function listening(home: string): Promise<{ child: ChildProcess; origin: string }> {
	const { child, said } = serve(home, ["--port", "0"]);
	await until("it has said where", () => said().includes("Ctrl-C stops the server"));
	return { child, origin: /(http:\/\/127\.0\.0\.1:\d+)\/#token=/.exec(said())?.[1] as string };
}

function serve(home: string, args: readonly string[]): { child: ChildProcess; said: () => string } {
	const child = spawn(process.execPath, [CLI, "serve", "--home", home, ...args], { stdio: ["ignore", "pipe", "pipe"], cwd: tempDir() });
	atEnd(() => void child.kill("SIGKILL"));
	let text = "";
	for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (piece: string) => (text += piece));
	return { child, said: () => text };
}
