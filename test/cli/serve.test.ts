import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import { namesIn, readIfThere } from "../../src/base/files.js";
import { CLI, cli, hasTmux, Terminal } from "../support/cli.js";
import { atEnd, endAll, tempDir, until } from "../support/home.js";
import { apiAt, Viewer } from "../support/http.js";
import { openRuntime } from "../support/internal.js";
import { testHome } from "../support/mcp.js";
import { freePort } from "../support/ports.js";

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

test("preview prints a link to a port: by the port, the process, or both; without a server, a port or a process it says what is missing", async () => {
	const home = testHome();
	const runtime = await openRuntime({ home, warm: 0 });
	atEnd(() => endAll(runtime));
	const [port, second] = [await freePort(), await freePort()];
	const app = (at: number) => `python3 ${path.resolve("test/fixtures/preview-app.py")} ${at}`;
	const web = await runtime.spawn({ command: app(port), name: "web" });
	const two = await runtime.spawn({ command: `${app(second)} & ${app(await freePort())}`, name: "two", task: "other" });
	for (const each of [web, two]) await each.wait({ until: { pattern: each === two ? "ready\nready" : "ready" }, timeout: 100_000 });
	expect((await cli(home, ["preview", "web"])).stderr).toContain("no `holdfast serve` runs on this home");
	const server = await listening(home);
	const url = new RegExp(`^http://p${port}-${web.id.slice(5)}\\.localhost:${new URL(server.origin).port}/\\.holdfast/open\\?key=\\S+\\n$`);
	for (const words of [[String(port)], ["web"], ["web", String(port)], [web.id.slice(5, 11)]])
		expect((await cli(home, ["preview", ...words])).stdout).toMatch(url);
	for (const [words, code, sentence] of [
		[["two"], 2, `give one of these behind it`],
		[["web", String(second)], 3, `nothing of web listens on port ${second}; it listens on ${port}`],
		[[new URL(server.origin).port], 3, "no process that Holdfast keeps listens on port"],
		[["web", "99999"], 2, '"99999" is not a port'],
		[[], 2, "give a process, a port, or both"],
	] as const)
		expect(await cli(home, ["preview", ...words])).toMatchObject({ code, stderr: expect.stringContaining(sentence) });
	expect(await cli(home, ["serve", "--preview-url", "https://preview.example"])).toMatchObject({
		code: 2,
		stderr: expect.stringContaining("--preview-url must be"),
	});
});

test("with public addresses links have the first, of the server and of a terminal; an address that cannot be used is an error", async () => {
	const home = testHome();
	for (const [url, sentence] of [
		["box.example", "--public-url must begin with http:// or https://"],
		["https://me:secret@box.example", "--public-url must not contain a user name or password"],
	] as const) {
		const refused = await cli(home, ["serve", "--public-url", url]);
		expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
		expect(refused.stderr).not.toContain("secret");
	}
	const { said } = serve(home, ["--port", "0", "--public-url", "https://box.example/below/", "--public-url", "http://box.local:8080", "--json"]);
	await until("it has said where", () => said().includes("\n"));
	const { url, urls, mcp, origin } = JSON.parse(said());
	const key = new URL(url).hash;
	expect({ urls, mcp }).toEqual({
		urls: [`https://box.example/below/${key}`, `http://box.local:8080/${key}`, `${origin}/${key}`],
		mcp: "https://box.example/below/mcp",
	});
	expect((await cli(home, ["serve", "--link"])).stdout).toMatch(/^https:\/\/box\.example\/below\/#token=\S+\nhttp:\/\/box\.local:8080\/#token=/);
	const runtime = await openRuntime({ home, warm: 0 });
	atEnd(() => endAll(runtime));
	const { id } = await runtime.spawn({ command: "sleep 300" });
	expect((await cli(home, ["link", id])).stdout).toMatch(/^https:\/\/box\.example\/below\/#view=view_/);
});

test.skipIf(!hasTmux)("on every interface a terminal shows the machine's addresses and a QR code (needs tmux)", async () => {
	const home = testHome();
	const file = `${tempDir()}/token`;
	fs.writeFileSync(file, "a-token-of-its-own-a-token-of-its-own", { mode: 0o600 });
	const terminal = new Terminal(`${process.execPath} ${CLI} serve --home ${home} --host 0.0.0.0 --port 0 --token-file ${file}`, { COLORTERM: "truecolor" });
	const screen = await terminal.shows("Ctrl-C stops the server");
	expect(screen).not.toContain("http://0.0.0.0");
	expect(screen.split("\n").filter((line) => /[▀▄█]{3}/.test(line)).length).toBeGreaterThan(10);
	await terminal.type("C-c");
	await terminal.shows("stopped; nothing was running");
});

test("--install writes a systemd user unit with these options, --print shows it only, --uninstall removes it; without systemd it says so", async () => {
	const home = testHome();
	const config = tempDir("config");
	const bin = tempDir("bin");
	fs.writeFileSync(`${bin}/systemctl`, "#!/bin/sh\nexit 1\n", { mode: 0o755 }); // is looked for, and not run
	const env = { XDG_CONFIG_HOME: config, HOLDFAST_HOME: `${home}/a b%c$d"e`, PATH: bin };
	const args = ["serve", "--install", "--port", "5000", "--public-url", "https://box.example"];
	const file = `${config}/systemd/user/holdfast.service`;
	const printed = await cli(home, [...args, "--print"], { env });
	expect(fs.existsSync(file)).toBe(false);
	expect(printed.stdout).toContain("\nKillMode=process\n");
	expect(printed.stdout).toContain(`"serve" "--resume" "--port" "5000" "--public-url" "https://box.example" "--home" "${home}/a b%%c$$d\\"e"\n`);
	expect(printed.stdout).toContain(`\nEnvironment="XDG_CONFIG_HOME=${config}"\nEnvironment="PATH=${bin}"\n`);
	const installed = await cli(home, args, { env });
	expect(fs.readFileSync(file, "utf8")).toBe(printed.stdout);
	expect(installed.stdout).toContain(`Wrote ${file}`);
	expect(installed.stdout).toContain("systemctl --user daemon-reload && systemctl --user enable --now holdfast.service");
	expect(installed.stdout).toContain("journalctl --user --unit holdfast.service --follow");
	expect((await cli(home, args, { env })).stdout).toContain(`Nothing to change in ${file}`);
	const run = tempDir("run");
	const verified = spawnSync("systemd-analyze", ["--user", "--man=no", "verify", file], { env: { ...process.env, XDG_RUNTIME_DIR: run }, encoding: "utf8" });
	expect(verified).toMatchObject({ status: 0, stdout: "", stderr: "" });

	fs.mkdirSync(`${path.dirname(file)}/default.target.wants`);
	fs.symlinkSync(file, `${path.dirname(file)}/default.target.wants/holdfast.service`);
	expect((await cli(home, ["serve", "--uninstall"], { env })).stdout).toContain(`Removed ${file}`);
	expect([namesIn(path.dirname(file)), namesIn(`${path.dirname(file)}/default.target.wants`)]).toEqual([["default.target.wants"], []]);
	expect((await cli(home, ["serve", "--uninstall"], { env })).stderr).toContain("nothing was done");

	fs.writeFileSync(file, "[Service]\nExecStart=/bin/true\n");
	expect((await cli(home, args, { env })).stderr).toContain("was not written by `holdfast serve --install`");
	expect((await cli(home, args, { env: { ...env, PATH: tempDir("empty") } })).stderr).toContain("this machine has no systemd");
	expect((await cli(home, ["serve", "--install", "--host", "0.0.0.0"], { env })).stderr).toContain("--token-file");
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
