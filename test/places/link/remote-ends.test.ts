/** What a remote end may be like: each of these is met in practice. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { remoteKernel } from "../../../src/places/remote/kernel.js";
import { atEnd, tempDir, until } from "../../support/home.js";
import { linkTo, ShellHost, type ShellHostOptions } from "../../support/shell-host.js";

const far = (options: ShellHostOptions) => new ShellHost(options);
/** A login in a mount namespace of its own, where `setup` has been done. */
const inNamespace = (setup: string) => `exec unshare -m sh -c '${setup}; exec sh -c "$1"' login "$1"`;
const asRoot = test.skipIf(process.getuid?.() !== 0);

describe("a login", () => {
	test("that prints bytes of all kinds, an unfinished line, and echoes what it reads is waited for", async () => {
		const login = `head -c 5000 /dev/urandom; printf 'Last login: \\0 today\\nno newline'; eval "$1"`;
		const link = await linkTo(far({ login }));
		expect((await link.run("echo it works")).output.toString()).toBe("it works\n");
	});

	test("whose rc file is slow is waited for", async () => {
		const gate = path.join(tempDir(), "gate");
		const opening = linkTo(far({ login: `until [ -e ${gate} ]; do sleep 0.1; done; eval "$1"` }));
		fs.writeFileSync(gate, "");
		await (await opening).ping();
	});

	test("that runs something else is told with what it said", async () => {
		const only = linkTo(far({ login: "echo This account is for backups; exit 1" }));
		await expect(only).rejects.toMatchObject({
			code: "UNREACHABLE",
			mayHaveHappened: false,
			message: expect.stringMatching(/ended \(1\).*This account is for backups/),
		});
		await expect(linkTo(far({ login: "echo you may not >&2; exit 1" }))).rejects.toThrow(/you may not/);
	});

	test("that never answers is given up in time, and that prints for ever is too", async () => {
		await expect(linkTo(far({ login: "cat >/dev/null" }), { timeoutMs: 300 })).rejects.toThrow(/no answer within 0.3 s/);
		await expect(linkTo(far({ login: "exec cat /dev/zero" }))).rejects.toThrow(/nothing but what is not ours/);
		await expect(linkTo(far({ login: "exec yes" }))).rejects.toThrow(
			/what a login runs there first .* printed more than 64 MiB, and our shell has not answered yet; it printed: "/,
		);
	});

	test("of which a background job prints into the stream breaks the link before a wrong answer is given", async () => {
		const gate = path.join(tempDir(), "gate");
		const host = far({ login: `(until [ -e ${gate} ]; do sleep 0.01; done; printf x) & eval "$1"` });
		const link = await linkTo(host);
		await link.ping();
		fs.writeFileSync(gate, "");
		await until("the byte has come", () => {
			link.ping().catch(() => {});
			return !link.open;
		});
		expect(await link.ended).toMatch(/did not send/);
	});

	test.each([8, 12])("that may open %i files only is told how many it needs", async (files) => {
		await expect(linkTo(far({ login: `ulimit -n ${files}; eval "$1"` }))).rejects.toThrow(new RegExp(`may open ${files} files.*ulimit -n.*30`));
	});

	test("whose perl has no module is answered by it all the same; one whose perl does not run is said, once", async () => {
		const bin = path.join(tempDir("bin"), "bin");
		fs.mkdirSync(bin);
		const bare = `#!/bin/sh\n[ "$1" = -e ] || exit 2\nshift; code=$1; shift\nexec /usr/bin/perl -e "BEGIN { @INC = () } $code" "$@"\n`;
		fs.writeFileSync(path.join(bin, "perl"), bare, { mode: 0o755 });
		const login = `PATH=${bin}:$PATH; eval "$1"`;
		const host = far({ login });
		const link = await linkTo(host);
		expect(link.facts).toMatchObject({ helper: "perl", notes: [] });
		const file = path.join(host.home, "bytes");
		await link.write(file, 0, Buffer.from("x"));
		expect((await link.read(file, 0, 10)).bytes.toString()).toBe("x");
		expect((await link.run("cat; exit 3", { input: "y" })).output.toString()).toBe("y");
		fs.writeFileSync(path.join(bin, "perl"), "#!/bin/sh\nexit 2\n", { mode: 0o755 });
		expect((await linkTo(far({ login }))).facts).toMatchObject({ helper: "sh", notes: [expect.stringContaining("perl there does not run")] });
	});

	test.each(["PERL_UNICODE=SDA", "PERL5OPT=-CSDA", "PERLIO=:utf8"])("that has %s changes no byte, and what runs there has it", async (set) => {
		const [name, value] = set.split("=") as [string, string];
		const host = far({ env: { [name]: value } });
		const link = await linkTo(host);
		expect(link.facts.helper).toBe("perl");
		const bytes = Buffer.from(Array.from({ length: 3_000 }, (_, at) => at & 255));
		const file = path.join(host.home, "bytes");
		await link.write(file, 0, bytes);
		expect(fs.readFileSync(file).equals(bytes)).toBe(true);
		expect((await link.read(file, 0, 10_000)).bytes.equals(bytes)).toBe(true);
		expect((await link.run("cat", { input: bytes })).output.equals(bytes)).toBe(true);
		const [environ] = await link.look([{ ask: "content", path: `/proc/${link.facts.pid}/environ` }]);
		expect(`${environ}`.split("\0")).toContain(set);
	});

	test("can be given up while it opens", async () => {
		const caller = new AbortController();
		const opening = linkTo(far({ login: "cat >/dev/null" }), { signal: caller.signal });
		caller.abort();
		await expect(opening).rejects.toMatchObject({ code: "ABORTED" });
	});
});

describe("a box", () => {
	test("has its own clock, locale, umask and directory", async () => {
		const bin = tempDir("clock");
		fs.writeFileSync(path.join(bin, "date"), "#!/bin/sh\necho $(($(/bin/date +%s) + 3600))\n", { mode: 0o755 });
		const host = far({ env: { LANG: "de_DE.UTF-8" }, login: `PATH=${bin}:$PATH; umask 027; cd /usr; eval "$1"` });
		const { facts } = await linkTo(host);
		expect(Math.abs(facts.skewMs - 3_600_000)).toBeLessThan(10_000);
		expect(facts).toMatchObject({ locale: "de_DE.UTF-8", umask: "0027", cwd: "/usr", home: host.home });
		expect(facts.dir).toBe(`${host.home}/.local/state/holdfast/boxes/box`);
		expect(fs.statSync(facts.dir).mode & 0o777).toBe(0o700);
	});

	asRoot("without /proc does what needs none", async () => {
		for (const perl of [true, false]) {
			const host = far({ login: inNamespace("mount -t tmpfs none /proc") });
			const link = await linkTo(host, { perl });
			expect(link.facts).toMatchObject({ proc: false, bootId: undefined, pidNamespace: undefined });
			expect((await link.run("echo fine")).output.toString()).toBe("fine\n");
			const kernel = remoteKernel((work) => work(link));
			expect(await kernel.signal([{ pid: 1, signal: "SIGTERM", of: { pid: 1, start: "1" } }])).toEqual(["gone"]);
			await expect(kernel.processes()).rejects.toMatchObject({ code: "UNSUPPORTED" });
			await link.ping();
		}
	});

	asRoot("with a read-only home is used from /var/tmp, and that is said; not from what is not ours there", async () => {
		const readOnly = await linkTo(far({ home: "/proc", login: inNamespace("mount -t tmpfs none /var/tmp") }));
		expect(readOnly.facts.dir).toBe("/var/tmp/holdfast-0/box");
		expect(readOnly.facts.notes).toEqual([expect.stringContaining("/proc/.local/state/holdfast/boxes cannot be used")]);
		const elsewhere = tempDir("elsewhere");
		for (const trap of ["mkdir /var/tmp/holdfast-0; chown 65534 /var/tmp/holdfast-0", `ln -s ${elsewhere} /var/tmp/holdfast-0`, ": >/var/tmp/holdfast-0"]) {
			const name = path.basename(tempDir("box"));
			const { facts } = await linkTo(far({ home: "/proc", login: inNamespace(`mount -t tmpfs none /var/tmp; ${trap}`) }), { name });
			expect(facts.dir).toBe(`/tmp/holdfast-0/${name}`);
			atEnd(() => {
				fs.rmSync(facts.dir, { recursive: true });
				if (fs.readdirSync(path.dirname(facts.dir)).length === 0) fs.rmdirSync(path.dirname(facts.dir));
			});
		}
		expect(fs.readdirSync(elsewhere)).toEqual([]);
	});

	test("where a directory was asked for has ours in it, and leaves the other as it is", async () => {
		const dir = path.join(tempDir(), "shared");
		fs.mkdirSync(dir, { mode: 0o755 });
		const { facts } = await linkTo(far({}), { dir });
		expect(facts.dir).toBe(`${dir}/box`);
		expect([dir, facts.dir].map((each) => fs.statSync(each).mode & 0o777)).toEqual([0o755, 0o700]);
	});

	test("with a dd that knows no byte offsets and a sleep of whole seconds is slower, and as right", async () => {
		const bin = tempDir("old");
		fs.writeFileSync(path.join(bin, "dd"), '#!/bin/sh\ncase $* in *iflag*|*oflag*) exit 1;; esac\nexec /bin/dd "$@"\n', { mode: 0o755 });
		fs.writeFileSync(path.join(bin, "sleep"), '#!/bin/sh\ncase $1 in *.*) exit 1;; esac\nexec /bin/sleep "$1"\n', { mode: 0o755 });
		const link = await linkTo(far({ login: `PATH=${bin}:$PATH; eval "$1"` }), { perl: false });
		const file = path.join(tempDir(), "file");
		const bytes = Buffer.from(Array.from({ length: 5_000 }, (_, index) => index));
		await link.write(file, 0, bytes);
		await link.write(file, 1_000, Buffer.from("in the middle"));
		bytes.write("in the middle", 1_000);
		expect(fs.readFileSync(file).equals(bytes)).toBe(true);
		expect((await link.read(file, 999, 2_000)).bytes.equals(bytes.subarray(999, 2_999))).toBe(true);
		expect((await link.run("cat", { input: bytes })).output.equals(bytes)).toBe(true);
		const grown = link.follow(file, 5_000, 10);
		fs.appendFileSync(file, "more");
		expect((await grown).bytes.toString()).toBe("more");
	});

	test("where the directory asked for cannot be had says so, and takes no other", async () => {
		await expect(linkTo(far({}), { dir: "/proc/nowhere" })).rejects.toMatchObject({
			code: "UNREACHABLE",
			message: expect.stringContaining("/proc/nowhere cannot be used"),
		});
	});

	asRoot.each([true, false])("with a full disk can still be looked after (perl: %s)", async (perl) => {
		const home = tempDir("far");
		fs.mkdirSync(`${home}/disk`);
		const host = far({
			home,
			login: inNamespace(
				`mount -t tmpfs -o size=64k none ${home}/disk; mkdir -m 700 ${home}/disk/box; echo log >${home}/disk/log; head -c 100000 /dev/zero >${home}/disk/fill`,
			),
		});
		const link = await linkTo(host, { dir: `${home}/disk`, perl });
		expect(link.facts.notes).toEqual([expect.stringContaining("no room")]);
		expect(link.facts.scratch.startsWith(home)).toBe(false);
		expect((await link.read(`${home}/disk/log`, 0, 10)).bytes.toString()).toBe("log\n");
		await expect(link.write(`${home}/disk/more`, 0, Buffer.alloc(8192))).rejects.toMatchObject({ code: "NO_SPACE" });
		expect((await link.run(`rm ${home}/disk/fill && echo removed`)).output.toString()).toBe("removed\n");
		await link.write(`${home}/disk/more`, 0, Buffer.alloc(8192));
	});

	asRoot.each([true, false])("whose disk fills up says what it could not hold (perl: %s)", async (perl) => {
		const home = tempDir("far");
		const login = inNamespace(`mount -t tmpfs -o size=64k none ${home}; mkdir -m 700 ${home}/own`);
		const link = await linkTo(far({ home, login }), { dir: `${home}/own`, perl });
		await expect(link.write(`${home}/fill`, 0, Buffer.alloc(100_000))).rejects.toMatchObject({ code: "NO_SPACE" });
		const ran = link.run("head -c 10 /dev/zero; exit 7");
		if (perl) expect(await ran).toMatchObject({ status: 7, output: Buffer.alloc(10) });
		else await expect(ran).rejects.toMatchObject({ code: "NO_SPACE", message: expect.stringContaining("it was run") });
		await expect(link.run("cat", { input: Buffer.alloc(8192) })).rejects.toMatchObject({
			code: "NO_SPACE",
			message: expect.stringContaining("it was not run"),
		});
		await link.ping();
	});
});

describe.each([true, false])("with perl: %s", (perl) => {
	test("a near end that falls silent is taken for dead", async () => {
		const host = far({});
		const link = await linkTo(host, { perl, idleSeconds: 1 });
		await link.ended;
		expect(fs.existsSync(link.facts.scratch)).toBe(false);
	});

	test("a ping leaves a sign of life", async () => {
		const link = await linkTo(far({}), { perl });
		const life = path.join(link.facts.dir, "life");
		fs.utimesSync(life, 1, 1);
		await link.ping();
		expect(fs.statSync(life).mtimeMs).toBeGreaterThan(1_000_000);
	});

	test("what links of killed remote ends have left is swept, and of others not", async () => {
		const host = far({});
		const { facts } = await linkTo(host, { perl });
		const dead = facts.scratch.replace(/\d+$/, "4194304");
		const elsewhere = path.join(facts.dir, "link.another.4194304");
		for (const dir of [dead, elsewhere]) fs.mkdirSync(dir);
		const second = await linkTo(host, { perl });
		expect([dead, elsewhere, facts.scratch, second.facts.scratch].map((dir) => fs.existsSync(dir))).toEqual([false, true, true, true]);
	});

	asRoot("a link from another pid namespace does not sweep the files of one that is open", async () => {
		const home = tempDir("far");
		const { facts } = await linkTo(far({ home }), { perl });
		const inside = far({ home, login: `exec unshare -m --pid --fork sh -c 'mount -t proc proc /proc; exec sh -c "$1"' login "$1"` });
		const second = await linkTo(inside, { perl });
		expect(second.facts.dir).toBe(facts.dir);
		expect(second.facts.pidNamespace).not.toBe(facts.pidNamespace);
		expect(fs.existsSync(facts.scratch)).toBe(true);
	});

	test("the loop killed alone takes its helper with it", async () => {
		const host = far({});
		const link = await linkTo(host, { perl, idleSeconds: 4 });
		process.kill(link.facts.pid, "SIGKILL");
		expect(await link.ended).toContain("SIGKILL");
	});
});
