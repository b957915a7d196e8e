/** What lasts from one command to the next, and what does not. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { tempDir, until } from "../support/home.js";
import { testShell } from "./harness.js";

test("directory, variables, arrays, functions, aliases, options, umask and history last", async () => {
	const { run } = await testShell();
	await run(
		"cd /usr/lib; export E=exp; P=plain; A=(1 'b c'); declare -A M=([k]='v w'); declare -i N=3; f() { echo fn:$1; }; alias ll='echo aliased'; umask 027; set -o pipefail; shopt -s extglob; set -- a 'b c'",
	);
	const state = `echo $PWD $E $P "\${A[1]}" "\${M[k]}"; N=N+1; echo $N; f 1\nll x; umask; false | true; echo $?; shopt -q extglob && echo eg; echo $# "$2"; bash -c 'echo $E$P'`;
	expect(await run(state)).toMatchObject({ code: 0, cwd: "/usr/lib", out: "/usr/lib exp plain b c v w\n4\nfn:1\naliased x\n0027\n1\neg\n2 b c\nexp\n" });
	expect((await run("history | head -n 1")).out).toContain("cd /usr/lib; export E=exp");
});

test("the shell that takes over from one that ended has the same state", async () => {
	const { run } = await testShell();
	await run(
		"cd /usr/lib; export E=exp; P=plain; A=(1 'b c'); declare -A M=([k]='v w'); f() { echo fn:$1; }; alias ll='echo aliased'; umask 027; set -o pipefail; shopt -s extglob; unset HOME",
	);
	const died = await run("export LATE=1; exit 3");
	expect(died).toMatchObject({ end: "exited", code: 3, cwd: "/usr/lib", notes: [expect.stringContaining("new one has taken over")] });
	const state = `echo $PWD $E $P "\${A[1]}" "\${M[k]}" $LATE; f 1\nll x; umask; false | true; echo $?; shopt -q extglob && echo eg; echo "[\${HOME-unset}]"; bash -c 'echo $E$P'; history | head -n 1`;
	expect((await run(state)).out).toMatch(/^\/usr\/lib exp plain b c v w 1\nfn:1\naliased x\n0027\n1\neg\n\[unset\]\nexp\n.*cd \/usr\/lib/);
});

test("a variable of three megabytes does not keep the next shell from taking over", async () => {
	const { run } = await testShell();
	await run("V=$(head -c 3000000 /dev/zero | tr '\\0' y); W=behind; f() { echo fn; }");
	await run("kill -9 $$");
	expect((await run("echo ${#V} $W; f")).out).toBe("3000000 behind\nfn\n");
});

test("functions that need extglob are read by the next shell, with all that comes behind them", async () => {
	const { run } = await testShell();
	await run("shopt -s extglob");
	await run("f() { case $1 in +(a)) echo as;; esac; }\nz() { echo z; }; umask 077; alias h='echo aliased'; V=' __hf_ v'; set -o pipefail; cd /usr/lib");
	await run("kill -9 $$");
	expect(await run('f aa; z; umask; echo "$V"; false | true; echo $?; pwd\nh')).toMatchObject({
		cwd: "/usr/lib",
		out: "as\nz\n0077\n __hf_ v\n1\n/usr/lib\naliased\n",
	});
});

test("an activated virtualenv lasts", async () => {
	const dir = tempDir();
	fs.writeFileSync(path.join(dir, "activate"), 'export VIRTUAL_ENV=/v PATH="/v/bin:$PATH" PS1="(v) ${PS1-}"\ndeactivate() { unset VIRTUAL_ENV; }\n');
	const { run } = await testShell();
	await run(`. ${dir}/activate`);
	expect((await run('echo "$VIRTUAL_ENV" "${PATH%%:*}" "$PS1"; type -t deactivate')).out).toMatch(/^\/v \/v\/bin \(v\) .*\nfunction\n$/);
});

test("background jobs can be seen and ended by later commands", async () => {
	const { run } = await testShell();
	const started = await run("sleep 300 & echo started");
	expect(started).toMatchObject({ out: "started\n", tracked: true });
	expect((await run("jobs -r | grep -c 'sleep 300'")).out).toBe("1\n");
	expect(await run("kill %1; wait %1; echo $?")).toMatchObject({ code: 0, out: expect.stringContaining("143") });
});

test("set -e, -u, -x, -v, and traps of one command do not reach into the next", async () => {
	const { run } = await testShell();
	expect(await run("set -e; false; echo no")).toMatchObject({ code: 1, out: "" });
	expect(await run("false; echo yes")).toMatchObject({ code: 0, out: "yes\n" });
	expect(await run("set -u; echo $NOPE; echo no")).toMatchObject({ code: 1, out: expect.stringContaining("unbound") });
	expect(await run('echo "$NOPE"ok')).toMatchObject({ code: 0, out: "ok\n" });
	expect((await run("set -x; echo a")).out).toMatch(/^\++ echo a\na\n$/);
	expect((await run("set -v; echo b")).out).toContain("b\n");
	expect((await run("echo c")).out).toBe("c\n");
});

test("$? of the last command is seen by the next", async () => {
	const { run } = await testShell();
	expect((await run("false")).code).toBe(1);
	expect((await run("echo $?")).out).toBe("1\n");
});

test("a directory for one command only leaves the shell where it was", async () => {
	const { run } = await testShell();
	const dir = tempDir("-x y'z ü");
	await run("cd /usr; OLDPWD=/var");
	expect(await run("pwd; cd /", { workdir: dir })).toMatchObject({ code: 0, out: `${dir}\n`, cwd: "/usr" });
	expect((await run('pwd; echo "$OLDPWD"')).out).toBe("/usr\n/var\n");
	expect((await run("pwd", { workdir: "lib" })).out).toBe("/usr/lib\n");
	await expect(run("echo ran", { workdir: "/nowhere" })).rejects.toMatchObject({
		code: "INVALID",
		message: expect.stringContaining("/nowhere does not exist; nothing ran"),
	});
	await expect(run("echo ran", { workdir: "/etc/passwd" })).rejects.toMatchObject({ message: expect.stringContaining("not a directory") });
	expect((await run("pwd")).out).toBe("/usr\n");
});

test("a directory that is removed from under the shell: the nearest one above it, and a note", async () => {
	const { run } = await testShell();
	const dir = tempDir();
	await run(`mkdir -p ${dir}/a/b; cd ${dir}/a/b`);
	fs.rmSync(path.join(dir, "a"), { recursive: true });
	expect(await run("pwd")).toMatchObject({ code: 0, out: `${dir}\n`, cwd: dir, notes: [expect.stringContaining(`${dir}/a/b is gone`)] });
	expect(await run("pwd")).toMatchObject({ out: `${dir}\n`, notes: [] });
});

test("a directory with newlines and spaces is reported as it is", async () => {
	const { run } = await testShell();
	const dir = path.join(tempDir(), "n l\n x");
	fs.mkdirSync(dir);
	expect((await run(`cd $'${dir.replace("\n", "\\n")}'`)).cwd).toBe(dir);
	expect((await run("true")).cwd).toBe(dir);
});

test("a value that looks like shell code is never executed, nor taken for another variable", async () => {
	const shell = await testShell();
	const file = path.join(tempDir(), "pwned");
	await shell.run(`export V=$'a"\\n$(touch ${file})\\ndeclare -x W="x"\\n\`touch ${file}\` \\'\\\\ é\\x01'; exit 0`);
	const { env } = await shell.shells.context({ task: shell.task });
	expect(env.V).toBe(`a"\n$(touch ${file})\ndeclare -x W="x"\n\`touch ${file}\` '\\ é\x01`);
	expect(env).not.toHaveProperty("W");
	expect((await shell.run('printf %s "$V"')).out).toBe(env.V);
	expect(fs.existsSync(file)).toBe(false);
});

test("two tasks know nothing of each other", async () => {
	const one = await testShell();
	const two = one.another();
	await one.run("X=1; cd /usr");
	await two.run("X=2; cd /var");
	expect((await one.run("echo $X $PWD")).out).toBe("1 /usr\n");
	expect((await two.run("echo $X $PWD")).out).toBe("2 /var\n");
});

test("what a process beside the shell inherits: directory and exported variables, unset ones too", async () => {
	const shell = await testShell();
	process.env.FROM_OUTSIDE = "1";
	try {
		await shell.run("cd /usr; export E='a b'; P=1; unset FROM_OUTSIDE");
		const context = await shell.shells.context({ task: shell.task });
		expect(context).toMatchObject({ cwd: "/usr", env: { E: "a b", PAGER: "cat", TERM: "dumb" } });
		expect(context.env.P).toBeUndefined();
		const process = await shell.runtime.spawn({ command: 'echo "$PWD $E [${FROM_OUTSIDE-gone}]"', cwd: context.cwd, env: context.env });
		await process.wait();
		expect(process.read(0).bytes.toString()).toBe("/usr a b [gone]\n");
		const terminal = await shell.shells.context({ task: shell.task, terminal: true, workdir: "lib" });
		expect(terminal.cwd).toBe("/usr/lib");
		expect(terminal.env).not.toHaveProperty("PAGER", "cat");
	} finally {
		delete process.env.FROM_OUTSIDE;
	}
});

test("pagers and colour are off", async () => {
	const { run } = await testShell();
	expect((await run('echo "$PAGER $GIT_PAGER $TERM $NO_COLOR"')).out).toBe("cat cat dumb 1\n");
});

test("profile files are read once, at the birth of the shell; what they print is no command's output", async () => {
	const shell = await testShell();
	fs.writeFileSync(
		path.join(process.env.HOME ?? "", ".bash_profile"),
		"echo noise; export COUNT=$((COUNT + 1)); read -r x; [[ $- = *i* ]] && INTERACTIVE=1; pf() { echo from profile; }\n",
	);
	expect((await shell.run("echo $COUNT $INTERACTIVE; pf")).out).toBe("1 1\nfrom profile\n");
	await shell.run("exit 1");
	expect((await shell.run("echo $COUNT; pf")).out).toBe("1\nfrom profile\n");
});

test("a profile that ends the shell is left out, and said to be", async () => {
	const shell = await testShell();
	fs.writeFileSync(path.join(process.env.HOME ?? "", ".profile"), "exit 7\n");
	expect(await shell.run("echo here")).toMatchObject({
		code: 0,
		out: "here\n",
		notes: [expect.stringMatching(/profile files .* left out: they ended the shell \(exited, code 7\)/)],
	});
	expect(await shell.run("echo again")).toMatchObject({ out: "again\n", notes: [] });
});

test("a profile that makes PROMPT_COMMAND read-only leaves a shell that has all else of the profile, and a note says so", async () => {
	const shell = await testShell();
	fs.writeFileSync(path.join(process.env.HOME ?? "", ".profile"), "export P=1; f() { echo f; }; export PROMPT_COMMAND=true; readonly PROMPT_COMMAND PS2\n");
	expect(await shell.run('echo "$P[${PROMPT_COMMAND@a}]"; f; (exit 3)')).toMatchObject({
		code: 3,
		out: "1[]\nf\n",
		notes: [expect.stringContaining("PROMPT_COMMAND")],
	});
	expect(await shell.run("cd /usr; (exit 4)")).toMatchObject({ code: 4, cwd: "/usr", notes: [] });
});

test("the directory stack, $OLDPWD and exported functions are there in the shell that takes over", async () => {
	const shell = await testShell();
	await shell.run("f() { echo f$1; }; g() { :; }; export -f f; cd /usr; pushd /usr/bin; pushd '/usr/lib'; cd /tmp");
	const before = await shell.run("dirs -l; echo $OLDPWD; bash -c 'f 1; declare -F g'");
	expect(before.out).toBe("/tmp /usr/bin /usr\n/usr/lib\nf1\n");
	await shell.run("exit 1");
	expect((await shell.run("dirs -l; echo $OLDPWD; bash -c 'f 1; declare -F g'")).out).toBe(before.out);
	expect((await shell.run("popd; cd -")).out).toBe("/usr/bin /usr\n/tmp\n");
});

test("a shell that takes over where its directory has gone says so", async () => {
	const shell = await testShell();
	const dir = tempDir();
	await shell.run(`mkdir -p ${dir}/a/b; cd ${dir}/a/b`);
	const pid = await shell.pid();
	process.kill(pid, "SIGKILL");
	await until("it has ended", () => !fs.existsSync(`/proc/${pid}`));
	fs.rmSync(`${dir}/a`, { recursive: true });
	expect(await shell.run("pwd")).toMatchObject({
		out: `${dir}\n`,
		cwd: dir,
		notes: [expect.stringContaining(`new shell, in ${dir}`), expect.stringContaining(`could not go to ${dir}/a/b`)],
	});
	expect(await shell.run("pwd")).toMatchObject({ notes: [] });
});

test("what the kernel says counts, not $PWD", async () => {
	const shell = await testShell();
	const dir = tempDir();
	expect((await shell.run(`cd ${dir}; unset PWD`)).cwd).toBe(dir);
	expect((await shell.run("PWD=/nonexistent/z")).cwd).toBe(dir);
	expect((await shell.run("/bin/pwd")).out).toBe(`${dir}\n`);
	fs.mkdirSync(path.join(dir, "real"));
	fs.symlinkSync("real", path.join(dir, "link"));
	expect((await shell.run(`cd ${dir}/link`)).cwd).toBe(path.join(dir, "link"));
	const again = path.join(dir, "again");
	fs.mkdirSync(again);
	await shell.run(`cd ${again}`);
	fs.rmdirSync(again);
	fs.mkdirSync(again);
	fs.writeFileSync(path.join(again, "new"), "");
	expect(await shell.run("ls")).toMatchObject({ out: "new\n", cwd: again, notes: [expect.stringContaining("is gone")] });
});

test("a directory that is deeper than a path can be long does not stop the shell", async () => {
	const shell = await testShell();
	const dir = tempDir();
	const deep = `cd ${dir}; for i in {1..30}; do mkdir ${"d".repeat(200)}; cd ${"d".repeat(200)}; done`;
	expect(await shell.run(deep)).toMatchObject({ end: "exited", code: 0 });
	expect(await shell.run("echo here; cd /")).toMatchObject({ code: 0, out: "here\n", cwd: "/" });
	await shell.run(`cd ${dir}; rm -rf d*; cd /`);
});

test("a shell that cannot write its state down does not keep others waiting for it", async () => {
	const shell = await testShell();
	await shell.run("export X=1; cd /usr");
	await shell.run("FUNCNEST=1");
	expect(await shell.shells.context({ task: shell.task })).toMatchObject({ cwd: "/usr", env: { X: "1" } });
	expect(await shell.run("echo $X")).toMatchObject({ out: "1\n" });
});

test("no two ends are alike, so that an occasional look misses none", async () => {
	const shell = await testShell();
	const endOf = async () => {
		const { process, release } = await shell.shells.run({ task: shell.task, command: "true", timeoutMs: 30_000, onTimeout: "kill" });
		const record = fs.readFileSync(path.join(process.dir, "exit"), "latin1").slice(0, 64);
		release();
		return record;
	};
	const ends = [await endOf(), await endOf(), await endOf()];
	expect(new Set(ends).size).toBe(3);
	for (const end of ends) expect(end).toMatch(/^exit 0 - \S+ +\n$/);
});
