import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readProc } from "../../src/base/proc.js";
import { findCgroups } from "../../src/keeper/cgroup.js";
import { cli } from "../support/cli.js";
import { atEnd, tempDir, testRuntime, textOf, until } from "../support/home.js";

const groups = findCgroups();

/** What a service manager does: a control group that is killed as one when the service is restarted. */
function service(): string {
	const dir = path.join(
		path.dirname(path.dirname((groups as NonNullable<typeof groups>).keepers.split(":")[0] as string)),
		`holdfast-test-${process.pid}.service`,
	);
	fs.mkdirSync(dir);
	atEnd(async () => {
		await until("the group is empty", () => fs.readFileSync(path.join(dir, "cgroup.procs"), "utf8") === "");
		fs.rmdirSync(dir);
	});
	return dir;
}

test.skipIf(!groups)("a service manager that kills the whole control group does not take keepers along (needs writable cgroup v2)", async () => {
	const group = service();
	const home = tempDir("home");
	const script = `const { openRuntime } = await import(${JSON.stringify(path.resolve("dist/lib/index.js"))});
		const runtime = await openRuntime({ home: ${JSON.stringify(home)}, warm: 0 });
		const pipe = await runtime.spawn({ command: "echo up; read x; echo done; exit 6" });
		const tty = await runtime.spawn({ command: "echo up; read x; echo done; exit 7", terminal: true });
		console.log(pipe.id, tty.id); setInterval(() => {}, 1000);`;
	const child = spawn("sh", ["-c", 'echo 0 >"$0/cgroup.procs" && exec "$@"', group, process.execPath, "--input-type=module", "-e", script], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	const [line] = (await new Promise<Buffer>((resolve) => child.stdout.once("data", resolve))).toString().split("\n");
	expect(readProc(`/proc/${child.pid}/cgroup`)).toContain(".service");
	fs.writeFileSync(path.join(group, "cgroup.kill"), "1");
	await new Promise((resolve) => child.once("exit", resolve));
	const runtime = await testRuntime({ home });
	for (const [index, id] of (line as string).split(" ").entries()) {
		const kept = runtime.get(id);
		await kept.write(index === 1 ? "\r" : "\n");
		expect((await kept.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 6 + index });
		expect(textOf(kept)).toMatch(/up\r?\n.*done/s);
	}
});

test.skipIf(!groups)("doctor says in which service it was started, and what that means (needs writable cgroup v2)", async () => {
	const group = service();
	const home = tempDir("home");
	const { stdout } = await cli(home, ["doctor", "--json"], { prefix: ["sh", "-c", 'echo 0 >"$0/cgroup.procs" && exec "$@"', group] });
	const check = JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === "service");
	expect(check).toMatchObject({ state: "ok", found: expect.stringContaining("keepers leave its control group") });
});
