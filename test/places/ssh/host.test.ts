/** A real sshd, the real client. */
import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { HoldfastError } from "../../../src/base/errors.js";
import { readProc } from "../../../src/base/proc.js";
import { shellQuote } from "../../../src/base/quote.js";
import type { Host, Stream } from "../../../src/places/host.js";
import { type Near, type SshOptions, sshHost } from "../../../src/places/ssh/index.js";
import { ProcessSnapshot } from "../../../src/process/tree.js";
import { cuttable } from "../../support/cuttable.js";
import { atEnd, tempDir, testRoot, until } from "../../support/home.js";
import { freePort } from "../../support/ports.js";
import { makeKey, noSshd, PLAIN_USER, type Sshd, startSshd } from "../../support/sshd.js";

function hostOn(sshd: Sshd, more: Partial<SshOptions> = {}, near: Near = {}): Host {
	const host = sshHost({ ...sshd.options, ...more }, { home: tempDir("h"), ...near });
	atEnd(() => host.stop());
	return host;
}

/** All it prints, from now to its end. */
async function rest(stream: Stream): Promise<string> {
	const parts: Buffer[] = [];
	for await (const bytes of stream.output) parts.push(bytes as Buffer);
	return Buffer.concat(parts).toString("utf8");
}

/** What a command prints, with nothing on its stdin. */
async function run(host: Host, command: string): Promise<string> {
	const stream = await host.open(command);
	stream.input.end();
	return rest(stream);
}

/** A command that answers line by line, and has answered. */
async function echo(host: Host): Promise<{ stream: Stream; say: (line: string) => Promise<string> }> {
	const stream = await host.open("exec cat");
	const lines = stream.output[Symbol.asyncIterator]();
	const say = async (line: string) => {
		stream.input.write(`${line}\n`);
		return String((await lines.next()).value);
	};
	expect(await say("there")).toBe("there\n");
	return { stream, say };
}

const failure = async (host: Host): Promise<{ code: string; message: string }> => {
	const error = await host.start().then(
		() => new Error("it worked"),
		(reason: unknown) => reason,
	);
	if (!(error instanceof HoldfastError)) throw error;
	return { code: error.code, message: error.message };
};

/** The ssh clients that this test has made. */
const clientsOf = (kind: (argv: string) => boolean): number[] =>
	[...new ProcessSnapshot().stats.values()]
		.filter(({ pid, state }) => {
			const argv = readProc(`/proc/${pid}/cmdline`) ?? "";
			return state !== "Z" && argv.startsWith("ssh") && argv.includes(`${testRoot()}/`) && kind(argv);
		})
		.map(({ pid }) => pid);
/** The connections in the background, and those with a stream. */
const masters = () => clientsOf((argv) => /\[mux\]|\0-N\0/.test(argv));
const clients = () => clientsOf((argv) => argv.endsWith("\0exec cat\0"));

const only = (pids: readonly number[]): number => {
	expect(pids).toHaveLength(1);
	return pids[0] as number;
};

describe.skipIf(noSshd)(`a machine over ssh${noSshd ? ` (skipped: ${noSshd})` : ""}`, () => {
	test("a stream carries bytes both ways, and starts in the remote home", async () => {
		const sshd = await startSshd();
		const host = hostOn(sshd);
		expect(await host.start()).toEqual({ notes: [] });
		expect(await run(host, "pwd; id -un")).toBe(`${sshd.home}\nroot\n`);
		const bytes = Buffer.from(Array.from({ length: 1 << 20 }, (_, at) => (at * 31 + (at >> 8)) & 255));
		const stream = await host.open("exec cat");
		stream.input.end(bytes);
		const parts: Buffer[] = [];
		for await (const part of stream.output) parts.push(part as Buffer);
		expect(Buffer.concat(parts).equals(bytes)).toBe(true);
		expect(await stream.ended).toContain("exit code 0");
		expect(await host.stop()).toEqual([]);
	});

	test("a directory in the remote home becomes an absolute one, whatever the login prints", async () => {
		const sshd = await startSshd();
		fs.writeFileSync(path.join(sshd.home, ".bashrc"), "echo welcome; printf 'no newline'; head -c 3000 /dev/urandom\n");
		expect(await hostOn(sshd, { dir: "~/some/work" }).start()).toEqual({ notes: [], cwd: `${sshd.home}/some/work` });
		expect(await hostOn(sshd, { dir: "/srv/x" }).start()).toEqual({ notes: [], cwd: "/srv/x" });
	});

	test("as a user without rights", async () => {
		const sshd = await startSshd();
		const host = hostOn(sshd, { user: PLAIN_USER });
		await host.start();
		expect(await run(host, "id -un; id -u; pwd; cat /etc/shadow 2>&1 | tail -c 18")).toBe(`${PLAIN_USER}\n54321\n${sshd.plainHome}\nPermission denied\n`);
	});

	test("a banner, a login that prints and slow rc files do not get into the way", async () => {
		const banner = path.join(tempDir("banner"), "text");
		fs.writeFileSync(banner, "Host key verification failed. Connection refused.\n".repeat(50), { mode: 0o644 });
		const sshd = await startSshd({ config: [`Banner ${banner}`] });
		fs.writeFileSync(path.join(sshd.home, ".bashrc"), "echo hello from bashrc; echo on stderr >&2; read -t 0.3 </dev/zero; sleep 0.5\n");
		const host = hostOn(sshd);
		await host.start();
		const stream = await host.open("exec sh -c 'read -r x; echo \"got $x\"; exit 7'");
		stream.input.write("line\n");
		expect(await rest(stream)).toBe("hello from bashrc\ngot line\n");
		expect(await stream.ended).toMatch(/^the command there ended with exit code 7 and said "on stderr"/);
		const wrong = path.join(tempDir("key"), "wrong");
		makeKey(wrong);
		const configFile = path.join(sshd.dir, "no_keys");
		fs.writeFileSync(configFile, `UserKnownHostsFile ${sshd.dir}/known_hosts\nIdentityAgent none\n`);
		expect((await failure(hostOn(sshd, { configFile, identityFile: wrong }))).message).toContain("the server did not accept the login"); // not what the banner says
	});

	test("two hosts share one connection; one that stops leaves the other's stream alone", async () => {
		const sshd = await startSshd();
		const home = tempDir("h");
		const [one, two] = [hostOn(sshd, {}, { home }), hostOn(sshd, {}, { home })];
		await Promise.all([one.start(), two.start(), one.start(), two.start()]); // at once: those that come second leave nothing
		const [first, second] = [await echo(one), await echo(two)];
		const master = only(masters());
		await one.stop();
		expect(await first.stream.ended).toBe("it was closed from this side");
		expect(await second.say("still there")).toBe("still there\n");
		await one.start();
		expect(await run(one, "echo again")).toBe("again\n");
		expect(only(masters())).toBe(master);
		second.stream.close();
	});

	test("other settings do not share", async () => {
		const sshd = await startSshd();
		const home = tempDir("h");
		for (const more of [{}, { user: PLAIN_USER }, { options: { Compression: "yes" } }, { dir: "/tmp" }]) await hostOn(sshd, more, { home }).start();
		expect(masters()).toHaveLength(3); // another directory is the same connection
	});

	test("twelve streams at once, two more than a connection may have", async () => {
		const sshd = await startSshd();
		const host = hostOn(sshd);
		await host.start();
		const all = await Promise.all(Array.from({ length: 12 }, () => echo(host)));
		expect(await Promise.all(all.map(({ say }, at) => say(`number ${at}`)))).toEqual(all.map((_, at) => `number ${at}\n`));
		only(masters());
	});

	test("kill -9 of the shared connection ends the stream, and the next start has another", async () => {
		const sshd = await startSshd();
		const host = hostOn(sshd);
		await host.start();
		const { stream } = await echo(host);
		const master = only(masters());
		process.kill(master, "SIGKILL");
		expect(await stream.ended).toMatch(/^the connection to ssh:\/\/root@127.0.0.1:\d+ was lost/);
		await host.start();
		expect((await echo(host)).stream).toBeDefined();
		expect(only(masters())).not.toBe(master);
	});

	test("a connection that hangs is found out and replaced; the streams of others on it stay", async () => {
		const sshd = await startSshd();
		const home = tempDir("h");
		const [host, other] = [hostOn(sshd, {}, { home }), hostOn(sshd, {}, { home })];
		await host.start();
		const kept = await echo(host);
		const master = only(masters());
		process.kill(master, "SIGSTOP");
		atEnd(() => process.kill(master, "SIGCONT"));
		const hanging = await host.open("exec cat");
		hanging.close();
		expect(await hanging.ended).toContain("closed from this side");
		await other.start();
		expect((await echo(other)).stream).toBeDefined();
		expect(masters()).toHaveLength(2);
		process.kill(master, "SIGCONT");
		expect(await kept.say("awake")).toBe("awake\n");
	});

	test("a connection that a stream was silent on is not used again", async () => {
		const sshd = await startSshd();
		const host = hostOn(sshd);
		await host.start();
		const { stream } = await echo(host);
		const master = only(masters());
		stream.close(); // as the link does when nothing has come back for too long
		await stream.ended;
		await host.start();
		expect(masters().filter((pid) => pid !== master)).toHaveLength(1);
		expect((await echo(host)).stream).toBeDefined();
	});

	test("kill -9 of the client of one stream is no reason for another connection", async () => {
		const sshd = await startSshd();
		const host = hostOn(sshd);
		await host.start();
		const master = only(masters());
		for (let times = 0; times < 5; times++) {
			const { stream } = await echo(host);
			process.kill(only(clients()), "SIGKILL");
			expect(await stream.ended).toBe("the ssh client was ended by SIGKILL");
			await host.start();
		}
		expect(only(masters())).toBe(master);
	});

	test("a connection that has gone between start and open is made by open", async () => {
		const sshd = await startSshd();
		const host = hostOn(sshd);
		await host.start();
		const master = only(masters());
		process.kill(master, "SIGKILL");
		await until("it is gone", () => masters().length === 0);
		const { say } = await echo(host);
		expect(only(masters())).not.toBe(master);
		expect(await say("all the same")).toBe("all the same\n");
	});

	test("an unused connection closes by itself; a used one stays", async () => {
		const sshd = await startSshd();
		const host = hostOn(sshd, {}, { idleSeconds: 1 });
		await host.start();
		const { stream, say } = await echo(host);
		const stop = Date.now() + 2_500;
		while (Date.now() < stop) expect(await say("here")).toBe("here\n");
		stream.close();
		await until("it is gone", () => masters().length === 0);
		await host.start();
		await until("an unused one is gone too", () => masters().length === 0);
	});

	test("the network falls silent: start says so, and after it is back another connection is used", async () => {
		const sshd = await startSshd();
		const line = await cuttable(sshd.port);
		const more = { port: line.port, connectTimeout: 3, options: { HostKeyAlias: `[127.0.0.1]:${sshd.port}` } };
		const host = hostOn(sshd, more);
		await host.start();
		const { stream } = await echo(host);
		line.cut();
		stream.input.write("into the void\n");
		stream.close(); // the link has waited long enough
		expect(await stream.ended).toBe("it was closed from this side");
		expect(await failure(host)).toEqual({ code: "UNREACHABLE", message: expect.stringContaining("did not answer in time") });
		line.mend();
		await host.start();
		expect((await echo(host)).stream).toBeDefined();
	});

	test("a silent network ends the streams, also without a reader", async () => {
		const sshd = await startSshd();
		const line = await cuttable(sshd.port);
		const options = { HostKeyAlias: `[127.0.0.1]:${sshd.port}`, ServerAliveInterval: "1", ServerAliveCountMax: "1" };
		const host = hostOn(sshd, { port: line.port, options });
		await host.start();
		const { stream } = await echo(host);
		line.cut();
		expect(await stream.ended).toMatch(/^the connection to \S+ was lost/);
		await until("the connection is gone", () => masters().length === 0); // its streams are told first
	});

	test("sshd restarted: the stream ends with words, start fails meanwhile, and works again after", async () => {
		const sshd = await startSshd();
		const host = hostOn(sshd);
		await host.start();
		const { stream } = await echo(host);
		await sshd.stop();
		expect(await stream.ended).toMatch(/^the connection to \S+ was lost/);
		expect(await failure(host)).toEqual({ code: "UNREACHABLE", message: expect.stringMatching(/nothing listens there .*Connection refused.*check the port/) });
		await sshd.start();
		await host.start();
		expect(await run(host, "echo back")).toBe("back\n");
	});

	test("through a jump host of the person's configuration; one that cannot be reached is named", async () => {
		const sshd = await startSshd();
		const config = path.join(sshd.dir, "jumps");
		const common = fs.readFileSync(path.join(sshd.dir, "ssh_config"), "utf8");
		const far = (name: string, jump: string) => `Host ${name}\n HostName 127.0.0.1\n Port ${sshd.port}\n User root\n ProxyJump ${jump}\n`;
		const nobody = await freePort();
		const gate = `Host gate\n HostName 127.0.0.1\n Port ${sshd.port}\n UserKnownHostsFile /dev/null\n StrictHostKeyChecking ask\n`;
		fs.writeFileSync(
			config,
			`${far("far", `${PLAIN_USER}@127.0.0.1:${sshd.port}`)}${far("cut", `127.0.0.1:${nobody}`)}${far("shy", "gate")}${gate}Host *\n${common}`,
		);
		const host = sshHost({ host: "far", configFile: config }, { home: tempDir("h") });
		atEnd(() => host.stop());
		await host.start();
		expect(await run(host, "id -un")).toBe("root\n");
		expect(sshd.log()).toContain(`Accepted publickey for ${PLAIN_USER}`);
		const cut = sshHost({ host: "cut", configFile: config }, { home: tempDir("h") });
		expect(await failure(cut)).toEqual({
			code: "UNREACHABLE",
			message: expect.stringMatching(new RegExp(`ssh://cut through its jump host.*port ${nobody}: Connection refused`)),
		});
		const shy = sshHost({ host: "shy", configFile: config }, { home: tempDir("h") });
		expect(await failure(shy)).toEqual({ code: "FORBIDDEN", message: expect.stringContaining("host key is not known here") });
		// A jump host is connected to by another ssh, which knows nothing of our options: also where there is a terminal it asks nothing.
		const program = [process.execPath, path.resolve("test/fixtures/ssh-start.mjs"), tempDir("h"), JSON.stringify({ host: "shy", configFile: config })];
		const typed = await promisify(execFile)("script", ["-qec", program.map(shellQuote).join(" "), "/dev/null"], { timeout: 30_000 });
		expect(typed.stdout).toContain("host key is not known here");
		expect(typed.stdout).not.toContain("continue connecting");
	});

	test.each([
		["internal-sftp", "internal-sftp"],
		["a program that ignores the command", "/bin/echo this is a menu"],
		["nologin", "/usr/sbin/nologin"],
	])("a forced command is an error in words: %s", async (_, forced) => {
		const sshd = await startSshd({ config: [`ForceCommand ${forced}`] });
		const host = hostOn(sshd);
		await host.start();
		const stream = await host.open(`exec sh -c 'read -r x; eval "$x"'`);
		stream.input.write(`${"echo a first line that is not what was expected there;".repeat(20)}\n`);
		stream.output.resume();
		expect(await stream.ended).toMatch(/^the command there ended with exit code [01]\b.*ForceCommand/);
		expect(
			await hostOn(sshd, { dir: "~/x" })
				.start()
				.catch(({ message }) => message),
		).toContain("does not say where its home is");
	});

	test("a forced command that is silent: a caller that gives up is told the likely cause", async () => {
		const sshd = await startSshd({ config: ["ForceCommand exec cat >/dev/null"] });
		const host = hostOn(sshd);
		await host.start();
		const stream = await host.open("echo never");
		stream.close();
		expect(await stream.ended).toMatch(/^it was closed from this side before anything had come back: .*ForceCommand/);
	});

	test("a remote command that hangs and was given up keeps no program alive", async () => {
		const sshd = await startSshd();
		const program = `import { sshHost } from ${JSON.stringify(path.resolve("dist/places/ssh/index.js"))};
			const host = sshHost(${JSON.stringify(sshd.options)}, { home: ${JSON.stringify(tempDir("h"))} });
			await host.start();
			const stream = await host.open("echo $$; exec sleep 1000");
			stream.output.once("data", (pid) => { console.log(String(pid)); stream.close(); });`;
		const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
		process.kill(Number(stdout)); // it hung until now
	});

	test("a key that is not known there, a key with a passphrase, one that others can read, none at all", async () => {
		const sshd = await startSshd();
		const dir = tempDir("keys");
		const key = (name: string) => path.join(dir, name);
		for (const [name, passphrase] of [
			["wrong", ""],
			["locked", "open sesame"],
			["open", ""],
		] as const)
			makeKey(key(name), passphrase);
		for (const name of ["locked.pub", "open.pub"]) fs.appendFileSync(path.join(sshd.dir, "authorized_keys"), fs.readFileSync(key(name)));
		fs.chmodSync(key("open"), 0o644);
		const bare = path.join(dir, "config");
		fs.writeFileSync(bare, `UserKnownHostsFile ${sshd.dir}/known_hosts\nIdentityAgent none\n`);
		const denied = (name: string) => failure(hostOn(sshd, { configFile: bare, identityFile: key(name) }));
		expect(await denied("wrong")).toEqual({
			code: "FORBIDDEN",
			message: expect.stringMatching(/did not accept the login \(it takes: publickey\).*ssh-copy-id/),
		});
		expect(await denied("locked")).toEqual({ code: "FORBIDDEN", message: expect.stringMatching(/locked is locked with a passphrase.*ssh-add/) });
		expect(await denied("open")).toEqual({ code: "FORBIDDEN", message: expect.stringMatching(/others may read it; `chmod 600`/) });
		expect(await denied("none")).toEqual({ code: "FORBIDDEN", message: expect.stringMatching(/none cannot be read \(No such file/) });
	});

	test("more keys than the server looks at; a locked key that an agent has open", async () => {
		const sshd = await startSshd({ config: ["MaxAuthTries 2"] });
		const dir = tempDir("keys");
		const keys = ["a", "b", "c"].map((name) => path.join(dir, name));
		for (const key of keys) makeKey(key);
		const config = path.join(dir, "config");
		const known = `UserKnownHostsFile ${sshd.dir}/known_hosts\n`;
		fs.writeFileSync(config, `${known}IdentitiesOnly yes\n${keys.map((key) => `IdentityFile ${key}\n`).join("")}`);
		expect(await failure(hostOn(sshd, { configFile: config }))).toEqual({ code: "FORBIDDEN", message: expect.stringContaining("too many keys") });

		const socket = path.join(dir, "agent");
		const agent = spawn("ssh-agent", ["-D", "-a", socket], { stdio: "ignore" });
		const gone = new Promise((resolve) => agent.once("exit", resolve));
		atEnd(async () => {
			agent.kill();
			await gone;
		});
		const env = { ...process.env, SSH_AUTH_SOCK: socket };
		await until("the agent answers", () => spawnSync("ssh-add", ["-l"], { env }).status === 1); // it has no keys; its socket is there before it listens
		for (const key of keys) execFileSync("ssh-add", ["-q", key], { env });
		const last = keys[2] as string;
		execFileSync("ssh-keygen", ["-q", "-p", "-N", "open sesame", "-f", last]);
		fs.copyFileSync(`${last}.pub`, path.join(sshd.dir, "authorized_keys"));
		fs.writeFileSync(config, known);
		const host = hostOn(sshd, { configFile: config, identityFile: last }, { env });
		await host.start();
		expect(await run(host, "echo in")).toBe("in\n");
	});

	test("a host key that is not known, and one that has changed", async () => {
		const sshd = await startSshd();
		const known = path.join(sshd.dir, "known_hosts");
		const right = fs.readFileSync(known, "utf8");
		fs.writeFileSync(known, "");
		for (const StrictHostKeyChecking of ["ask", "yes"])
			expect(await failure(hostOn(sshd, { options: { StrictHostKeyChecking } }))).toEqual({
				code: "FORBIDDEN",
				message: expect.stringMatching(/host key is not known here.*run `ssh -F \S+ -p \d+ root@127.0.0.1` once by hand/),
			});
		fs.writeFileSync(known, right.replace(/ssh-ed25519 \S+/, fs.readFileSync(path.join(sshd.dir, "user.pub"), "utf8").split(" ").slice(0, 2).join(" ")));
		expect(await failure(hostOn(sshd))).toEqual({
			code: "FORBIDDEN",
			message: expect.stringMatching(/host key has changed \(it is SHA256:\S+ now\).*ssh-keygen -f .* -R/),
		});
		fs.writeFileSync(known, "");
		await hostOn(sshd, { options: { StrictHostKeyChecking: "accept-new" } }).start();
	});

	test("no such host, no listener at the port, no ssh client, interrupted", async () => {
		const sshd = await startSshd();
		expect(await failure(hostOn(sshd, { host: "no-such-host.invalid" }))).toEqual({
			code: "UNREACHABLE",
			message: expect.stringContaining("no machine with the name no-such-host.invalid"),
		});
		expect((await failure(hostOn(sshd, { port: await freePort() }))).message).toContain("nothing listens there");
		expect(await failure(hostOn(sshd, {}, { env: { PATH: tempDir("empty") } }))).toEqual({
			code: "UNSUPPORTED",
			message: expect.stringContaining("openssh-client"),
		});
		expect(await failure(hostOn(sshd, { options: { Nonsense: "1" } }))).toEqual({
			code: "CONFIG",
			message: expect.stringContaining("Bad configuration option: nonsense"),
		});
		await expect(hostOn(sshd).start(AbortSignal.abort())).rejects.toMatchObject({ code: "ABORTED" });
	});

	test("a server that accepts and says nothing: bounded, and can be given up", async () => {
		const { createServer } = await import("node:net");
		const sockets = new Set<import("node:net").Socket>();
		const server = createServer((socket) => void sockets.add(socket.on("error", () => {})));
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		atEnd(() => {
			for (const socket of sockets) socket.destroy();
			server.close();
		});
		const port = (server.address() as import("node:net").AddressInfo).port;
		const options = { host: "127.0.0.1", port, configFile: "/dev/null" };
		expect(await failure(sshHost({ ...options, connectTimeout: 1 }, { home: tempDir("h") }))).toEqual({
			code: "UNREACHABLE",
			message: expect.stringContaining("did not answer in time"),
		});
		const stop = new AbortController();
		const giving = sshHost(options, { home: tempDir("h") }).start(stop.signal);
		const before = sockets.size;
		await until("it has connected", () => sockets.size > before);
		stop.abort();
		await expect(giving).rejects.toMatchObject({ code: "ABORTED" });
	});

	test("the client's environment has the agent and no secrets; the socket is private", async () => {
		const sshd = await startSshd();
		const home = tempDir("h");
		const env = { ...process.env, SSH_AUTH_SOCK: "/nowhere/agent", HOLDFAST_HOME: home, MY_API_KEY: "sk-not-for-ssh-0123456789", DISPLAY: ":7" };
		await hostOn(sshd, {}, { home, env }).start();
		const environ = readProc(`/proc/${only(masters())}/environ`) ?? "";
		expect(environ).toContain("SSH_AUTH_SOCK=/nowhere/agent\0");
		expect(environ).toContain("SSH_ASKPASS_REQUIRE=never\0");
		expect(environ).not.toMatch(/MY_API_KEY|HOLDFAST_HOME|DISPLAY=/);
		expect(fs.statSync(path.join(home, "ssh")).mode & 0o777).toBe(0o700);
	});
});
