/** What breaks on the way to another machine: each ends byte for byte as if nothing had been, or with an error that is true. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readStat } from "../../../src/base/proc.js";
import { cuttable, known, type Line } from "../../support/cuttable.js";
import { atEnd, until } from "../../support/home.js";
import type { Process, Runtime } from "../../support/internal.js";
import { QUICK, sshBox } from "../../support/ssh-box.js";
import { noSshd, PLAIN_USER } from "../../support/sshd.js";

const PATIENCE = { timeout: 90_000 };
const gone = (pid: number): boolean => ["Z", "X", undefined].includes(readStat(pid)?.state);
const sizeOf = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;

describe.skipIf(noSshd)(`over SSH${noSshd ? ` (${noSshd})` : ""}`, () => {
	describe("the network", () => {
		test("is away for longer than a call retries: the last known state is shown, never an unseen end; then it goes on", PATIENCE, async () => {
			const { sshd, dir, open } = await sshBox({ entry: QUICK });
			const runtime = await open();
			const id = (await runtime.terminal({ command: "echo up; read -r x; exit 3", background: true })).session_id;
			await runtime.process({ action: "wait", session_id: id, until: { pattern: "up" } });
			const late = runtime.terminal({ command: `echo one; touch ${dir}/late; sleep 300`, timeout: 5, on_timeout: "kill" });
			await until("it runs", () => fs.existsSync(`${dir}/late`));
			await sshd.stop();
			const [poll, list, ran] = await Promise.all([
				runtime.process({ action: "poll", session_id: id }),
				runtime.process({ action: "list" }),
				runtime.terminal({ command: `echo x >>${dir}/runs` }),
			]);
			expect(poll).toMatchObject({ status: "running", exit_code: null, note: expect.stringMatching(/Cannot reach/) });
			expect(list.processes?.find(({ session_id }) => session_id === id)).toMatchObject({ status: "running", exit_code: null });
			// It could not be killed at its deadline, so it is not said to have been; and its log is nobody else's.
			const unkilled = await late;
			expect(unkilled).toMatchObject({ status: "running", exit_code: null, note: expect.stringMatching(/cannot be reached|cannot reach/i) });
			expect(ran).toMatchObject({ status: "error", exit_code: null, error: expect.stringMatching(/reach/) });
			expect(fs.existsSync(`${dir}/runs`)).toBe(false);
			await sshd.start();
			expect(await runtime.terminal({ command: `cat ${dir}/runs; echo back` })).toMatchObject({ output: expect.stringMatching(/back\n$/) });
			expect(await runtime.process({ action: "kill", session_id: unkilled.session_id })).toMatchObject({ survivors: [], error: null });
			expect(await runtime.process({ action: "log", session_id: unkilled.session_id })).toMatchObject({ output: "one\n" });
			await runtime.process({ action: "submit", session_id: id });
			expect(await runtime.process({ action: "wait", session_id: id })).toMatchObject({ status: "exited", exit_code: 3 });
			expect(fs.existsSync(`${dir}/runs`)).toBe(false);
		});
	});

	describe("a machine that is away, and a call that must be answered soon", () => {
		/** Today's answer, not one from when somebody has given up. */
		const soon = { within: 8_000 };

		async function answersWhileAway(runtime: Runtime, dir: string, session_id: string | undefined): Promise<void> {
			const answered: string[] = [];
			const inOrder = async <T>(name: string, call: Promise<T>): Promise<T> => {
				const result = await call;
				answered.push(name);
				return result;
			};
			const [poll, list, ran] = await Promise.all([
				inOrder("poll", runtime.process({ action: "poll", session_id }, soon)),
				inOrder("list", runtime.process({ action: "list" }, soon)),
				inOrder("command", runtime.terminal({ command: `echo x >>${dir}/runs` }, soon)),
			]);
			expect(answered.at(-1)).toBe("command"); // who only looks does not wait for it to come back
			const asItWas = { status: "running", exit_code: null, note: expect.stringMatching(/Cannot reach .*\(.*\)\. Showing its last known state, from \d{4}-/) };
			expect(poll).toMatchObject(asItWas);
			expect(list.processes?.find((one) => one.session_id === session_id)).toMatchObject(asItWas);
			expect(ran.exit_code).toBe(null);
			expect(`${ran.error} ${ran.note}`).toMatch(/nothing ran|not known whether/);
			expect(await runtime.terminal({ command: `echo x >>${dir}/runs`, background: true }, soon)).toMatchObject({ status: "error" });
			expect(await runtime.process({ action: "kill", session_id }, soon)).toMatchObject({
				status: "error",
				error: expect.stringMatching(/^it may still run: /),
			});
			const waited = await runtime.process({ action: "wait", session_id, timeout: 1 }, soon);
			expect(waited).toMatchObject({ status: "running", timed_out: true, note: expect.stringContaining("how it is now cannot be seen") });
			expect(waited.note).not.toContain("still runs");
		}

		async function isBack(runtime: Runtime, dir: string, session_id: string | undefined): Promise<void> {
			const back = await runtime.terminal({ command: `cat ${dir}/runs; echo back` });
			expect(back).toMatchObject({ status: "exited", output: expect.stringMatching(/No such file.*\nback\n$/) });
			expect(await runtime.process({ action: "poll", session_id })).not.toHaveProperty("note");
			await runtime.process({ action: "submit", session_id });
			expect(await runtime.process({ action: "wait", session_id })).toMatchObject({ status: "exited", exit_code: 3 });
		}

		test("nothing listens: the call answers in time with the last known state, and later it goes on", { timeout: 60_000 }, async () => {
			const { sshd, dir, open } = await sshBox();
			const runtime = await open();
			const { session_id } = await runtime.terminal({ command: "echo up; read -r x; exit 3", background: true });
			await runtime.process({ action: "wait", session_id, until: { pattern: "up" } });
			await sshd.stop();
			await answersWhileAway(runtime, dir, session_id);
			await sshd.start();
			await isBack(runtime, dir, session_id);
		});

		test("it is silent, and that is not known yet: the same", { timeout: 75_000 }, async () => {
			let line: Line | undefined;
			const { dir, open } = await sshBox({
				prepare: async ({ port, dir: keys }) => {
					line = await cuttable(port);
					known(keys, port, line.port);
					return { port: line.port };
				},
			});
			const runtime = await open();
			const { session_id } = await runtime.terminal({ command: "echo up; read -r x; exit 3", background: true });
			await runtime.process({ action: "wait", session_id, until: { pattern: "up" } });
			line?.cut();
			await answersWhileAway(runtime, dir, session_id);
			line?.drop(); // what was under way is lost
			line?.mend();
			await isBack(runtime, dir, session_id);
		});
	});

	describe("the machine", () => {
		test("has a banner, a slow rc file and a shell that prints at login: none of it is in a result", PATIENCE, async () => {
			const { open } = await sshBox({
				prepare: (sshd) => {
					fs.writeFileSync(`${sshd.home}/.bashrc`, "sleep 1; echo noise from bashrc; echo more >&2\n");
					fs.writeFileSync(`${sshd.home}/.profile`, "echo noise from profile; export FROM_PROFILE=1\n");
					fs.writeFileSync(`${sshd.dir}/banner`, "Authorised use only\n");
					return undefined;
				},
				config: [`Banner ${path.join(globalThis.process.cwd(), "LICENSE")}`],
			});
			const runtime = await open();
			expect(await runtime.terminal({ command: "echo hello $FROM_PROFILE" })).toMatchObject({ status: "exited", output: "hello 1\n", exit_code: 0 });
			const { session_id } = await runtime.terminal({ command: "echo back", background: true });
			expect(await runtime.process({ action: "wait", session_id })).toMatchObject({ output: "back\n", exit_code: 0 });
		});

		test("has a home that cannot be written to: another private directory is taken", PATIENCE, async () => {
			const { open } = await sshBox({
				entry: { user: PLAIN_USER },
				prepare: ({ plainHome }) => {
					fs.chownSync(plainHome, 0, 0);
					fs.chmodSync(plainHome, 0o555);
					return undefined;
				},
			});
			const runtime = await open();
			expect(await runtime.terminal({ command: "echo hello; id -un" })).toMatchObject({ status: "exited", output: `hello\n${PLAIN_USER}\n` });
			const { session_id } = await runtime.terminal({ command: "read -r x; echo got $x", background: true });
			await runtime.process({ action: "submit", session_id, data: "me" });
			expect(await runtime.process({ action: "wait", session_id })).toMatchObject({ output: "got me\n", exit_code: 0 });
		});

		test("has a full disk: nothing runs and that is said; with room again it goes on, and what was printed meanwhile is all there", PATIENCE, async () => {
			let disk = "";
			const { open } = await sshBox({
				prepare: async (sshd) => {
					disk = `${sshd.home}/.local`;
					await sshd.stop();
					fs.mkdirSync(disk, { mode: 0o700 });
					execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", disk]);
					atEnd(() => execFileSync("umount", ["-l", disk]));
					await sshd.start(); // it sees what was mounted before it
					return undefined;
				},
			});
			const runtime = await open();
			const kept = await runtime.spawn({ command: "read -r x; seq 1000000; exit 3", stdin: true });
			expect(await runtime.terminal({ command: "echo fits" })).toMatchObject({ output: "fits\n" });
			fill(disk);
			await kept.write("go\n");
			await until("it waits for room", () => paused(kept));
			const refused = await runtime.terminal({ command: "sleep 300", background: true });
			expect(refused).toMatchObject({ status: "error", exit_code: null, error: expect.stringMatching(/full|space/i) });
			fs.rmSync(`${disk}/fill`);
			expect((await kept.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 3 });
			expect(kept.read(0, 10_000_000).bytes.toString() === `${Array.from({ length: 1_000_000 }, (_, i) => i + 1).join("\n")}\n`).toBe(true);
			expect(await runtime.terminal({ command: "echo usable" })).toMatchObject({ output: "usable\n" });
		});
	});

	test("a kill ends the whole remote tree, also daemonized processes, and verifies it", PATIENCE, async () => {
		const { dir, open } = await sshBox();
		const runtime = await open();
		const escapes = [
			`setsid bash -c 'echo $$ >${dir}/session; exec sleep 701' &`,
			`(setsid bash -c 'echo $$ >${dir}/double; exec sleep 702 >/dev/null 2>&1 </dev/null' &)`,
			`(env -i setsid /bin/bash -c 'echo $$ >${dir}/bare; exec /bin/sleep 703' &)`,
			`bash -c 'trap "" TERM HUP; echo $$ >${dir}/deaf; while :; do sleep 704; done' &`,
		];
		const { session_id } = await runtime.terminal({ command: `${escapes.join("\n")}\nwait`, background: true });
		const files = ["session", "double", "bare", "deaf"].map((name) => `${dir}/${name}`);
		await until("all are there", () => files.every((file) => sizeOf(file) > 0));
		const pids = files.map((file) => Number(fs.readFileSync(file, "utf8")));
		const result = await runtime.process({ action: "kill", session_id });
		expect(result).toMatchObject({ status: "killed", survivors: [], error: null });
		for (const pid of pids) expect(result.signalled).toContain(pid);
		expect(pids.map(gone)).toEqual([true, true, true, true]);
	});
});

function fill(disk: string): void {
	const fd = fs.openSync(`${disk}/fill`, "w");
	try {
		for (let size = 1 << 20; size >= 512; size >>= 1)
			for (;;) {
				try {
					fs.writeSync(fd, Buffer.alloc(size));
				} catch {
					break; // no room for so much
				}
			}
	} finally {
		fs.closeSync(fd);
	}
}

const paused = (kept: Process): boolean => {
	void kept.sync();
	const status = kept.status();
	return status.status === "running" && status.paused === "disk";
};
