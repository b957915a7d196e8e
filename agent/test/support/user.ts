/** A user of this machine, made for a test, who may use sudo with a password. */
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { atEnd, until } from "./dirs.js";
import type { World } from "./seat.js";

const possible = process.getuid?.() === 0 && fs.existsSync("/usr/bin/sudo") && fs.existsSync("/usr/sbin/useradd") && fs.existsSync("/etc/sudoers.d");

/** Why there can be none; empty: there can. */
export const noUser = possible ? "" : " (skipped: needs root, sudo and useradd)";

/** Makes a user to whom the world belongs. Returns what runs a program as that user. */
export function newUser(world: World, password: string): string[] {
	const name = `hf${randomBytes(4).toString("hex")}`;
	execFileSync("useradd", ["-M", "-d", world.env.HOME as string, "-s", "/bin/bash", name]);
	atEnd(() => until("the last process of the user is gone", () => spawnSync("userdel", [name]).status === 0));
	execFileSync("chpasswd", [], { input: `${name}:${password}\n` });
	const rule = `/etc/sudoers.d/${name}`;
	fs.writeFileSync(rule, `${name} ALL=(ALL) ALL\n`, { mode: 0o440 });
	atEnd(() => fs.rmSync(rule));
	const core = world.env.HOLDFAST_HOME as string;
	fs.mkdirSync(core, { mode: 0o700 });
	for (let dir = world.dir; dir !== path.dirname(process.env.TEST_ROOT ?? ""); dir = path.dirname(dir)) fs.chmodSync(dir, 0o711);
	execFileSync("chown", ["-R", name, ...fs.readdirSync(world.dir).map((entry) => path.join(world.dir, entry))]);
	const uid = execFileSync("id", ["-u", name], { encoding: "utf8" }).trim();
	const prefix = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"];
	const ends = `import { openRuntime } from "holdfast"; const runtime = await openRuntime({ warm: 0 }); for (const one of runtime.list({ task: null, shells: true })) await one.kill({ graceMs: 0 }); await runtime.close();`;
	const [program = "", ...words] = [...prefix, process.execPath, "--input-type=module", "-e", ends];
	atEnd(() => {
		execFileSync(program, words, { cwd: path.resolve("agent"), env: { ...world.env } });
		fs.rmSync(core, { recursive: true, force: true });
	});
	return prefix;
}
