/** Programs on a terminal that wait for input, and programs that do not: for the tests here, and for bench/waiting.mjs, which nobody compiles. */
import fs from "node:fs";
import path from "node:path";

/**
 * Where a program is, if it is installed.
 * @param {string} name
 * @returns {string | undefined}
 */
export const which = (name) =>
	(process.env.PATH ?? "")
		.split(":")
		.map((dir) => path.join(dir, name))
		.find((file) => fs.existsSync(file));

const COMMIT = "git init -q . && git config user.name n && git config user.email e@x && git commit -q --allow-empty";
const EDITOR = "EDITOR=$(command -v vim >/dev/null && echo 'vim -u NONE' || echo 'cat >/dev/tty; read x #')";

const ASYNCIO = 'import asyncio; loop=asyncio.new_event_loop(); loop.add_reader(0, print); print("go",flush=True); loop.run_forever()';

/**
 * The program it needs, what to run, what it waits for, and what its screen shows then.
 * @type {[string, string, "line" | "password" | "keys", RegExp][]}
 */
export const WAITING = [
	["bash", "read -r x", "line", /^$/],
	["bash", "read -r -p 'name? ' x", "line", /^name\?$/],
	["bash", "read -r -s -p 'secret? ' x", "password", /^secret\?$/],
	["bash", "echo now; read -r x </dev/tty", "line", /^now$/],
	["bash", "read -r -n 1 -p 'y/n ' x", "keys", /^y\/n$/],
	["bash", "read -r -t 30 -p 'soon? ' x", "line", /^soon\?$/],
	["bash", "select x in red blue; do break; done", "line", /1\) red\n.*#\?$/s],
	["bash", "sleep 0.5; read -r x", "line", /^$/],
	["bash", "bash --norc -i", "keys", /[#$]$/],
	["cat", "cat", "line", /^$/],
	["cat", "cat | sort", "line", /^$/],
	["python3", "python3 -q", "keys", />>>$/],
	["python3", "python3 -c 'input(\"age? \")'", "line", /^age\?$/],
	["python3", "python3 -c 'import getpass; getpass.getpass(\"pin? \")'", "password", /^pin\?$/],
	["node", "node", "keys", />$/],
	["node", 'node -e \'console.log("go"); process.stdin.once("data", () => {})\'', "line", /^go$/],
	["vim", "vim -u NONE", "keys", /~\n~/],
	["nano", "nano", "keys", /Exit/],
	["less", "seq 100 | less", "keys", /:$/],
	["ssh-keygen", "ssh-keygen -t ed25519 -f ./key", "password", /passphrase/],
	["sqlite3", "sqlite3 x.db", "keys", /sqlite>$/],
	["gdb", "gdb -q -nx", "keys", /\(gdb\)$/],
	["npm", "npm init", "keys", /package name:/],
	["git", `${COMMIT}; ${EDITOR} git commit --allow-empty`, "keys", /Please enter the commit message/],
	["python3", `python3 -c '${ASYNCIO}'`, "line", /^go$/],
	["timeout", "timeout 60 python3 -q", "keys", />>>$/],
	["setsid", "setsid -w bash -c 'read -r -s -p \"alone? \" x'; :", "password", /^alone\?$/],
	["script", "SHELL=$BASH script -qc \"read -r -s -p 'inside? ' x\" /dev/null", "password", /^inside\?$/],
];

const SPINNER = 'process.stdin.setRawMode(true).resume(); console.log("up"); setInterval(() => process.stdout.write("."), 80)';
const SERVER = 'require("net").createServer().listen(0, "127.0.0.1", () => console.log("up"))';
const RESTARTER = `require("child_process").spawn(process.execPath, ["-e", process.env.SERVER], { stdio: ["pipe", 1, 2] }); process.stdin.resume()`;
const ACCEPT = 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(); print("up",flush=True); s.accept()';
const RAW_SLEEP = 'import tty,time; tty.setraw(0); print("up",flush=True); time.sleep(60)';

/**
 * The program it needs, and what to run. Each says `up` when it is where it will stay.
 * @type {[string, string][]}
 */
export const NOT_WAITING = [
	["bash", "echo up; sleep 30"],
	["bash", "echo up; exec sleep 30"],
	["bash", "echo up; while :; do :; done"],
	["bash", "echo up; sleep 20 | cat"],
	["bash", "sleep 30 & echo up; wait"],
	["bash", "echo up; while :; do seq 3000 | sort -n | tail -n 1 | cat >/dev/null; done"],
	["bash", "echo up; while :; do echo line; sleep 0.05; done"],
	["bash", "echo up; yes"],
	["cc", "echo up; while :; do echo 'int main(void) { return 0; }' | cc -x c -O2 -o out -; done"],
	["node", `node -e '${SERVER}'`],
	["node", `node -e '${SERVER}; process.stdin.resume()'`],
	["node", `SERVER='${SERVER}' node -e '${RESTARTER}'`],
	["node", `node -e '${SPINNER}'`],
	["python3", `python3 -c '${ACCEPT}'`],
	["python3", `python3 -c '${RAW_SLEEP}'`],
	["script", "script -qc 'echo up; sleep 30' /dev/null"],
	["setsid", "setsid -w bash -c 'echo up; sleep 30'; :"],
	["setsid", "setsid cat & echo up; sleep 30"],
	["timeout", "echo up; timeout 60 sleep 30"],
];
