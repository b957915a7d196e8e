/** What commands may do to their shell, and the next command still works, with its own output, its code and the old state. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { atEnd, tempDir } from "../support/home.js";
import type { Process } from "../support/internal.js";
import { everyFew } from "../support/seed.js";
import { type Ran, testShell } from "./harness.js";

type Check = (ran: Ran) => void;
const succeeds: Check = (ran) => expect(ran).toMatchObject({ end: "exited", code: 0, out: "" });
const whatever: Check = (ran) => expect(ran.end).toBe("exited");
/** It leaves the shell unable to say how it ended. */
const unseen: Check = (ran) => expect(ran).toMatchObject({ end: "lost", code: null });
const codeIs =
	(code: number, out?: string): Check =>
	(ran) =>
		expect(ran).toMatchObject({ end: "exited", code, ...(out === undefined ? {} : { out }) });

async function survives(command: string, check: Check): Promise<void> {
	const { run } = await testShell();
	await run("KEEP=42; kf() { /bin/echo kf \"$KEEP\"; }; export KX='a b'; cd /usr; alias ka='/bin/echo ka'");
	check(await run(command.replaceAll("TMP", tempDir("hostile")), { timeoutMs: 5_000 }));
	expect(await run('/bin/echo out; /bin/echo err >&2; /bin/sh -c "exit 3"')).toMatchObject({ code: 3, out: "out\nerr\n" });
	expect(await run('kf; /bin/echo "$KX" "$PWD"\nka')).toMatchObject({ code: 0, out: "kf 42\na b /usr\nka\n" });
}

test("a shell that may open no more files is replaced, and says so", async () => {
	const { run } = await testShell();
	await run("KEEP=42; cd /usr; ulimit -n 5");
	expect(await run("echo $KEEP")).toMatchObject({ code: 0, out: "42\n", cwd: "/usr", notes: [expect.stringContaining("could not open files")] });
	expect(await run("pwd; (exit 1)")).toMatchObject({ code: 1, out: "/usr\n", notes: [] });
});

test("a restricted shell cannot record an end: the command is lost at once, and the next shell has the earlier state", async () => {
	const { run, runtime } = await testShell();
	await run("KEEP=42; cd /usr");
	const lost = await run("KEEP=43; echo out; set -r");
	expect(lost).toMatchObject({ end: "lost", code: null, out: "out\n", cwd: "/usr", notes: [expect.stringContaining("set -r"), expect.anything()] });
	expect(await run("echo $KEEP")).toMatchObject({ code: 0, out: "42\n", notes: [] });
	const kept = await runtime.terminal({ command: "set -r" }, { gone: () => true });
	expect(kept).toMatchObject({ status: "lost", exit_code: null });
	expect(runtime.get(kept.session_id as string).status()).toMatchObject({ status: "lost" });
});

const BUILTINS =
	"printf read eval trap exit command builtin set unset mapfile declare return source . [ test echo cd exec export kill shopt : local history umask alias".split(
		" ",
	);

describe("a function in the place of", () => {
	test.each(everyFew(BUILTINS, 3))("%s", (name) => survives(`function ${name} { :; }`, succeeds));
	test("many at once", () =>
		survives(
			'for b in printf read eval trap exit command set mapfile declare source exec export shopt kill; do eval "function $b { echo shadow; }"; done',
			whatever,
		));
	test("all of them, builtin and unset too", () =>
		survives(
			'for b in printf read trap exit command set mapfile declare source exec export shopt kill unset builtin eval; do case $b in eval) function eval { echo shadow; };; *) eval "function $b { echo shadow; }";; esac; done',
			whatever,
		));
});

describe("survives", () => {
	const CASES: [string, Check][] = [
		["alias builtin='echo A' printf='echo B' eval='echo C' __hf_x=D PS1=E", succeeds],
		["enable -n printf mapfile set return", succeeds],
		["enable -n builtin eval", succeeds],
		["exec >TMP/file; echo hidden", succeeds],
		["exec >TMP/file 2>&1; echo hidden; no-such-program", codeIs(127, "")],
		["exec >&- 2>&- <&-", succeeds],
		['for i in 3 4 5 6 7 8 9; do eval "exec $i>&-"; done', succeeds],
		["exec </etc/hostname; read -r x", succeeds],
		["exec 10>&- 11>&- 12>&- 13>&-", whatever],
		["exec 11>TMP/eleven; echo x >&11", succeeds],
		["exec 255>&-", succeeds],
		["set -o noclobber", succeeds],
		['trap "echo bye" EXIT', succeeds],
		["shopt -s extdebug", succeeds],
		["shopt -s extdebug; trap false DEBUG", unseen],
		["set -e", succeeds],
		["set -e; g() { false; echo no; }; g", codeIs(1, "")],
		["set -u", succeeds],
		["set -u; echo $NONE", (ran) => expect(ran.code).toBe(1)],
		["set -v", succeeds],
		["set -n; echo x", whatever],
		["set -t", whatever],
		["exec 7>TMP/trace; BASH_XTRACEFD=7; set -x", succeeds],
		["set -fkab +h", succeeds],
		["set -o posix", succeeds],
		["set +m", succeeds],
		['set -TE; trap "TR=1" RETURN; trap "TD=1" DEBUG; trap "TE=1" ERR', succeeds],
		["POSIXLY_CORRECT=1", succeeds],
		["readonly IFS PATH OLDPWD HOME", succeeds],
		["PS1=x; readonly PS1", succeeds],
		["readonly PROMPT_COMMAND", (ran) => expect(ran.code).toBe(0)],
		["readonly TMOUT HOLDFAST_ID", (ran) => expect(ran.code).toBe(0)],
		["for i in $(declare -F | cut -d' ' -f3 | grep -v kf); do unset -f $i; done 2>/dev/null; true", succeeds],
		["IFS=0123456789abcdef", succeeds],
		["IFS=/:.", succeeds],
		["PATH=", succeeds],
		["ulimit -n 10", succeeds],
		["ulimit -n 4", unseen],
		["ulimit -f 0", whatever],
		["TMOUT=1", succeeds],
		["PROMPT_COMMAND='echo pc; /bin/true'; PS1='$(echo ps1)' PS0='ps0' PS2='$(echo ps2)' PS4='+x '", succeeds],
		["unset HOLDFAST_ID; export __hf_n=x __hf_g=/ __hf_p=y", whatever],
		["kill -TERM $$", whatever],
		["kill -HUP $$; sleep 0.1", whatever],
		["kill -INT $$", codeIs(130)],
		["sleep 5 & kill 0", whatever],
		["kill -9 $$", (ran) => expect(ran).toMatchObject({ code: 137, signal: "SIGKILL" })],
		['trap "exit 7" USR2; kill -USR2 $$; sleep 1', codeIs(7, "")],
		["kill -USR1 $$; sleep 0.1; exit 3", (ran) => expect(ran).toMatchObject({ code: 138, signal: "SIGUSR1" })],
		["trap 'echo usr' USR1; kill -USR1 $$; trap - USR1", codeIs(0, "usr\n")],
		["trap '' INT USR1 PWR EXIT", succeeds],
		["exit 3", codeIs(3, "")],
		["exec true", codeIs(0, "")],
		["exec sh -c 'echo replaced; exit 5'", codeIs(5, "replaced\n")],
		["exec /nonexistent/x; true", codeIs(127)],
		["set -e; exit", codeIs(0, "")],
		["logout", whatever],
		["suspend", whatever],
		["set -m; sleep 0.1 & sleep 0.2", whatever],
		["set -o vi", succeeds],
		["set -o emacs", succeeds],
		["readonly PROMPT_COMMAND='echo mine'", succeeds],
		["readonly PROMPT_COMMAND=x; exit 2", codeIs(2, "")],
		["declare -ar PROMPT_COMMAND=(x 'echo y\n'); exit 2", codeIs(2, "")],
		["readonly PS1=y PS2=z PS4=w; exit 2", codeIs(2, "")],
		["declare -n PROMPT_COMMAND=KEEP", succeeds],
		["readonly __hf_ps", succeeds],
		["declare -i __hf_rc", succeeds],
		["readonly __hf_rc", unseen],
		["FUNCNEST=1", succeeds],
		["--version || true", codeIs(0, "bash: --version: command not found\n")],
		["stty sane; reset; clear", whatever],
		["echo 'echo benv' >TMP/benv; export BASH_ENV=TMP/benv; bash -c :", codeIs(0, "benv\n")],
	];
	test.each(CASES)("%s", survives);
});

test("an EXIT trap speaks when the shell exits, and that belongs to the command", async () => {
	const { run } = await testShell();
	await run('trap "echo bye" EXIT');
	expect(await run("echo last; exit 4")).toMatchObject({ code: 4, out: "last\nbye\n" });
	expect(await run("echo ok")).toMatchObject({ out: "ok\n" });
});

test("DEBUG and ERR traps speak for the commands of the user alone", async () => {
	const { run } = await testShell();
	expect((await run('trap "echo dbg" DEBUG; echo a; trap - DEBUG')).out).toBe("dbg\na\ndbg\n");
	expect((await run("echo b")).out).toBe("b\n");
	expect((await run('trap "echo err" ERR; false; true')).out).toBe("err\n");
	expect((await run("false; true")).out).toBe("err\n");
});

test("descriptors that are opened stay open", async () => {
	const { run } = await testShell();
	const file = path.join(tempDir(), "three");
	await run(`exec 3>${file}; echo a >&3`);
	await run("echo b >&3; exec 3>&-");
	expect(fs.readFileSync(file, "utf8")).toBe("a\nb\n");
});

test("a command makes PROMPT_COMMAND read-only: it is still set afterwards, and not in the shell that takes over", async () => {
	const { run } = await testShell();
	await run("readonly PROMPT_COMMAND='ran=yes'");
	expect(await run('echo "$PROMPT_COMMAND"; (exit 4)')).toMatchObject({ code: 4, out: "ran=yes\n", notes: [] });
	await run("exit 2");
	expect(await run('echo "[${PROMPT_COMMAND@a}]"; (exit 4)')).toMatchObject({ code: 4, out: "[]\n", notes: [] });
});

test("an idle shell that is killed from outside is replaced, and the command runs once", async () => {
	const shell = await testShell();
	const file = path.join(tempDir(), "count");
	await shell.run("A=1");
	process.kill(await shell.pid(), "SIGKILL");
	const note = expect.stringMatching(/has ended \(exited, SIGKILL\), so this is a new shell, in \/\S+: it has the variables/);
	expect(await shell.run(`echo x >>${file}; echo $A`)).toMatchObject({ code: 0, out: "1\n", notes: [note] });
	expect(fs.readFileSync(file, "utf8")).toBe("x\n");
});

test("a killed shell is replaced although a subshell in the background still has its line open", async () => {
	const shell = await testShell();
	await shell.run("A=1; (while :; do sleep 0.1; done) &");
	const bash = shell.runtime.list({ task: shell.task, shells: true, ended: false }).find(({ spec }) => spec.kind === "shell") as Process;
	process.kill(await shell.pid(), "SIGKILL");
	await bash.wait();
	await new Promise(setImmediate); // whoever looks at its directory has been told
	expect(await shell.run("echo $A", { timeoutMs: 10_000 })).toMatchObject({ end: "exited", code: 0, out: "1\n" });
});

test("a command that its shell never took runs in the next shell, also if another program has noted its end meanwhile", async () => {
	const shell = await testShell();
	await shell.run("A=1; (while :; do sleep 0.1; done) &");
	process.kill(await shell.pid(), "SIGKILL");
	const look = setInterval(() => shell.runtime.list({ task: null }).map((each) => each.status()), 1);
	atEnd(() => clearInterval(look));
	for (let i = 0; i < 5; i++) {
		expect(await shell.run("echo $A")).toMatchObject({ end: "exited", code: 0, out: "1\n" });
		await shell.run("(while :; do sleep 0.1; done) &");
		process.kill(await shell.pid(), "SIGKILL");
	}
});

test("a shell that was rescued is not taken for stuck during the next command", async () => {
	const { run } = await testShell();
	await run("A=1; PS0='words of its own\\n'");
	await run("printf() { :; }; builtin() { :; }");
	expect(await run("sleep 1; echo $A")).toMatchObject({ end: "exited", code: 0, out: "1\n", notes: [] }); // longer than a rescue is waited for
});

test("word of a rescue that comes late does not make the next command stuck", async () => {
	const shell = await testShell();
	await shell.run("A=1");
	const bash = shell.runtime.list({ task: shell.task, shells: true, ended: false }).find(({ spec }) => spec.kind === "shell") as Process;
	const permit = () => fs.writeFileSync(path.join(bash.dir, "stuck"), ""); // as the shell does before it records an end; the watch tells when the next command is sent
	expect(await shell.run("sleep 1; echo $A", { permit })).toMatchObject({ end: "exited", code: 0, out: "1\n", notes: [] });
});

test("an interrupt that comes when the command has just ended does nothing to those after it", async () => {
	const dir = tempDir();
	const { run, pid } = await testShell();
	const bash = await pid();
	for (let i = 0; i < 100; i++) {
		await run(`echo ${i} >>${dir}/ran`);
		process.kill(bash, "SIGPWR"); // as `interrupt` does with one that has not ended when it looks
	}
	expect((await run("echo $$")).out).toBe(`${bash}\n`);
	expect(fs.readFileSync(`${dir}/ran`, "utf8")).toBe(Array.from({ length: 100 }, (_, i) => `${i}\n`).join(""));
});
