// Run by a user without rights of his own: a runtime whose person answers from a list. Prints what came of each step as JSON.
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { openAgentRuntime as openRuntime } from "../../dist/tools/index.js";

const [home, right, config] = process.argv.slice(2);
const runtime = await openRuntime({ home, warm: 0, task: "a" });
const answers = [];
const asked = [];
const person = async ({ task }) => {
	asked.push(task);
	return answers.shift() ?? null;
};
const run = async (command, more = {}) => {
	const { output, screen, note, exit_code, status } = await runtime.terminal({ command, timeout: 60, ...more.args }, more.call);
	return { output, screen, note, exit_code, status };
};
const steps = {};

steps.none = await run("sudo -k; sudo id -un; echo ended $?");
steps.noneOnTerminal = await run("sudo id -un; echo ended $?", { args: { pty: true } });
steps.quoted = await run("echo 'sudo id' # sudo id");

runtime.sudo.passwords.askPerson = person;
answers.push("wrong-0ne");
steps.wrong = await run("sudo id -un; echo ended $?");
answers.push(right);
steps.several = await run("sudo id -un && sudo -k && sudo -u root whoami | cat && sh -c 'sudo -k; exec sudo id -u'");
steps.onTerminal = await run("sudo -k; sudo id -un", { args: { pty: true } });
steps.askedByA = [...asked];
steps.otherTask = await run("sudo -k; sudo id -un; echo ended $?", { call: { task: "b" } });
steps.askedAll = [...asked];

// Somebody who is in no task finds the same program, and gets nothing.
steps.stranger = await new Promise((resolve) =>
	execFile(path.join(home, "sudo/bin/sudo"), ["-k", "id", "-un"], { env: { PATH: "/usr/bin:/bin" } }, (error, stdout, stderr) =>
		resolve({ code: error?.code, stdout, stderr }),
	),
);

// While a command runs that has been given it, the password is in no argument list, no environment and no file.
const held = await runtime.terminal({ command: `sudo -k; sudo sh -c 'echo up; cat'`, background: true });
await runtime.process({ action: "wait", session_id: held.session_id, until: { pattern: "up" } });
const places = [];
for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid))
	for (const file of ["cmdline", "environ"]) {
		try {
			if (fs.readFileSync(`/proc/${pid}/${file}`, "latin1").includes(right)) places.push(`/proc/${pid}/${file}`);
		} catch {} // another user's, or gone
	}
for (const name of fs.readdirSync(home, { recursive: true })) {
	const file = path.join(home, name);
	if (fs.statSync(file, { throwIfNoEntry: false })?.isFile() && fs.readFileSync(file, "latin1").includes(right)) places.push(file);
}
steps.places = places;
steps.echoed = await run(`printf '%s' ${right.slice(0, 4)}; echo ${right.slice(4)}`);
await runtime.process({ action: "close", session_id: held.session_id });
steps.closed = (await runtime.process({ action: "wait", session_id: held.session_id })).status;

// From a file; first one that others can read.
runtime.sudo.passwords.askPerson = undefined;
fs.mkdirSync(path.dirname(config), { recursive: true });
fs.writeFileSync(config, JSON.stringify({ sudo: { passwordFile: "password" } }));
const file = path.join(path.dirname(config), "password");
fs.writeFileSync(file, `${right}\n`, { mode: 0o644 });
const second = await openRuntime({ home, warm: 0, task: "c" });
const inSecond = async (command) => {
	const { output, note } = await second.terminal({ command, timeout: 60 });
	return { output, note };
};
steps.openFile = await inSecond("sudo -k; sudo id -un; echo ended $?");
fs.chmodSync(file, 0o600);
steps.file = await inSecond("sudo id -un; echo ended $?");
fs.writeFileSync(file, "wrong-0ne\n");
steps.wrongFile = await inSecond("sudo -k; sudo id -un; echo ended $?");
steps.wrongFileAgain = await inSecond("sudo id -un; echo ended $?");

for (const one of runtime.list({ task: null, shells: true })) await one.kill({ graceMs: 0 });
await runtime.close();
await second.close();
console.log(JSON.stringify(steps));
