/** The real sudo, for a user made for this test, in a chat of that user's. */
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { modelServer } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { obeys } from "../support/obeys.js";
import { configFor, newWorld, sit, type World } from "../support/seat.js";

const possible = process.getuid?.() === 0 && fs.existsSync("/usr/bin/sudo") && fs.existsSync("/usr/sbin/useradd") && fs.existsSync("/etc/sudoers.d");
const why = possible ? "" : " (skipped: needs root, sudo and useradd)";

test.skipIf(!possible)(`a password for sudo is asked in place, hidden, once, and is kept nowhere${why}`, async () => {
	const password = `Pw-${randomBytes(8).toString("hex")}`;
	await using server = await modelServer({ script: obeys });
	const world = newWorld(configFor(server));
	const prefix = newUser(world, password);
	const seat = await sit(world, [], { prefix });
	await seat.shows("new conversation");
	await seat.type("run sudo -k; sudo id -un<ENTER>half a draft");
	await seat.shows("Your password (not shown; Enter: no):");
	await seat.type("wrong<ENTER>");
	await seat.shows(/Done: \[exited, exit code 1\]/);
	await seat.type("<CTRL+U>run sudo id -un; sudo -k; sudo id -u<ENTER>");
	await seat.shows(/Done: \[exited, exit code 1\][\s\S]*Your password/);
	await seat.type(`${password}<ENTER>`);
	await seat.shows("Done: [exited, exit code 0] / root / 0");
	await seat.type("<CTRL+D>");
	expect(await seat.ended()).toBe(0);
	expect(seat.printed()).not.toContain(password.slice(3));
	const files = fs.readdirSync(world.dir, { recursive: true }) as string[];
	const has = (name: string) =>
		fs.statSync(path.join(world.dir, name), { throwIfNoEntry: false })?.isFile() && fs.readFileSync(path.join(world.dir, name)).includes(password.slice(3));
	expect(files.filter(has)).toEqual([]);
});

/** Makes a user to whom the world belongs. Returns what runs a program as that user. */
function newUser(world: World, password: string): string[] {
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
