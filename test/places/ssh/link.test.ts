/** A link over a real sshd: what the two have to do for each other. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { Connection, type ConnectionOptions } from "../../../src/places/link/connection.js";
import { type SshOptions, sshHost } from "../../../src/places/ssh/index.js";
import { cuttable } from "../../support/cuttable.js";
import { atEnd, tempDir, until } from "../../support/home.js";
import { noSshd, PLAIN_USER, type Sshd, startSshd } from "../../support/sshd.js";

function connect(sshd: Sshd, more: Partial<SshOptions> = {}, options: Partial<ConnectionOptions> = {}): Connection {
	const host = sshHost({ ...sshd.options, ...more }, { home: tempDir("h") });
	const connection = new Connection(host, { dir: "", name: "box", ...options });
	atEnd(async () => {
		connection.close();
		await host.stop();
	});
	return connection;
}

const logins = (sshd: Sshd): number => sshd.log().match(/Accepted publickey/g)?.length ?? 0;

describe.skipIf(noSshd)(`a link over ssh${noSshd ? ` (skipped: ${noSshd})` : ""}`, () => {
	test("through an rc file that prints megabytes", async () => {
		const sshd = await startSshd();
		fs.writeFileSync(path.join(sshd.home, ".bashrc"), "yes | head -c 5000000\n");
		expect((await connect(sshd).use((link) => link.run("echo works"), { again: true })).output.toString()).toBe("works\n");
	});

	test("through an rc file that prints rubbish, as a user without rights", async () => {
		const sshd = await startSshd();
		fs.writeFileSync(path.join(sshd.plainHome, ".bashrc"), "head -c 5000 /dev/urandom; echo; printf 'no end of line'; echo more >&2\n");
		const connection = connect(sshd, { user: PLAIN_USER });
		const ran = await connection.use((link) => link.run("id -un; pwd"), { again: true });
		expect(ran.output.toString()).toBe(`${PLAIN_USER}\n${sshd.plainHome}\n`);
		expect(connection.link?.facts.home).toBe(sshd.plainHome);
	});

	test.each([
		["that prints and ends", "/bin/echo this is a menu", /this is a menu/, 30_000],
		["that repeats what it is told", "cat", /it sends back what it is sent, .*\(no answer within 3 s\)$/, 3_000],
		["that waits", "sleep 2", /no answer within 1 s; what a login runs there first .* may wait/, 1_000],
		["for sftp only", "internal-sftp", /it does not answer as it should/, 30_000],
	])("a forced command %s is an error, not a wait", async (_, forced, words, timeoutMs) => {
		const sshd = await startSshd({ config: [`ForceCommand ${forced}`] });
		const connection = connect(sshd, {}, { timeoutMs });
		await expect(connection.use((link) => link.ping(), { again: true })).rejects.toMatchObject({ code: "UNREACHABLE", message: expect.stringMatching(words) });
	});

	test("after a rest the same connection is used, without another login", async () => {
		const sshd = await startSshd();
		const connection = connect(sshd, {}, { idleMs: 10 });
		await connection.use((link) => link.ping(), { again: true });
		const before = connection.link;
		await before?.ended;
		await connection.use((link) => link.ping(), { again: true });
		expect(connection.link).not.toBe(before);
		expect(logins(sshd)).toBe(1);
	});

	test("sshd restarted while a log is followed: it goes on by itself", async () => {
		const sshd = await startSshd();
		const connection = connect(sshd);
		const file = path.join(sshd.home, "log");
		const followed = connection.use((link) => link.follow(file, 0, 100), { again: true });
		await until("it is under way", () => connection.link?.pending === 1);
		await sshd.stop();
		await until("that is noticed", () => connection.link === undefined);
		await sshd.start();
		fs.writeFileSync(file, "hello");
		expect((await followed).bytes.toString()).toBe("hello");
	});

	test("connections dropped on the way, again and again: what may be repeated is", async () => {
		const sshd = await startSshd();
		const line = await cuttable(sshd.port);
		const connection = connect(sshd, { port: line.port, options: { HostKeyAlias: `[127.0.0.1]:${sshd.port}` } });
		const file = path.join(sshd.home, "log");
		for (let times = 1; times <= 4; times++) {
			const followed = connection.use((link) => link.follow(file, times - 1, 100), { again: true });
			await until("it is under way", () => connection.link?.pending === 1);
			line.drop();
			await until("that is noticed", () => connection.link === undefined);
			fs.appendFileSync(file, "x");
			expect((await followed).bytes.toString()).toBe("x");
		}
	});

	test("an idle link does not keep a program alive", async () => {
		const sshd = await startSshd();
		const connection = connect(sshd);
		const held = () => process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length;
		const before = 1; // sshd
		await until("the programs of the test before are reaped", () => held() === before);
		await connection.use((link) => link.ping(), { again: true });
		expect(held()).toBe(before);
		const file = path.join(sshd.home, "log");
		const waiting = connection.use((link) => link.follow(file, 0, 100), { again: true });
		await until("it is under way", () => connection.link?.pending === 1);
		expect(held()).toBe(before + 1);
		fs.writeFileSync(file, "done");
		await waiting;
		expect(held()).toBe(before);
	});
});
