import { type ChildProcess, execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { Deadlines } from "../../../src/base/due.js";
import { HoldfastError } from "../../../src/base/errors.js";
import { Connection, type ConnectionOptions } from "../../../src/places/link/connection.js";
import type { Facts } from "../../../src/places/link/facts.js";
import { atEnd, tempDir, until } from "../../support/home.js";
import { ShellHost } from "../../support/shell-host.js";

const deadlines = new Deadlines();

function connect(options: Partial<ConnectionOptions> = {}): { host: ShellHost; connection: Connection } {
	const host = new ShellHost();
	const connection = new Connection(host, { dir: "", name: "box", deadlines, ...options });
	atEnd(() => connection.close());
	return { host, connection };
}
const cut = (host: ShellHost) => host.streams.at(-1)?.close();

test("opens on first use, once for all concurrent callers, and again after a break", async () => {
	const seen: Facts[] = [];
	const { host, connection } = connect({ onConnected: (facts) => void seen.push(facts) });
	expect(host.starts).toBe(0);
	await Promise.all([1, 2, 3].map(() => connection.use((link) => link.ping(), { again: true })));
	expect({ starts: host.starts, streams: host.streams.length, seen: seen.length }).toEqual({ starts: 1, streams: 1, seen: 1 });
	cut(host);
	await connection.use((link) => link.ping(), { again: true });
	expect({ starts: host.starts, streams: host.streams.length, seen: seen.length }).toEqual({ starts: 2, streams: 2, seen: 2 });
});

test("what may be repeated is, and what may not says that it may have happened", async () => {
	const { host, connection } = connect();
	const file = path.join(tempDir(), "log");
	const again = connection.use((link) => link.follow(file, 0, 100), { again: true });
	const once = connection.use((link) => link.follow(file, 0, 100), { again: false });
	await until("both are under way", () => connection.link?.pending === 2);
	cut(host);
	await expect(once).rejects.toMatchObject({ code: "UNREACHABLE", mayHaveHappened: true });
	await until("the other is under way again", () => connection.link?.pending === 1);
	fs.writeFileSync(file, "hello");
	expect((await again).bytes.toString()).toBe("hello");
});

test("the first time it fails at once, with what the host says; later it tries for a while", async () => {
	const { host, connection } = connect({ totalMs: 1_390 }); // the third try is due after 600 ms, a fourth one would be after 1400
	const works = host.starting;
	const refuses = () => Promise.reject(new HoldfastError("UNREACHABLE", "nobody is at home"));
	host.starting = refuses;
	await expect(connection.use((link) => link.ping(), { again: true })).rejects.toThrow("nobody is at home");
	expect(host.starts).toBe(1);
	host.starting = works;
	await connection.use((link) => link.ping(), { again: true });
	host.starting = refuses;
	cut(host);
	await expect(connection.use((link) => link.ping(), { again: true })).rejects.toMatchObject({
		code: "UNREACHABLE",
		mayHaveHappened: false,
		message: expect.stringContaining("3 tries"),
	});
	host.starting = works;
	await connection.use((link) => link.ping(), { again: true });
});

test("what waiting does not change is not tried again, and a caller who leaves does not wait", async () => {
	const { host, connection } = connect();
	await connection.use((link) => link.ping(), { again: true });
	host.starting = () => Promise.reject(new HoldfastError("FORBIDDEN", "the key is refused"));
	cut(host);
	await expect(connection.use((link) => link.ping(), { again: true })).rejects.toMatchObject({ code: "FORBIDDEN" });
	let go: (() => void) | undefined;
	host.starting = () =>
		new Promise((resolve) => {
			go = () => resolve({ notes: [] });
		});
	const caller = new AbortController();
	const left = connection.use((link) => link.ping(), { again: true, signal: caller.signal });
	await until("it is opening", () => go !== undefined);
	caller.abort();
	await expect(left).rejects.toMatchObject({ code: "ABORTED" });
	go?.();
	await connection.use((link) => link.ping(), { again: true });
});

test("during a long break each later call finds out with one try", async () => {
	const { host, connection } = connect({ totalMs: 1_000 });
	const ping = () => connection.use((link) => link.ping(), { again: true });
	await ping();
	const works = host.starting;
	host.starting = () => Promise.reject(new HoldfastError("UNREACHABLE", "nobody is at home"));
	cut(host);
	await expect(ping()).rejects.toThrow(/\d tries/);
	const { starts } = host;
	await expect(ping()).rejects.toThrow("nobody is at home");
	expect(host.starts).toBe(starts + 1);
	host.starting = works;
	await ping();
});

// Each of these would wait for half a minute.
describe("within the time of a call", { timeout: 25_000 }, () => {
	const call = <T>(act: () => Promise<T>) => deadlines.dueAt(performance.now() + 500, act);

	test("a link that cannot be had is not waited for, and the next call has it", async () => {
		const { host, connection } = connect();
		const ping = () => connection.use((link) => link.ping(), { again: true });
		await ping();
		const works = host.starting;
		host.starting = () => Promise.reject(new HoldfastError("UNREACHABLE", "nobody is at home"));
		cut(host);
		await expect(call(ping)).rejects.toMatchObject({
			code: "UNREACHABLE",
			mayHaveHappened: false,
			message: expect.stringMatching(/^nobody is at home\. .*next call/),
		});
		host.starting = works;
		await ping();
	});

	test("an answer that does not come is not waited for, and nothing is asked again", async () => {
		const { connection } = connect();
		const file = path.join(tempDir(), "log");
		let asked = 0;
		const follow = () =>
			connection.use(
				(link) => {
					asked++;
					return link.follow(file, 0, 100);
				},
				{ again: true },
			);
		await connection.use((link) => link.ping(), { again: true }); // what takes its time is the answer, not the link
		await expect(call(follow)).rejects.toMatchObject({ code: "UNREACHABLE", mayHaveHappened: true });
		expect(asked).toBe(1);
	});

	test("what goes on after the answer is not bound by it", async () => {
		const { connection } = connect();
		const file = path.join(tempDir(), "log");
		let followed: Promise<{ bytes: Buffer }> | undefined;
		const at = performance.now() + 300;
		await deadlines.dueAt(at, async () => {
			followed = connection.use((link) => link.follow(file, 0, 100), { again: true });
		});
		await until("its time is over", () => performance.now() > at + 100);
		fs.writeFileSync(file, "hello");
		expect((await followed)?.bytes.toString()).toBe("hello");
	});
});

test("the host is asked why a stream stands still, and the stream is opened again", { timeout: 25_000 }, async () => {
	const { host, connection } = connect({ perl: false });
	const ping = () => connection.use((link) => link.ping(), { again: true });
	host.whySilent = async () => undefined;
	await ping();
	const child = host.streams[0]?.child as ChildProcess;
	child.kill("SIGSTOP");
	atEnd(() => child.kill("SIGCONT"));
	const silent = ping();
	host.whySilent = async () => "it was told to stand still";
	await silent;
	expect(host.starts).toBe(2);
	child.kill("SIGCONT");
	const told = connection.use((link) => link.follow("/nowhere", 0, 1), { again: false });
	host.streams[1]?.child.kill("SIGSTOP");
	await expect(told).rejects.toThrow("it was told to stand still");
	host.streams[1]?.child.kill("SIGCONT");
});

test("an idle link is closed, and leaves nothing at the remote end", async () => {
	const { host, connection } = connect({ idleMs: 1 });
	const scratch = await connection.use(async (link) => link.facts.scratch, { again: true });
	await host.streams[0]?.ended;
	expect(fs.existsSync(scratch)).toBe(false);
	await connection.use((link) => link.ping(), { again: true });
	expect(host.streams.length).toBe(2);
});

test("an open link does not keep the program alive", async () => {
	const home = tempDir("far");
	const program = `
		import { spawn } from "node:child_process";
		import { Connection } from ${JSON.stringify(path.resolve("dist/places/link/connection.js"))};
		const host = {
			address: "here",
			start: async () => ({ notes: [] }),
			stop: async () => [],
			open: async (command) => {
				const child = spawn("sh", ["-c", command], { stdio: ["pipe", "pipe", "ignore"] });
				return { input: child.stdin, output: child.stdout, ended: new Promise((resolve) => child.on("exit", () => resolve("ended"))), close: () => child.stdin.destroy(),
					hold: (on) => [child, child.stdin, child.stdout].forEach((end) => on ? end.ref() : end.unref()) };
			},
		};
		const connection = new Connection(host, { dir: "", name: "box" });
		console.log((await connection.use((link) => link.run("echo hello"), { again: true })).output.toString());`;
	const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
		env: { ...process.env, HOME: home },
		timeout: 30_000,
	});
	expect(stdout).toBe("hello\n\n");
});
