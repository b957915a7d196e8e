/** What is done to processes over a link: input, scripts that start something. Signals: far/kernel.test.ts. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { readStat } from "../../../src/base/proc.js";
import { atEnd, tempDir, until } from "../../support/home.js";
import { linkTo, SHELLS, ShellHost } from "../../support/shell-host.js";

const KINDS = [...SHELLS.map((shell) => ({ shell, perl: false })), { shell: "dash" as const, perl: true }];

describe.each(KINDS)("$shell, perl: $perl", ({ shell, perl }) => {
	const open = () => linkTo(new ShellHost({ shell }), { perl });

	test("what a script starts can be interrupted", async () => {
		const link = await open();
		const { output } = await link.run("grep SigIgn /proc/self/status", { starts: true });
		const ignored = BigInt(`0x${/[0-9a-f]{16}/.exec(output.toString())?.[0]}`);
		expect([1, 2, 3, 13, 15].filter((signal) => ignored & (1n << BigInt(signal - 1)))).toEqual([]);
	});

	test("a script has none of our descriptors, and what it leaves behind does not hold it up", async () => {
		const link = await open();
		const { output } = await link.run("ls -l /proc/self/fd", { starts: true });
		expect(output.toString().match(/ [3-9] -> (?!.*\/proc\/).*/g) ?? []).toEqual([]); // ls has its directory open
		const { output: pid } = await link.run("sleep 1000 & echo $!");
		atEnd(() => execFileSync("kill", ["-9", pid.toString().trim()]));
		expect(pid.toString()).toMatch(/^\d+\n$/);
		await link.ping();
	});

	test("scripts run beside each other, and one that is given up is no trouble", async () => {
		const link = await open();
		const gate = path.join(tempDir(), "gate");
		execFileSync("mkfifo", [gate]);
		const reads = link.run(`cat ${gate}`);
		const writes = link.run(`echo through >${gate}`);
		expect((await reads).output.toString()).toBe("through\n");
		expect((await writes).status).toBe(0);
		const caller = new AbortController();
		const endless = link.run("sleep 2", { signal: caller.signal });
		caller.abort();
		await expect(endless).rejects.toMatchObject({ code: "ABORTED" });
		expect((await link.run("echo on")).output.toString()).toBe("on\n");
		await until("it has ended", () => link.pending === 0);
	});

	test("a request that arrives in two parts is read whole, also when a script beside it ends in between", async () => {
		const host = new ShellHost({ shell });
		const link = await linkTo(host, { perl });
		const gate = path.join(tempDir(), "gate");
		execFileSync("mkfifo", [gate]);
		const said = path.join(tempDir(), "pid");
		const beside = link.run(`sh -c 'echo $PPID' >${said}.new; mv ${said}.new ${said}; cat ${gate}`);
		await until("the script is at work", () => fs.existsSync(said));
		const job = readStat(Number(fs.readFileSync(said, "utf8")))?.ppid as number; // the part of the link that runs it, or the link

		const stdin = host.streams[0]?.child.stdin as Writable;
		const write = stdin.write.bind(stdin) as (bytes: Uint8Array) => boolean;
		let rest: Buffer | undefined;
		stdin.write = ((bytes: Uint8Array | string) => {
			const all = Buffer.from(bytes as Uint8Array);
			const cut = rest === undefined ? all.indexOf("in two parts") : -1;
			if (cut >= 0) rest = all.subarray(cut);
			return write(cut >= 0 ? all.subarray(0, cut) : all);
		}) as typeof stdin.write;
		const split = link.run("echo whole, in two parts");
		await until("the first part is sent", () => rest !== undefined);
		fs.writeFileSync(gate, "opened\n");
		expect((await beside).output.toString()).toBe("opened\n");
		if (!perl) await until("what ran the script has ended", () => ["Z", undefined].includes(readStat(job)?.state));
		write(rest as Buffer);
		expect(await split).toMatchObject({ status: 0, output: Buffer.from("whole, in two parts\n") });
	});

	test("bytes reach the reader of a FIFO whole or not at all", async () => {
		const link = await open();
		const fifo = path.join(tempDir("with space"), "in");
		execFileSync("mkfifo", [fifo]);
		expect(await link.send(fifo, Buffer.from("nobody"))).toBe("refused");
		expect(await link.send(`${fifo}-not`, Buffer.from("x"))).toBe("absent");
		expect(fs.existsSync(`${fifo}-not`)).toBe(false);
		const reader = fs.openSync(fifo, fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
		atEnd(() => fs.closeSync(reader));
		const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
		expect(await link.send(fifo, all)).toBe("sent");
		const got = Buffer.alloc(8192);
		expect(got.subarray(0, fs.readSync(reader, got))).toEqual(all);
		fs.writeSync(reader, Buffer.alloc(15 * 4096)); // a FIFO has room for 16 pages
		expect(await link.send(fifo, Buffer.alloc(4096, 1))).toBe("sent");
		expect(await link.send(fifo, Buffer.from("full"))).toBe("refused");
		await expect(link.send(fifo, Buffer.alloc(4097))).rejects.toMatchObject({ code: "INVALID" });
	});
});
