/** What waits is reported, what does not is never. Real programs; those that are not installed are skipped by name. */
import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import type { Process } from "../../src/index.js";
import { findTools, keeperFile } from "../../src/keeper/tools.js";
import { encodeKeys, readScreen, untilWaiting, waitingFor } from "../../src/screen/index.js";
import { atEnd, testRuntime } from "../support/home.js";
import { missing, onTerminal, which } from "./programs.js";

const COMMIT = "git init -q . && git config user.name n && git config user.email e@x && git commit -q --allow-empty";

/** The program it needs, what to run, what it waits for, and what its screen shows then. */
const WAITING: [string, string, "line" | "password" | "keys", RegExp][] = [
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
	[
		"git",
		`${COMMIT}; EDITOR='${which("vim") ? "vim -u NONE" : "cat >/dev/tty; read x #"}' git commit --allow-empty`,
		"keys",
		/Please enter the commit message/,
	],
	["script", "SHELL=$BASH script -qc \"read -r -s -p 'inside? ' x\" /dev/null", "password", /^inside\?$/],
];

describe("waits for input", () => {
	for (const [program, command, kind, screen] of WAITING) {
		test.skipIf(!which(program))(`${command}: ${kind}${missing(program)}`, async () => {
			const process = await onTerminal(await testRuntime(), command);
			const result = await untilWaiting(process, { timeout: 30_000 });
			expect(result).toMatchObject({ matched: "input", waiting_for: kind, waiting_evidence: expect.stringContaining("on the terminal") });
			const view = await readScreen(process);
			expect(view.screen).toMatch(screen);
			expect(view.offset).toBe(result.offset);
			expect(await waitingFor(process)).toMatchObject({ waiting: true, waiting_for: kind });
		});
	}
});

const SPINNER = 'process.stdin.setRawMode(true).resume(); console.log("up"); setInterval(() => process.stdout.write("."), 80)';
const SERVER = 'require("net").createServer().listen(0, "127.0.0.1", () => console.log("up"))';
const ACCEPT = 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(); print("up",flush=True); s.accept()';
const RAW_SLEEP = 'import tty,time; tty.setraw(0); print("up",flush=True); time.sleep(60)';

/** Each says `up` when it is where it will stay. */
const NOT_WAITING: [string, string][] = [
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
	["node", `node -e '${SPINNER}'`],
	["python3", `python3 -c '${ACCEPT}'`],
	["python3", `python3 -c '${RAW_SLEEP}'`],
	["script", "script -qc 'echo up; sleep 30' /dev/null"],
];

describe("does not wait for input", () => {
	for (const [program, command] of NOT_WAITING) {
		test.skipIf(!which(program))(`${command}${missing(program)}`, async () => {
			const process = await onTerminal(await testRuntime(), command);
			await neverWaits(process, process.wait({ until: { pattern: "up" }, timeout: 20_000 }));
		});
	}

	test.skipIf(!which("curl"))(`curl on a server that takes its time${missing("curl")}`, async () => {
		let asked = () => {};
		const request = new Promise<void>((resolve) => {
			asked = resolve;
		});
		const server = http.createServer(() => asked());
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		atEnd(() => {
			server.closeAllConnections();
			return new Promise((resolve) => server.close(resolve));
		});
		const process = await onTerminal(await testRuntime(), `curl http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
		await neverWaits(process, request);
	});
});

/** Look from its start on, and sixty times more once it is `up`. */
async function neverWaits(process: Process, up: Promise<unknown>): Promise<void> {
	let left = Number.POSITIVE_INFINITY;
	void up.then(() => {
		left = 60;
	});
	for (; left > 0; left--) {
		expect(await waitingFor(process)).toEqual({ waiting: false });
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	expect(process.status().status).toBe("running");
	expect(await untilWaiting(process, { timeout: 400 })).toMatchObject({ matched: null });
}

/** Type something, wait until it waits again, and look: the screen must have the reaction to just that. */
const TALKING: [string, string, (round: number) => [string, RegExp]][] = [
	["bash", "while read -r -p 'n? ' x; do echo \"got $x\"; done", (n) => [`${n}\n`, new RegExp(`got ${n}\\nn\\?$`)]],
	["bash", "while read -r -s -p 'pw? ' x; do echo \"len ${#x}\"; done", (n) => [`${"x".repeat(n)}\n`, new RegExp(`len ${n}\\npw\\?$`)]],
	["bash", 'while read -r x; do sleep 0.03; echo "got $x"; done', (n) => [`${n}\n`, new RegExp(`got ${n}$`)]],
	["bash", "PS1='$ ' bash --norc -i", (n) => [`echo $((${n} * 7))<ENTER>`, new RegExp(`\\n${n * 7}\\n\\$$`)]],
	["python3", "python3 -q", (n) => [`print(${n} * 7)<ENTER>`, new RegExp(`\\n${n * 7}\\n>>>$`)]],
];

describe("after something was typed, waits again only when it has taken it", () => {
	for (const [program, command, talk] of TALKING) {
		test.skipIf(!which(program))(`${command}${missing(program)}`, async () => {
			const process = await onTerminal(await testRuntime(), command);
			await untilWaiting(process, { timeout: 20_000 });
			for (let round = 1; round <= 25; round++) {
				const [keys, screen] = talk(round);
				await process.write(encodeKeys(keys));
				expect(await untilWaiting(process, { timeout: 20_000 })).toMatchObject({ matched: "input" });
				expect((await readScreen(process)).screen).toMatch(screen);
			}
		});
	}
});

describe("on a terminal made by", () => {
	for (const [name, program, relay] of [
		["script", "/usr/bin/script", "script"],
		["python3", "/usr/bin/python3", keeperFile("pty.py")],
		["perl", "/usr/bin/perl", keeperFile("pty.pl")],
	] as const) {
		test.skipIf(!fs.existsSync(program))(`${name}, too${fs.existsSync(program) ? "" : ` (skipped: there is no ${program})`}`, async () => {
			const runtime = await testRuntime({ tools: { ...findTools(), pty: { name, program, relay } } });
			const process = await onTerminal(runtime, "while read -r -p 'n? ' x; do echo \"got $x\"; done");
			for (let round = 1; round <= 10; round++) {
				expect(await untilWaiting(process, { timeout: 20_000 })).toMatchObject({ matched: "input", waiting_for: "line" });
				expect((await readScreen(process)).screen).toMatch(round === 1 ? /^n\?$/ : new RegExp(`got ${round - 1}\\nn\\?$`));
				await process.write(`${round}\n`);
			}
		});
	}
});

test("the end of the program ends the wait, with its last output", async () => {
	const runtime = await testRuntime();
	const process = await onTerminal(runtime, "sleep 0.1; echo last; exit 3");
	const result = await untilWaiting(process, { timeout: 20_000 });
	expect(result).toEqual({ matched: "exit", status: expect.objectContaining({ status: "exited", exitCode: 3 }), offset: "last\r\n".length });
	expect(await untilWaiting(process)).toMatchObject({ matched: "exit" });
	expect(await waitingFor(process)).toEqual({ waiting: false });
});

test("a wait can be interrupted, and the process goes on", async () => {
	const process = await onTerminal(await testRuntime(), "sleep 600");
	const stop = new AbortController();
	const waiting = untilWaiting(process, { signal: stop.signal });
	stop.abort();
	await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
	expect(process.status().status).toBe("running");
});

test("without a terminal nobody can tell", async () => {
	const process = await (await testRuntime()).spawn({ command: "cat" });
	await expect(waitingFor(process)).rejects.toMatchObject({ code: "NO_TERMINAL" });
	await expect(untilWaiting(process)).rejects.toMatchObject({ code: "NO_TERMINAL" });
});
