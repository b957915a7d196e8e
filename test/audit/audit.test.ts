import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Audit, type AuditEvent, readAudit } from "../../src/audit/index.js";
import { openHome } from "../../src/base/home.js";
import { REFUSED, setting } from "../approvals/support.js";
import { cli } from "../support/cli.js";
import { atEnd, tempDir, until } from "../support/home.js";

const lines = (stdout: string): AuditEvent[] =>
	stdout
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line));

test("asked, decided, run, written, killed and ended, by task, without what was typed and without secrets", async () => {
	const { runtime, risky, home } = await setting();
	const token = `ghp_${"Ab3dEf7hIj1kLm5nOp9qRs2tUv6wXy0zAb3d"}`; // put together, so that none is in this file
	const { approval_id } = await runtime.terminal({ command: risky });
	await runtime.approvals.answer(approval_id as string, { answer: "once", by: "somebody", message: `not ${token}` });
	await runtime.terminal({ command: risky });
	await runtime.terminal({ command: REFUSED });
	const { session_id } = await runtime.terminal({ command: `cat # ${token}`, background: true });
	await runtime.process({ action: "submit", session_id, data: "typed by hand" });
	await runtime.process({ action: "kill", session_id });
	await runtime.terminal({ command: "exit 3" }, { task: "another" });
	const { stdout, code } = await cli(home, ["audit", "--json", "--task", "default", "--since", "1h"]);
	expect(code).toBe(0);
	const events = lines(stdout).filter(({ command }) => !command?.startsWith("cd "));
	const seen = events.slice(events.findIndex(({ event }) => event === "asked"));
	expect(seen).toMatchObject([
		{ event: "asked", approval_id, command: risky, parts: [{ rule: "force-push" }] },
		{ event: "decided", approval_id, outcome: "once", by: "somebody" },
		{ event: "run", command: risky, approval_id, by: "library", run: expect.stringMatching(/^run_/) },
		{ event: "ended", status: "exited", exit_code: 0, run: seen[2]?.run },
		{ event: "decided", outcome: "refused_by_rule", rule: "floor-approval", command: REFUSED },
		{ event: "run", session_id },
		{ event: "wrote", session_id, bytes: 14 },
		{ event: "ended", session_id, run: seen[5]?.run, status: "killed" },
		{ event: "killed", session_id, status: "killed" },
	]);
	expect(stdout).not.toContain(token);
	expect(stdout).not.toContain("typed by hand");
	expect(stdout).not.toContain("another");
	const raw = fs.readdirSync(path.join(home, "audit")).map((name) => path.join(home, "audit", name));
	for (const file of raw) {
		expect(fs.readFileSync(file, "utf8")).not.toContain(token);
		expect(fs.statSync(file).mode & 0o777).toBe(0o600);
	}
	expect((await cli(home, ["audit", "--task", "another"])).stdout).toMatch(/another {2}run {2}.*exit 3\n.*another {2}ended {2}.*exited, exit code 3/s);
});

test("the end of a process that outlives its runtime is written by the program that notes it, and worked out until then", async () => {
	const { runtime, home } = await setting();
	const dir = tempDir("go");
	// The program that runs the command is killed in the middle of it.
	const asker = spawn(
		process.execPath,
		[fileURLToPath(new URL("../fixtures/asker.mjs", import.meta.url)), home, dir, `touch begun; until [ -e go ]; do sleep 0.02; done; exit 5`],
		{ stdio: "ignore" },
	);
	const exit = new Promise((resolve) => asker.once("exit", resolve));
	await until("it runs", () => fs.existsSync(path.join(dir, "begun")));
	const { session_id } = await runtime.terminal({ command: "exit 4", background: true });
	asker.kill("SIGKILL");
	await exit;
	fs.writeFileSync(path.join(dir, "go"), "");
	await until("both have ended", () => runtime.list({ ended: false }).length === 0);
	const ends = lines((await cli(home, ["audit", "--json"])).stdout).filter(({ event }) => event === "ended");
	expect(ends.filter((end) => end.session_id === session_id)).toMatchObject([{ status: "exited", exit_code: 4, duration_ms: expect.any(Number) }]);
	expect(ends.filter((end) => end.worked_out)).toMatchObject([{ status: "exited", exit_code: 5 }]);
});

test("many programs write at once, whole lines each; what is too long is put aside once, and the rest is gone", () => {
	const home = openHome(tempDir("home"));
	const writers = Array.from({ length: 4 }, () => new Audit(home, { limit: 20_000 }));
	for (let n = 0; n < 400; n++)
		for (const [w, writer] of writers.entries()) writer.record("t", { event: "run", run: `run_${w}.${n}`, command: "x".repeat(20) });
	for (const writer of writers) writer.close();
	const events = readAudit(home, { task: "t" }, () => undefined);
	const sizes = fs.readdirSync(home.audit).map((name) => fs.statSync(path.join(home.audit, name)).size);
	expect(sizes).toHaveLength(2);
	expect(Math.max(...sizes)).toBeLessThan(20_300);
	expect(events.length).toBeGreaterThan(150); // the newest, without a gap
	const last = events.map(({ run }) => run).reverse();
	expect(last.slice(0, 8)).toEqual([3, 2, 1, 0, 3, 2, 1, 0].map((w, n) => `run_${w}.${n < 4 ? 399 : 398}`));
	expect(new Set(last).size).toBe(events.length);
});

test("a line is on record before anything runs; what cannot be written stops the command", async () => {
	const { runtime, home, dir } = await setting();
	const file = path.join(home, "audit", fs.readdirSync(path.join(home, "audit"))[0] as string);
	expect(await runtime.terminal({ command: `cat ${file}` })).toMatchObject({ output: expect.stringContaining(`"command":"cat ${file}"`) });
	fs.rmSync(path.join(home, "audit"), { recursive: true });
	fs.writeFileSync(path.join(home, "audit"), "in the way");
	atEnd(() => fs.rmSync(path.join(home, "audit"), { force: true }));
	for (const way of [{}, { background: true }])
		expect(await runtime.terminal({ command: "touch ran", ...way })).toMatchObject({
			status: "error",
			error: expect.stringMatching(/audit could not be written, so nothing was run/),
		});
	expect(fs.existsSync(path.join(dir, "ran"))).toBe(false);
});

test("follow shows what comes", async () => {
	const { runtime, home } = await setting();
	const follower = spawn(process.execPath, [path.resolve("dist/bin/holdfast.js"), "audit", "-f", "--json"], { env: { ...process.env, HOLDFAST_HOME: home } });
	const exit = new Promise((resolve) => follower.once("exit", resolve));
	let out = "";
	follower.stdout.on("data", (chunk) => {
		out += chunk;
	});
	await until("it follows", () => out.includes('"cd '));
	await runtime.terminal({ command: "echo new" });
	await until("it shows", () => lines(out.slice(0, out.lastIndexOf("\n"))).some(({ event, command }) => event === "run" && command === "echo new"));
	follower.kill("SIGTERM");
	await exit;
});

test("a directory that is gone closes no other file", () => {
	const home = openHome(tempDir("home"));
	const audit = new Audit(home);
	const news = { event: "run", command: "true" } as const;
	expect(audit.record("default", news)).toBe(true);
	fs.rmSync(home.audit, { recursive: true });
	expect(() => audit.record("default", news)).toThrow("nothing was run");
	const other = fs.openSync("/dev/null", "r"); // with the number of the file that was closed, if it was
	expect(() => audit.record("default", news)).toThrow("nothing was run");
	expect(() => fs.closeSync(other)).not.toThrow();
	openHome(home.root);
	expect(audit.record("default", news)).toBe(true);
	audit.close();
});
