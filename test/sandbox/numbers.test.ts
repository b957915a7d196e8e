/** The kernel gives the number of an empty namespace to the next one. What has it then is a stranger, and no kill may reach it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { atEnd, endAll, tempDir, testRuntime, until } from "../support/home.js";
import { openRuntime, type Process } from "../support/internal.js";
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

test.skipIf(impossible).each(["auto", "off"] as const)(
	"the next command of the same sandbox in a namespace with the number of an ended one is not killed with that one, on a terminal too (cgroup: %s)",
	async (cgroup) => {
		const runtime = await testRuntime({ place: "local+sandbox", cgroup });
		const numberOf = (process: Process) => /^namespace (.*)$/m.exec(fs.readFileSync(path.join(process.dir, "meta"), "utf8"))?.[1];
		const begun = async (terminal: boolean) => {
			const process = await runtime.spawn({ command: "echo ready; exec sleep 1000", ...(terminal ? { terminal: true } : {}) });
			await process.wait({ until: { pattern: "ready" }, timeout: 100_000 });
			await until("its namespace is on record", () => numberOf(process) !== undefined);
			return process;
		};
		for (const terminal of [true, false])
			for (let count = 1; ; count++) {
				const ended = await begun(false);
				await ended.kill({ graceMs: 0 });
				await until("what the kill has ended is gone", () => ended.spec.cgroup === undefined || !fs.existsSync(ended.spec.cgroup));
				const next = await begun(terminal);
				const same = numberOf(next) === numberOf(ended); // unless something else of the machine was faster
				if (same) await ended.kill({ graceMs: 0 });
				expect(await next.kill({ graceMs: 500 })).toMatchObject({ status: "killed", survivors: [] });
				if (same) break;
				if (count === MOST) throw new Error(`none of ${MOST} namespaces got the number of the one before`);
			}
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
