/** Acts that must fail in a sandbox, tried as root and as an unprivileged user; and the same outside, where they succeed. */
import { execFile, execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { CLI, cli } from "../support/cli.js";
import { atEnd, endAll, tempDir, testRoot } from "../support/home.js";
import { openRuntime } from "../support/internal.js";
import { noSandbox } from "../support/sandbox.js";

const NOBODY = 65_534;
const asNobody = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];

interface Outside {
	readonly work: string;
	readonly home: string;
	readonly script: string;
}

/** A machine with something to steal, and a program that tries. It prints one line for each attempt. */
async function outside(uid: number): Promise<Outside> {
	const own = (name: string) => {
		const dir = tempDir(name);
		fs.chownSync(dir, uid, uid);
		return dir;
	};
	const [work, home, other, person] = [own("work"), own("home"), own("other"), own("person")] as [string, string, string, string];
	const write = (file: string, text = "secret\n") => {
		fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
		fs.writeFileSync(file, text, { mode: 0o644 });
		for (const made of [file, path.dirname(file)]) fs.chownSync(made, uid, uid);
	};
	for (const file of [`${other}/file`, `${home}/secret`, `${person}/.ssh/id`, `${person}/.aws/credentials`, `${person}/.config/holdfast/policy.json`])
		write(file);
	const victim = spawn("sleep", ["300"], { uid, gid: uid, stdio: "ignore" });
	atEnd(() => victim.kill("SIGKILL"));
	const server = net.createServer((socket) => socket.end("hello\n"));
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	atEnd(() => new Promise((resolve) => server.close(resolve)));
	const { port } = server.address() as net.AddressInfo;
	const abstract = `holdfast-${process.pid}-${uid}`;
	const listen = `import socket; s=socket.socket(socket.AF_UNIX); s.bind(chr(0)+'${abstract}'); s.listen(); print(flush=True)\nwhile 1: s.accept()[0].send(b'hello')`;
	const unix = spawn("python3", ["-c", listen], { stdio: ["ignore", "pipe", "ignore"] });
	atEnd(() => unix.kill("SIGKILL"));
	await new Promise((resolve) => unix.stdout.once("data", resolve));
	const python = (code: string) => `python3 -c ${JSON.stringify(code)}`;
	const ptrace = (pid: string) => python(`import ctypes,sys; sys.exit(ctypes.CDLL(None).ptrace(16, ${pid}, 0, 0) != 0)`);
	const attempts: Record<string, string> = {
		"reading another directory": `cat ${other}/file`,
		"listing another directory": `ls ${other}/file`,
		"reading an ssh key": `cat ${person}/.ssh/id`,
		"reading credentials": `cat ${person}/.aws/credentials`,
		"reading Holdfast's home": `cat ${home}/secret`,
		"reading the policy": `cat ${person}/.config/holdfast/policy.json`,
		"writing another directory": `touch ${other}/new`,
		"writing Holdfast's home": `touch ${home}/new`,
		"writing the person's home": `touch ${person}/.ssh/new`,
		"the network": `timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}; read -r -t 5 x <&3; [ "$x" = hello ]'`,
		"an abstract socket": python(`import socket; s=socket.socket(socket.AF_UNIX); s.connect(chr(0)+'${abstract}'); assert s.recv(9)`),
		"signalling a process": `kill -0 ${victim.pid}`,
		"ptrace of a process": `[ -e /proc/${victim.pid}/status ] && ${ptrace(String(victim.pid))}`,
	};
	// What needs more rights than these users have out here either, or would do harm.
	const never: Record<string, string> = {
		"writing the system": "touch /usr/new || touch /etc/new || touch /new",
		"ptrace of the first process": ptrace("1"),
		"the files of the first process": "ls /proc/1/root/ || cat /proc/1/environ || readlink /proc/1/fd/0 || head -c 1 /proc/1/mem",
		mounting: "mount -t tmpfs none /mnt || mount --bind /usr /mnt || mount -o remount,rw /",
		"another user namespace": "unshare --user true || unshare --map-root-user true",
		"other namespaces": "unshare --mount true || unshare --net true || unshare --pid --fork true",
		"the namespaces of the first process": "nsenter --target 1 --mount true || nsenter --target 1 --user true",
		"a setting of the kernel": "echo x >/proc/sys/kernel/core_pattern || echo 1 >/proc/sys/user/max_user_namespaces || echo h >/proc/sysrq-trigger",
		"a control group": "mkdir /sys/fs/cgroup/new || mkdir /sys/fs/cgroup/unified/new",
		"a device": "mknod /tmp/disk b 8 0 || ls /dev/sda /dev/vda /dev/kmsg /dev/mem 2>/dev/null | grep .",
		"the password file": "cat /etc/shadow | grep .",
		capabilities: `grep -E '^Cap(Prm|Eff|Inh|Amb):' /proc/self/status | grep -v '0000000000000000$'`,
		"new privileges": "! grep -q 'NoNewPrivs:.1' /proc/self/status",
		"a socket of an agent": `[ -n "$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$XDG_RUNTIME_DIR" ]`,
		"the first process's life": "kill -9 1; sleep 0.1; ! [ -e /proc/1/status ]",
	};
	const attempt = ([name, command]: [string, string]) => `if (${command}) >/dev/null 2>&1; then echo '${name.replaceAll("'", "'\\''")}: possible'; fi\n`;
	const script = path.join(work, "attempts");
	const own_ = "touch inside && cat /usr/bin/env >/dev/null && touch ~/x && rm $(mktemp) && echo 'its own directory, /tmp and home: possible'";
	fs.writeFileSync(script, `cd ${work}\n${Object.entries(attempts).map(attempt).join("")}${own_}\n`);
	fs.writeFileSync(`${script}.never`, Object.entries(never).map(attempt).join(""));
	// Out here the first list works to its end: it is no proof that something fails which never works.
	const { stdout: here } = await promisify(execFile)("setpriv", [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "bash", script], {
		env: { ...process.env, HOME: person },
		encoding: "utf8",
	});
	const all = Object.keys(attempts).filter((name) => uid === process.getuid?.() || !name.startsWith("ptrace")); // Yama may keep a user from that
	for (const name of all) expect(here).toContain(`${name}: possible`);
	for (const file of [`${other}/new`, `${home}/new`, `${person}/.ssh/new`, `${work}/inside`]) fs.rmSync(file);
	return { work, home, script };
}

const ONLY = "its own directory, /tmp and home: possible\n";

describe.skipIf(noSandbox)(`what a sandbox keeps${noSandbox ? ` (${noSandbox})` : ""}`, () => {
	test("as the user of the tests, in the shell, in the background, on a terminal", async () => {
		const { work, home, script } = await outside(process.getuid?.() ?? 0);
		process.env.SSH_AUTH_SOCK = "/run/agent";
		atEnd(() => delete process.env.SSH_AUTH_SOCK);
		const runtime = await openRuntime({ home, warm: 0, place: "local+sandbox", sandbox: { directory: work } });
		atEnd(() => endAll(runtime));
		const command = `bash ${script}; bash ${script}.never`;
		expect(await runtime.terminal({ command })).toMatchObject({ output: ONLY, exit_code: 0 });
		expect(fs.existsSync(`${work}/inside`)).toBe(true);
		const { session_id } = await runtime.terminal({ command, background: true });
		expect(await runtime.process({ action: "wait", session_id })).toMatchObject({ output: ONLY });
		expect(await runtime.terminal({ command, pty: true })).toMatchObject({ screen: ONLY.trimEnd() });
	});

	test("a symlink in place of a shared file misleads no program outside; the project's rules stay unchanged", async () => {
		const [work, victim] = [tempDir("work"), tempDir("victim")];
		fs.mkdirSync(`${work}/.holdfast`);
		fs.writeFileSync(`${victim}/stuck`, "precious");
		fs.writeFileSync(`${work}/rules.sh`, "touch .holdfast/policy.json; mv .holdfast away; ls -A");
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, place: "local+sandbox", sandbox: { directory: work } });
		atEnd(() => endAll(runtime));
		expect(await runtime.terminal({ command: "bash rules.sh 2>/dev/null" })).toMatchObject({ output: ".holdfast\nrules.sh\n" });
		const command = `s=\${__hf_d%/shell}; mv $s $s.x; ln -s ${victim} $s; touch $s.x/a; sleep 0.5; touch $s.x/b; rm $s; mv $s.x $s; echo done`;
		expect(await runtime.terminal({ command })).toMatchObject({ output: "done\n" });
		expect(fs.readdirSync(victim)).toEqual(["stuck"]);
		expect(await runtime.terminal({ command: "echo fine" })).toMatchObject({ output: "fine\n" });
	});

	test("a program in it can write the end of its own command in the shell, and what runs on is named; not the end of a background process", async () => {
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, place: "local+sandbox", sandbox: { directory: tempDir("work") } });
		atEnd(() => endAll(runtime));
		const forge = `bash -c 'printf "%-63s\\n%s\\0%s\\0" "exit 7 - $0" / "$0" 1<>"$1/exit"' "$__hf_n" "$__hf_s"; sleep 600`;
		const forged = await runtime.terminal({ command: forge });
		expect(forged).toMatchObject({ status: "exited", exit_code: 7, note: expect.stringContaining("left something running") });
		await runtime.process({ action: "kill", session_id: forged.session_id });
		const { session_id } = await runtime.terminal({ command: "ls /run/holdfast/shared/$HOLDFAST_ID; exit 3", background: true });
		expect(await runtime.process({ action: "wait", session_id })).toMatchObject({ exit_code: 3, output: expect.stringContaining("No such file") });
	});

	test.skipIf(process.arch !== "x64" || !fs.existsSync("/usr/bin/perl"))("keys of the login session stay outside", async () => {
		const [work, home] = [tempDir("work"), tempDir("home")];
		fs.writeFileSync(`${work}/find.py`, "import ctypes; print(ctypes.CDLL(None).syscall(249, b'user', b'holdfast-key', None, 0) > 0)");
		const login =
			"import ctypes,os,sys; c=ctypes.CDLL(None); c.syscall(250,1,None); c.syscall(248,b'user',b'holdfast-key',b'x',1,-3); os.execv(sys.argv[1],sys.argv[1:])";
		const find = async (place: string, more: string[] = []) => {
			const argv = ["-c", login, process.execPath, CLI, "terminal", "--place", place, "--task", place, ...more, "--", `python3 ${work}/find.py`];
			return (await promisify(execFile)("python3", argv, { cwd: work, encoding: "utf8", env: { ...process.env, HOLDFAST_HOME: home } })).stdout;
		};
		expect(await find("local")).toContain("True"); // so there is something to find
		expect(await find("local+sandbox")).toContain("False");
		expect(await find("local+sandbox", ["--pty"])).toContain("False");
		const runtime = await openRuntime({ home, warm: 0 });
		atEnd(() => endAll(runtime));
	});

	test("variables that a command exports do not reach the programs that enter the sandbox, which run outside with more rights", async () => {
		const work = tempDir("work");
		const runtime = await openRuntime({ home: tempDir("home"), warm: 0, place: "local+sandbox", sandbox: { directory: work } });
		atEnd(() => endAll(runtime));
		await runtime.terminal({ command: "export LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/loaded" }); // as LD_PRELOAD would, it acts on each program
		const { session_id } = await runtime.terminal({ command: "/usr/bin/env >/dev/null", background: true });
		await runtime.process({ action: "wait", session_id });
		await runtime.terminal({ command: "/usr/bin/env >/dev/null", pty: true });
		const loaded = fs.readdirSync(work).map((name) => fs.readFileSync(path.join(work, name), "utf8"));
		const programs = new Set(loaded.flatMap((text) => [...text.matchAll(/initialize program: (?:\S*\/)?(\w+)/g)].map(([, name]) => name)));
		expect([...programs].sort()).toEqual(expect.arrayContaining(["bash", "env"]));
		for (const name of ["nsenter", "unshare", "setpriv", "script", "sh"]) expect([...programs]).not.toContain(name);
	});

	test.skipIf(process.getuid?.() !== 0 || !readableBy(NOBODY))("as an unprivileged user, through the CLI", async () => {
		fs.chmodSync(testRoot(), 0o711);
		atEnd(() => fs.chmodSync(testRoot(), 0o700));
		const { work, home, script } = await outside(NOBODY);
		const person = fs.mkdtempSync(path.join(testRoot(), "person-"));
		fs.chownSync(person, NOBODY, NOBODY);
		atEnd(() => fs.rmSync(person, { recursive: true, force: true }));
		const options = { prefix: asNobody, cwd: work, env: { HOME: person } };
		for (const more of [[], ["--pty"]]) {
			const result = await cli(home, ["run", "--place", "local+sandbox", ...more, "--", `bash ${script}; bash ${script}.never`], options);
			expect({ ...result, stdout: result.stdout.replaceAll("\r", "") }).toEqual({ code: 0, stdout: ONLY, stderr: "" });
		}
		const holders = await cli(home, ["ps", "--all", "--json"], options);
		expect(holders.stdout).not.toContain("bwrap"); // it is in no list
		await endSandboxesOf(home);
	});
});

/** By the record of its first process, since a runtime of ours may not open the home of another. */
async function endSandboxesOf(home: string): Promise<void> {
	const root = path.join(home, "sandboxes");
	for (const name of fs.readdirSync(root).filter((entry) => entry.startsWith("proc_"))) {
		process.kill(Number(fs.readFileSync(path.join(root, name, "first"), "utf8").split(" ")[0]), "SIGKILL");
	}
}

function readableBy(uid: number): boolean {
	try {
		execFileSync("setpriv", [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "test", "-r", CLI, "-a", "-x", process.execPath]);
		return true;
	} catch {
		return false;
	}
}
