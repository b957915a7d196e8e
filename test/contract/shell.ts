import fs from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import type { Begin, Test } from "./door.js";

export function shellCases(begin: Begin, test: Test): void {
	test("variables, functions, aliases and options last from call to call", async () => {
		const { terminal } = await begin();
		await terminal({ command: "export A=1; b=2; f() { echo f$1; }; alias g='echo g'; shopt -s nullglob; arr=(x 'y z')" });
		const result = await terminal({ command: 'echo $A $b; f 3; g 4; shopt nullglob; echo "${arr[1]}"' });
		expect(result.output).toBe("1 2\nf3\ng 4\nnullglob       \ton\ny z\n");
	});

	test("set -e, exit and exec end a command, not the session", async () => {
		const { terminal } = await begin();
		await terminal({ command: "export A=1" });
		expect(await terminal({ command: "set -e; false; echo no" })).toMatchObject({ status: "exited", exit_code: 1, output: "" });
		expect(await terminal({ command: "exit 3" })).toMatchObject({ status: "exited", exit_code: 3 });
		expect(await terminal({ command: "exec true" })).toMatchObject({ status: "exited", exit_code: 0 });
		expect(await terminal({ command: "echo $A" })).toMatchObject({ exit_code: 0, output: "1\n" });
	});

	test("cd lasts and is reported; workdir is for one command", async () => {
		const { terminal, dir } = await begin();
		const odd = path.join(dir, "-x y'z €");
		fs.mkdirSync(odd);
		expect(await terminal({ command: `cd ${JSON.stringify(dir)} && cd -- "-x y'z €"` })).toMatchObject({ cwd: odd });
		expect(await terminal({ command: "pwd", workdir: "/usr" })).toMatchObject({ output: "/usr\n", cwd: odd });
		expect(await terminal({ command: "pwd", workdir: ".." })).toMatchObject({ output: `${dir}\n`, cwd: odd });
		expect(await terminal({ command: "pwd" })).toMatchObject({ output: `${odd}\n`, cwd: odd });
	});

	test("a workdir that is missing, or a file: a clear error, and nothing runs", async () => {
		const { terminal, dir } = await begin();
		fs.writeFileSync(`${dir}/file`, "");
		for (const workdir of [`${dir}/none`, `${dir}/file`, `${process.cwd()}/no/such`]) {
			for (const more of [{}, { background: true }, { pty: true }]) {
				const result = await terminal({ command: `touch ${dir}/ran`, workdir, ...more });
				expect(result).toMatchObject({ status: "error", output: "", exit_code: null, error: expect.stringContaining(workdir) });
			}
		}
		expect(fs.existsSync(`${dir}/ran`)).toBe(false);
	});

	test("a workdir with what only a shell would expand, or a control character: blocked, naming it; everything else is a name", async () => {
		const { terminal, dir } = await begin();
		const refused = {
			"$(touch ran)": "substitution",
			"${HOME}": "variable",
			"`x`": "backtick",
			"a;b": "semicolon",
			"a\nb": "newline",
			"a\0b": "NUL",
			"a|b": "pipe",
			"a&&b": "ampersands",
			"<a": "less-than",
			">a": "greater-than",
			"\x1b": "control",
		};
		for (const [name, word] of Object.entries(refused)) {
			if (!name.includes("\0")) fs.mkdirSync(`${dir}/${name}`, { recursive: true });
			for (const more of word === "substitution" ? [{}, { background: true }, { pty: true }] : [{}])
				expect([name, await terminal({ command: `touch ${dir}/ran`, workdir: `${dir}/${name}`, ...more })]).toMatchObject([
					name,
					{ status: "blocked", output: "", exit_code: null, error: expect.stringContaining(word) },
				]);
		}
		expect(fs.existsSync(`${dir}/ran`)).toBe(false);
		for (const name of ["目录 ディレクトリ", "R&D", 'it\'s "so"', "-x", "$HOME", "a(b) [c] {d} *?!#~%^=,+@:\\"]) {
			fs.mkdirSync(`${dir}/${name}`);
			expect(await terminal({ command: "pwd", workdir: `${dir}/${name}` })).toMatchObject({ status: "exited", output: `${dir}/${name}\n` });
		}
	});

	test("a directory that is gone: the nearest one above it, said once, and later calls work", async () => {
		const { terminal, dir } = await begin();
		await terminal({ command: `mkdir -p ${dir}/a/b && cd ${dir}/a/b && rmdir ${dir}/a/b ${dir}/a` });
		expect(await terminal({ command: "pwd" })).toMatchObject({ exit_code: 0, output: `${dir}\n`, cwd: dir, note: expect.stringContaining("gone") });
		expect(await terminal({ command: "pwd" })).not.toHaveProperty("note");
	});

	test("a command killed at its deadline leaves the directory as it was", async () => {
		const { terminal } = await begin();
		await terminal({ command: "cd /usr" });
		expect(await terminal({ command: "cd /tmp; sleep 300", timeout: 1, on_timeout: "kill" })).toMatchObject({ status: "timeout", cwd: "/usr" });
		expect(await terminal({ command: "pwd" })).toMatchObject({ output: "/usr\n", cwd: "/usr" });
	});

	test("tasks have shells of their own", async () => {
		const { terminal, other, cwd } = await begin();
		const second = await other("another task");
		await terminal({ command: "cd /usr; export SECRET_OF_ONE=1" });
		expect(await second.terminal({ command: 'echo "[$SECRET_OF_ONE]"' })).toMatchObject({ output: "[]\n", cwd });
		expect(await terminal({ command: "pwd" })).toMatchObject({ output: "/usr\n" });
	});

	test("a value with a newline and shell code in it stays a value", async () => {
		const { terminal, dir } = await begin();
		await terminal({ command: `export V=$'one\\ntouch ${dir}/ran\\n'` });
		expect((await terminal({ command: 'exec true "$V"' })).exit_code).toBe(0); // the next shell is made from the record of this one
		expect((await terminal({ command: 'printf %s "$V"' })).output).toBe(`one\ntouch ${dir}/ran\n`);
		expect(fs.existsSync(`${dir}/ran`)).toBe(false);
	});

	test("two commands at the same time: both run, and the second says that it had a shell of its own", async () => {
		const { terminal, dir } = await begin();
		await terminal({ command: `cd /usr; export A=1; mkfifo ${dir}/go` });
		const first = terminal({ command: `touch ${dir}/started; read -r x <${dir}/go; echo first` });
		const second = await terminal({ command: `until [ -e ${dir}/started ]; do sleep 0.01; done; pwd; echo $A; echo >${dir}/go` });
		expect([await first, second].map(({ exit_code }) => exit_code)).toEqual([0, 0]);
		const [aside] = [await first, second].filter(({ note }) => note?.includes("shell of its own"));
		expect(aside).toBeDefined();
		expect(second.output).toBe("/usr\n1\n");
	});
}
