/** Calls as another user of a task's container: one container, a shell and a private directory for each user, one end. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { agentOf } from "../../../src/api/index.js";
import { readAudit } from "../../../src/api/records.js";
import { readStat } from "../../../src/base/proc.js";
import { openRuntime, type PlaceObject, type Runtime } from "../../../src/index.js";
import { containerName } from "../../../src/places/docker/body.js";
import { listContainers } from "../../../src/places/docker/list.js";
import { FULL_IMAGE, noEngine, sharedEngine } from "../../support/dockerd.js";
import { atEnd, endAll, tempDir, until } from "../../support/home.js";

const why = noEngine();

async function library(home = tempDir("home")): Promise<{ runtime: Runtime; place: PlaceObject; containers: () => Promise<string[]> }> {
	const { address } = await sharedEngine();
	const runtime = await openRuntime({ warm: 0, home });
	atEnd(() => endAll(agentOf(runtime)));
	const containers = async () => (await listContainers({ home: runtime.home.root, engine: address })).map(({ name }) => name);
	return { runtime, place: { kind: "docker", image: FULL_IMAGE, engine: address, user: "agent", lifetime: "task" }, containers };
}

describe.skipIf(why)(`users of a container${why ? `: ${why}` : ""}`, () => {
	it("have a shell of their own each, and files that are theirs, in the one container; the end of the task ends both", { timeout: 120_000 }, async () => {
		const { runtime, place, containers } = await library();
		const task = runtime.task(`users-${randomBytes(3).toString("hex")}`, { place });
		const own = await task.terminal({ command: "cd /tmp; mine=1; id -un; echo $HOME" });
		expect(own).toMatchObject({ output: "agent\n/home/agent\n", exit_code: 0 });
		const root = await task.terminal({ command: "cd /root; theirs=2; id -un; echo $HOME; echo ${mine-none}" }, { user: "root", id: "as-root" });
		expect(root).toMatchObject({ output: "root\n/root\nnone\n", exit_code: 0, box: (own as { box?: object }).box });
		expect(await task.terminal({ command: "pwd; echo $mine ${theirs-none}" })).toMatchObject({ output: "/tmp\n1 none\n" });
		expect(await task.terminal({ command: "pwd; echo ${mine-none} $theirs" }, { user: "root" })).toMatchObject({ output: "/root\nnone 2\n" });
		expect(await task.terminal({ command: "id -u; id -g" }, { user: "4321:99" })).toMatchObject({ output: "4321\n99\n" });

		expect(await task.writeFile({ path: "/tmp/by-agent", content: "a\n" })).toMatchObject({ status: "ok" });
		expect(await task.call("write_file", { path: "/tmp/by-root", content: "r\n" }, { user: "root" })).toMatchObject({ status: "ok" });
		expect(await task.terminal({ command: "stat -c %U /tmp/by-agent /tmp/by-root" })).toMatchObject({ output: "agent\nroot\n" });
		expect(await task.writeFile({ path: "/root/no", content: "x" })).toMatchObject({ status: "error" });

		expect(await containers()).toEqual([containerName({ home: runtime.home.root, task: task.name })]);
		expect([...readAudit(runtime, { task: task.name })].filter(({ event }) => event === "run").map(({ user, call }) => [user, call])).toEqual([
			[undefined, undefined],
			["root", "as-root"],
			[undefined, undefined],
			["root", undefined],
			["4321:99", undefined],
			[undefined, undefined],
		]);

		// Another program finds the same process and shell, without having been told of the user.
		const { session_id } = await task.terminal({ command: "id -un; read -r x; echo got $x", background: true }, { user: "root" });
		const { runtime: other } = await library(runtime.home.root);
		const again = other.task(task.name, { place });
		await other.get(session_id as string).write("word\n");
		expect(await again.process({ action: "wait", session_id: session_id as string })).toMatchObject({
			status: "exited",
			output: expect.stringContaining("got word"),
		});
		expect(await again.terminal({ command: "echo ${theirs-none}" }, { user: "root" })).toMatchObject({ output: "2\n" });
		expect(await task.process({ action: "poll", session_id: session_id as string }, { user: "root" })).toMatchObject({
			status: "error",
			error: expect.stringContaining("process takes no user"),
		});

		const long = await task.terminal({ command: "sleep 300", background: true }, { user: "root" });
		const report = await task.end();
		expect(report).toMatchObject({ gone: true, shells: 3, processes: [{ session_id: long.session_id }], sandboxes: [{ kind: "docker" }] });
		expect(await containers()).toEqual([]);
	});

	it("may be a task's setting; one that the image does not have is refused, and no container is left", { timeout: 120_000 }, async () => {
		const { runtime, place, containers } = await library();
		const nobody = await runtime.terminal({ command: "id" }, { task: "t", place, user: "nosuch" });
		expect(nobody).toMatchObject({ status: "error", error: expect.stringMatching(/no user "nosuch" in holdfast\/full:1/) });
		expect(await containers()).toEqual([]);

		const task = runtime.task("t", { place, user: "root" });
		expect(await task.terminal({ command: "id -un" })).toMatchObject({ output: "root\n" });
		await task.files.write("/root/f", "x", { mode: 0o600 });
		expect((await task.files.read("/root/f")).toString()).toBe("x");
		expect(await task.terminal({ command: "id -un; cat /root/f" }, { user: "agent" })).toMatchObject({ output: "agent\ncat: /root/f: Permission denied\n" });
		const job = await task.spawn({ command: "id -un" });
		await job.wait();
		expect(job.read(0, 100).bytes.toString()).toBe("root\n");
		// As the place says: the same shell as without a user.
		await task.terminal({ command: "word=7" }, { place });
		expect(await task.terminal({ command: "echo $word" }, { user: "agent" })).toMatchObject({ output: "7\n" });
		// What the agent has put where another user's directory would be is not used.
		await task.terminal({ command: "mkdir -p /var/lib/holdfast/users/place-4321/busy" }, { user: "agent" });
		expect(await task.terminal({ command: "id" }, { user: "4321" })).toMatchObject({
			status: "error",
			error: expect.stringContaining("place-4321 could not be made"),
		});
		expect(await task.terminal({ command: "id -un" })).toMatchObject({ output: "root\n" });
		await task.end();
		expect(await containers()).toEqual([]);
	});
});

const rootOnly = process.getuid?.() === 0 ? undefined : "only root can be another user";

describe.skipIf(rootOnly)(`the switch of a container${rootOnly ? `: ${rootOnly}` : ""}`, () => {
	/** Runs it without its sleeps. Returns how often it has looked. */
	function startSwitch(dir: string, uid: number): { looks: () => number; child: ReturnType<typeof spawn> } {
		const script = fs.readFileSync("src/places/switch.sh", "utf8");
		const child = spawn("sh", ["-c", `sleep() { echo tick; }\n${script}`, "holdfast", dir, "4"], { uid, stdio: ["ignore", "pipe", "ignore"] });
		atEnd(() => child.kill("SIGKILL"));
		let ticks = 0;
		child.stdout?.on("data", (bytes: Buffer) => {
			ticks += String(bytes).split("tick").length - 1;
		});
		return { looks: () => ticks, child };
	}

	function privateDirs(): { dir: string; other: string } {
		const base = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-switch-")); // the other user may not enter the tests' own
		atEnd(() => fs.rmSync(base, { recursive: true, force: true }));
		fs.chmodSync(base, 0o755);
		const dir = path.join(base, "place");
		for (const file of [`${dir}/busy`, `${dir}-root/own/busy`]) fs.mkdirSync(file, { recursive: true });
		for (const file of [`${dir}/life`, `${dir}-root/own/life`, `${dir}/seen`]) fs.writeFileSync(file, "");
		return { dir, other: `${dir}-root` };
	}

	it("counts what runs as another user", async () => {
		const { dir, other } = privateDirs();
		const mark = path.join(other, "own/busy/proc_1");
		fs.writeFileSync(mark, `${process.pid} ${readStat(process.pid)?.start}\n`);
		const { looks, child } = startSwitch(dir, 0);
		await until("it has looked often", () => looks() > 20 || child.exitCode !== null);
		expect(child.exitCode).toBeNull();
		fs.rmSync(mark);
		expect(await once(child, "exit")).toEqual([75, null]);
	});

	it("goes on while another user, whose marks it may not read, runs anything", async () => {
		const { dir, other } = privateDirs();
		fs.chownSync(dir, 1000, 1000);
		for (const name of ["busy", "life", "seen"]) fs.chownSync(path.join(dir, name), 1000, 1000);
		fs.chmodSync(other, 0o700);
		const { looks, child } = startSwitch(dir, 1000);
		await until("it has looked often", () => looks() > 20 || child.exitCode !== null);
		expect(child.exitCode).toBeNull();
		fs.rmSync(other, { recursive: true });
		expect(await once(child, "exit")).toEqual([75, null]);
	});
});
