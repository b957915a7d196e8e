/** The kernel gives the number of an empty namespace to the next one. What has it then is a stranger, and no kill may reach it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { atEnd, endAll, tempDir, until } from "../support/home.js";
import { openRuntime } from "../support/internal.js";
import { noSandbox } from "../support/sandbox.js";

const MOST = 200; // namespaces that are made until one has the number

const impossible = noSandbox ?? (process.getuid?.() === 0 ? undefined : "only root makes namespaces without a user namespace");

test.skipIf(impossible).each(["auto", "off"] as const)(
	`a stranger in a namespace with the number of an ended command is not killed (cgroup: %s)`,
	async (cgroup) => {
		const work = tempDir("work");
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, place: "local+sandbox", cgroup, sandbox: { directory: work } });
		atEnd(() => endAll(runtime));
		const ended = await runtime.spawn({ command: "read -r line", stdin: true, cwd: work });
		const number = () => /^namespace uts:\[(\d+)\]/m.exec(fs.readFileSync(path.join(ended.dir, "meta"), "utf8"))?.[1];
		await until("its namespace is on record", () => number() !== undefined);
		await ended.write("x\n");
		await ended.wait();

		const stranger = await inNamespace(number() as string);
		await ended.kill({ graceMs: 0 });
		await runtime.endTask(runtime.task);
		expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
		expect(fs.readlinkSync(`/proc/${stranger.pid}/ns/uts`)).toBe(`uts:[${number()}]`);
	},
);

/** Returns a process in a new namespace with that number. */
async function inNamespace(number: string): Promise<ChildProcess> {
	for (let count = 0; count < MOST; count++) {
		const child = spawn("unshare", ["--uts", "sleep", "infinity"], { stdio: "ignore" });
		atEnd(async () => {
			if (child.kill("SIGKILL")) await once(child, "exit");
		});
		await once(child, "spawn");
		const own = fs.readlinkSync("/proc/self/ns/uts");
		await until("it is in a namespace of its own", () => fs.readlinkSync(`/proc/${child.pid}/ns/uts`) !== own);
		if (fs.readlinkSync(`/proc/${child.pid}/ns/uts`) === `uts:[${number}]`) return child;
	}
	throw new Error(`none of ${MOST} namespaces got the number ${number}`);
}
