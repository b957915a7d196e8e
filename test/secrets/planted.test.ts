/** Secrets planted in environment, command, output and file: whatever leaves, through whatever door, is searched for them. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readProc } from "../../src/base/proc.js";
import { cli } from "../support/cli.js";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import { overHttp, overStdio, testHome } from "../support/mcp.js";

const random = (): string => randomBytes(24).toString("hex");

interface Planted {
	readonly inEnvironment: string;
	readonly inCommand: string;
	readonly inOutput: string;
	readonly inFile: string;
	readonly file: string;
	/** Shell text that has one, and prints the others. */
	readonly command: string;
}

function plant(): Planted {
	const [inEnvironment, inCommand, inOutput, inFile] = [random(), random(), random(), random()];
	const file = path.join(tempDir("planted"), "settings");
	fs.writeFileSync(file, `DEPLOY_PASSWORD=${inFile}\nOTHER=fine\nthe key is sk-ant-api03-${inOutput}\n`);
	process.env.PLANTED_API_KEY = inEnvironment;
	atEnd(() => delete process.env.PLANTED_API_KEY);
	const command = `: --token ghp_${inCommand}; echo begin; cat ${file}; printenv PLANTED_API_KEY; echo end`;
	return { inEnvironment, inCommand, inOutput, inFile, file, command };
}

/** Pieces of secrets in a text. */
function found(text: string, planted: Planted): string[] {
	const secrets = [planted.inEnvironment, planted.inCommand, planted.inOutput, planted.inFile];
	return secrets.flatMap((secret) => Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8))).filter((piece) => text.includes(piece));
}

/** Arguments and environments of processes that belong to a home; not those of this very program, which is the host of a library. */
function seenInProc(home: string): string {
	const texts: string[] = [];
	for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && Number(name) !== process.ppid)) {
		const [argv, environ] = [readProc(`/proc/${pid}/cmdline`) ?? "", readProc(`/proc/${pid}/environ`) ?? ""];
		if (argv.includes(home) || environ.includes(home)) texts.push(argv, environ);
	}
	expect(texts.length).toBeGreaterThan(0);
	return texts.join("\n");
}

test("through the library and MCP", async () => {
	const planted = plant();
	const runtime = await testRuntime({ task: "t" });
	const { client } = await (await overHttp(runtime)).connect({ query: "?task=t" });
	const left: unknown[] = [];
	client.setNotificationHandler("notifications/message", (message) => void left.push(message));
	const keep = async (result: Promise<unknown>) => left.push(await result);
	const call = (name: "terminal" | "process", args: Record<string, unknown>) => keep(client.callTool({ name, arguments: args }));

	await keep(runtime.terminal({ command: planted.command, workdir: tempDir(`ghp_${planted.inCommand}`) }));
	await keep(runtime.terminal({ command: planted.command, pty: true, cols: 40 }));
	await keep(runtime.terminal({ command: `${planted.command}; cat nothing-at-ghp_${planted.inCommand}` }));
	await keep(runtime.terminal({ command: "true", workdir: `/nowhere/ghp_${planted.inCommand}` }));
	await keep(runtime.process({ action: `ghp_${planted.inCommand}` }));
	for (const max_output_chars of [200, 230, 260]) await keep(runtime.terminal({ command: `${planted.command}; ${planted.command}`, max_output_chars }));

	const started = await runtime.terminal({
		command: `${planted.command}; read -r`,
		background: true,
		notify_on_complete: true,
		watch_patterns: ["PASSWORD", "sk-ant"],
		pty: true,
	});
	left.push(started);
	const { session_id } = started;
	await keep(runtime.process({ action: "wait", session_id, until: { pattern: `${planted.inOutput.slice(2, 12)}.*` }, byte_offset: 0 }));
	await keep(runtime.process({ action: "wait", session_id, until: { pattern: "end" }, byte_offset: 0 }));
	expect(found(seenInProc(runtime.home.root), planted)).toEqual([]);
	for (const action of ["list", "poll", "log", "screen"]) await call("process", action === "list" ? { action } : { action, session_id });
	for (let byte_offset = 0; byte_offset < 200; byte_offset += 7) await keep(runtime.process({ action: "poll", session_id, byte_offset }));
	await keep(runtime.process({ action: "log", session_id, offset: 1, limit: 1 }));
	left.push(await client.listResources(), await client.readResource({ uri: `holdfast://process/${session_id}/log` }));
	await call("process", { action: "submit", session_id, data: "" });
	await until("its end is told", () => JSON.stringify(left).includes("ended after"));
	await call("process", { action: "kill", session_id });

	const text = JSON.stringify(left);
	expect(found(text, planted)).toEqual([]);
	expect(text.match(/…\[redacted\]/g)?.length).toBeGreaterThan(30); // it was all there to be masked
	expect(text).toContain("was masked here");
	expect(text).toContain("OTHER=fine");
	for (const dir of ["notices", "audit"]) {
		const files = fs
			.readdirSync(path.join(runtime.home.root, dir), { recursive: true, encoding: "utf8" })
			.map((name) => path.join(runtime.home.root, dir, name));
		const written = files.filter((name) => fs.statSync(name).isFile()).map((name) => fs.readFileSync(name, "utf8"));
		expect(found(written.join("\n"), planted)).toEqual([]);
	}
	expect(
		found(
			runtime
				.get(session_id as string)
				.read(0)
				.bytes.toString(),
			planted,
		),
	).not.toEqual([]); // the log itself is what was printed
});

test("through the command line", async () => {
	const planted = plant();
	const home = testHome();
	const left: unknown[] = [];
	const run = async (...args: string[]) => {
		const result = await cli(home, args);
		left.push(result);
		return result;
	};
	const { stdout: id } = await run("run", "--background", "--pty", "--", `${planted.command}; read -r; exit 3`);
	await run("wait", id.trim(), "--until", `pattern=${planted.inOutput.slice(2, 9)}.*`);
	await run("wait", id.trim(), "--until", "pattern=end", "--json");
	expect(found(seenInProc(home), planted)).toEqual([]);
	await Promise.all([run("ps"), run("ps", "--json"), run("screen", id.trim()), run("logs", id.trim()), run("logs", id.trim(), "-n", "2", "--json")]);
	await run("logs", id.trim(), "--from", "30");
	const raw = await cli(home, ["logs", id.trim(), "--raw"]);
	await run("submit", id.trim(), "");
	await run("wait", id.trim());
	await Promise.all([
		run("logs", id.trim(), "-f"),
		run("run", "--json", "--", planted.command),
		run("terminal", "--", planted.command),
		run("terminal", "--json", "--", planted.command),
		run("audit"),
	]);
	await run("logs", `ghp_${planted.inCommand}`);
	expect(found(JSON.stringify(left), planted)).toEqual([]);
	expect(JSON.stringify(left).match(/…\[redacted\]/g)?.length).toBeGreaterThan(20);
	expect(raw.stdout).toContain(`sk-ant-api03-${planted.inOutput}`);
	expect(raw.stdout).not.toContain(planted.inEnvironment); // a child does not have it at all
});

test("a server of ours does not show what it was started with", async () => {
	const planted = plant();
	const connected = await overStdio(testHome());
	const pid = connected.transport.pid as number;
	expect(readProc(`/proc/${pid}/environ`)).toContain("PATH=");
	expect(found(readProc(`/proc/${pid}/environ`) ?? "", planted)).toEqual([]);
	expect(await connected.call("terminal", { command: "env | grep -c PLANTED" })).toMatchObject({ output: "0\n" });
});

test("a secret that is printed in pieces is in no poll", async () => {
	const planted = plant();
	const runtime = await testRuntime();
	const text = `first sk-ant-api03-${planted.inOutput} postgres://me:${planted.inFile}@host TOKEN=${planted.inEnvironment} last\n`;
	const { session_id } = await runtime.terminal({ command: `while IFS= read -r -n 1 c; do printf %s "$c"; done; echo`, background: true });
	const process = runtime.get(session_id as string);
	let seen = "";
	for (let at = 0; at < text.length; at += 9) {
		await process.write(text.slice(at, at + 9).replace("\n", ""));
		const want = Math.min(at + 9, text.length - 1);
		await until("it is printed", () => process.log.bounds().end >= want);
		seen += (await runtime.process({ action: "poll", session_id })).output;
	}
	await process.closeStdin();
	await process.wait({ timeout: 100_000 });
	seen += (await runtime.process({ action: "poll", session_id })).output;
	expect(found(seen, planted)).toEqual([]);
	expect(seen.replaceAll(/…(\[redacted\]|\**)/g, "#").replaceAll(/#+/g, "#")).toBe("first sk-ant-# postgres://me:#@host TOKEN=# last\n");
});
