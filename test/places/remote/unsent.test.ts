/** Commands on another machine whose sender is killed while it sends them: no program settles them from an earlier look. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readRemoteState, writeRemoteState } from "../../../src/keeper/remote-state.js";
import { siblingOf } from "../../../src/keeper/spec.js";
import type { RemoteMachine } from "../../../src/places/remote/machine.js";
import { withdraw } from "../../../src/places/remote/withdraw.js";
import { isOver } from "../../../src/process/status.js";
import { type Program, run } from "../../fixtures/programs.js";
import { eventually } from "../../support/docker-box.js";
import { until } from "../../support/home.js";
import type { Process, Runtime } from "../../support/internal.js";
import { TASK } from "../../support/on-box.js";
import { type SshBox, type SshBoxOptions, sshBox } from "../../support/ssh-box.js";

const PATIENCE = { timeout: 120_000 };
const HOURS = 3 * 3_600_000;

interface Paused extends SshBox {
	readonly sender: Program;
	/** Another program on the same home. */
	readonly other: Runtime;
	/** What it sees of the process. */
	readonly seen: Process;
	readonly file: string;
}

/** All programs see the command `touch FILE; read <FIFO`, and it has not been sent. */
async function paused(what: "send" | "start", options: SshBoxOptions = {}): Promise<Paused> {
	const box = await sshBox(options);
	execFileSync("mkfifo", [`${box.dir}/go`]);
	const file = path.join(box.dir, "began");
	const other = await box.open();
	const sender = run("remote-paused.mjs", box.home, "box", TASK, what, "K=v", `touch ${file}; read -r x <${box.dir}/go; exit $x`);
	expect(await sender.line()).toBe("paused");
	const seen = other.list().find(({ spec }) => spec.command.startsWith("touch")) as Process;
	return { ...box, sender, other, seen, file };
}

/** A look is on record that was made before it was sent, and later than its start by hours, as by a clock that was set back. */
async function seenLater({ seen, other }: Paused): Promise<void> {
	await other.sync();
	const dir = seen.spec.within ? siblingOf(seen.dir, seen.spec.within.shell) : seen.dir;
	const there = readRemoteState(dir);
	if (there?.at) writeRemoteState(dir, { ...there, at: Date.now() + HOURS });
}

/** It blocks no other command; and the sender's remote files are tidied up. */
const next = async ({ other }: Paused): Promise<void> => expect(await other.terminal({ command: "echo next" })).toMatchObject({ output: "next\n" });

const isThere = (home: string, { id }: Process): boolean => fs.existsSync(path.join(home, "live", id));

for (const what of ["send", "start"] as const)
	describe(what === "send" ? "a command of a shell" : "a process", () => {
		test("a command whose sender lives is not given up by other programs, and runs when it is sent", PATIENCE, async () => {
			const box = await paused(what);
			await seenLater(box);
			expect(["running", "starting"]).toContain(box.seen.status().status);
			box.sender.begin();
			await until("it has begun", () => fs.existsSync(box.file));
			await box.sender.kill();
			expect(["running", "starting"]).toContain(box.other.get(box.seen.id).status().status); // nobody has looked since
			expect(isThere(box.home, box.seen)).toBe(true);
			expect(await box.seen.sync()).toBeUndefined();
			expect(box.seen.status()).toMatchObject({ status: "running" });
			fs.writeFileSync(`${box.dir}/go`, "5\n");
			expect((await box.seen.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 5 });
			await next(box);
		});

		test("a command whose sender was killed before sending is over after a look, and not before", PATIENCE, async () => {
			const box = await paused(what);
			await seenLater(box);
			await box.sender.kill();
			expect(["running", "starting"]).toContain(box.seen.status().status);
			expect(await box.seen.sync()).toBeUndefined();
			const reason = what === "send" ? /nothing ran/ : /no program will start it/;
			expect(box.seen.status()).toMatchObject({ status: what === "send" ? "error" : "lost", reason: expect.stringMatching(reason) });
			expect(isThere(box.home, box.seen)).toBe(false);
			expect(await box.other.terminal({ command: "echo $K" })).toMatchObject({ status: "exited", output: "v\n" });
			expect(fs.existsSync(box.file)).toBe(false);
		});

		test("a command whose sender was killed is over for a waiting caller, too", PATIENCE, async () => {
			const box = await paused(what);
			const waiting = box.seen.wait({ timeout: 100_000 });
			await box.sender.kill();
			expect(await waiting).toMatchObject({ timedOut: false, status: { status: what === "send" ? "error" : "lost" } });
			await next(box);
		});

		test("does not run if it arrives after it was withdrawn", PATIENCE, async () => {
			const box = await paused(what);
			await withdraw((box.seen.machine as RemoteMachine).reach, box.seen.id, box.seen.spec.within);
			box.sender.begin();
			if (what === "send") expect((await box.seen.wait({ timeout: 100_000 })).status).toMatchObject({ status: "error" });
			else expect(JSON.parse((await box.sender.line()) ?? "{}")).toMatchObject({ status: "error", error: expect.stringContaining("no program will start it") });
			await box.sender.kill();
			await next(box);
			expect(fs.existsSync(box.file)).toBe(false);
		});

		test("a process of an unreachable machine is as it was last seen; then the machine is asked", PATIENCE, async () => {
			const box = await paused(what);
			await box.sender.kill();
			await box.sshd.stop();
			expect(await box.seen.sync(undefined, 3_000)).toMatch(/Cannot reach/);
			expect(["running", "starting"]).toContain(box.seen.status().status);
			expect(isThere(box.home, box.seen)).toBe(true);
			await box.sshd.start();
			await eventually("it is over", async () => {
				await box.seen.sync();
				return isOver(box.seen.status());
			});
			expect(isThere(box.home, box.seen)).toBe(false);
			await next(box);
			expect(fs.existsSync(box.file)).toBe(false);
		});
	});
