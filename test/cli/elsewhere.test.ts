/** The command line and processes of another machine, a real sshd on loopback. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { run } from "../fixtures/programs.js";
import { CLI, cli, hasTmux, Terminal } from "../support/cli.js";
import { elsewhere } from "../support/elsewhere.js";
import { atEnd, until } from "../support/home.js";
import { openRuntime } from "../support/internal.js";
import { freePort } from "../support/ports.js";
import { noSshd } from "../support/sshd.js";

const PLACE = /^ssh:\/\/root@127\.0\.0\.1:\d+$/;

test.skipIf(noSshd)("started, listed, read, written to, waited for and killed as a local process", async () => {
	const { home, env, sshd } = await elsewhere({ rc: "export DEPLOY_TOKEN=abcdef0123456789 PLAIN=there", config: { environment: { pass: ["DEPLOY_TOKEN"] } } });
	const there = (...args: string[]) => cli(home, args, { env });
	// The filter is about the environment of the login there, and `pass` names what of it is let through.
	expect(await there("run", "--place", "box", "--", 'pwd; echo "$PLAIN ${DEPLOY_TOKEN:+passed} ${GITHUB_TOKEN-none}"; exit 7')).toMatchObject({
		code: 7,
		stdout: `${sshd.home}\nthere passed none\n`,
		stderr: "",
	});
	const port = await freePort();
	const server = `sleep 0.3; exec python3 -c 'import http.server as h; h.HTTPServer(("127.0.0.1", ${port}), h.SimpleHTTPRequestHandler).serve_forever()'`;
	const started = await there("run", "--background", "--place", "box", "--", server);
	const id = started.stdout.trim();
	expect(await there("wait", id, "--until", `port=${port}`, "--timeout", "30")).toMatchObject({ code: 0, stdout: "port\n" });
	expect(await there("wait", id, "--until", `http=http://localhost:${port}/`, "--timeout", "30")).toMatchObject({ code: 0, stdout: "http\n" });
	expect(await there("wait", id, "--until", `http=http://127.0.0.1:${port}/none,status=404`, "--timeout", "30")).toMatchObject({ code: 0 });
	expect((await there("logs", id)).stdout).toContain('"GET /none HTTP/1.1" 404');

	const reader = (await there("run", "--background", "--place", "box", "--", "read -r a; echo got $a; read -r b; echo $b")).stdout.trim();
	expect(await there("submit", reader, "one")).toMatchObject({ code: 0 });
	expect(await there("wait", reader, "--until", "pattern=got one", "--timeout", "30")).toMatchObject({ code: 0 });
	const list = await there("ps");
	expect(list.stdout).toMatch(/^ID +TASK +PLACE +STATUS/);
	expect(list.stdout).toMatch(new RegExp(`${reader} +default +ssh://root@127.0.0.1:\\d+ +running`));
	expect(await there("kill", reader)).toMatchObject({ code: 0, stdout: expect.stringMatching(/killed: .* none left/) });
	expect(await there("kill", id)).toMatchObject({ code: 0 });
	const { processes, notes } = JSON.parse((await there("ps", "--json")).stdout);
	expect(notes).toBeUndefined();
	expect(processes.map(({ place, status }: { place: string; status: string }) => [PLACE.test(place), status])).toEqual([
		[true, "killed"],
		[true, "killed"],
		[true, "exited"],
	]);
});

test.skipIf(noSshd)("a remote process that another program removes during a look is no error", async () => {
	const { home, sshd, runtime } = await elsewhere();
	const started = await runtime.spawn({ command: `until [ -e '${sshd.home}/go' ]; do sleep 0.05; done; exit 3` });
	const other = await openRuntime({ home, warm: 0 });
	atEnd(() => other.close());
	const seen = other.get(started.id);
	fs.writeFileSync(path.join(sshd.home, "go"), "");
	await until("it has ended there", () => !fs.existsSync(`/proc/${started.pid}`));
	const looking = seen.sync();
	for (const gone of [seen.dir, path.join(home, "live", started.id)]) fs.rmSync(gone, { recursive: true });
	expect(await looking).toBeUndefined();
});

test.skipIf(noSshd)("every command says when a machine is unreachable, and the time of the last known state; afterwards nothing is missing", async () => {
	const { home, env, sshd, runtime } = await elsewhere();
	const there = (...args: string[]) => cli(home, args, { env });
	const id = (await there("run", "--background", "--place", "box", "--", "echo before; read -r a; echo after $a; exit 4")).stdout.trim();
	await there("wait", id, "--until", "pattern=before", "--timeout", "30");
	await sshd.stop();
	const away = /^holdfast: Cannot reach ssh:\/\/\S+ \(nothing listens there .*\)\. Showing its last known state, from \d{4}-\S+Z\.\n/;
	expect(await there("ps")).toMatchObject({ code: 0, stderr: expect.stringMatching(away), stdout: expect.stringMatching(`${id} .* running`) });
	const listed = JSON.parse((await there("ps", "--json")).stdout);
	expect(listed).toMatchObject({
		processes: [{ session_id: id, status: "running", note: listed.notes[0] }],
		notes: [expect.stringMatching(/Cannot reach/)],
	});
	expect(await there("logs", id)).toMatchObject({ code: 0, stdout: "before\n", stderr: expect.stringMatching(away) });
	expect(await there("wait", id, "--timeout", "0.1")).toMatchObject({ code: 124, stderr: expect.stringMatching(away) });
	for (const args of [
		["write", id, "x"],
		["kill", id],
		["attach", id],
		["run", "--place", "box", "--", "true"],
		["end", "default"],
	])
		expect(await there(...args), args.join(" ")).toMatchObject({
			code: expect.any(Number),
			stderr: expect.stringMatching(/cannot (be reached|reach)|nothing listens/),
		});
	expect(await there("process", "poll", id)).toMatchObject({
		code: 0,
		stdout: expect.stringMatching(/\[running.*\n?before\n(.*\n)*Note: .*Cannot reach/),
	});
	await sshd.start();
	expect(await there("submit", id, "all")).toMatchObject({ code: 0, stderr: "" });
	expect(await there("wait", id)).toMatchObject({ code: 4, stderr: "" });
	expect(await there("logs", id)).toMatchObject({ stdout: "before\nafter all\n", stderr: "" });
	expect(runtime.get(id).status()).toMatchObject({ status: "exited", exitCode: 4 });
});

test.skipIf(noSshd || !hasTmux)("at a terminal: attached, typed at, resized; Ctrl-C reaches the command there", async () => {
	const { home, env, sshd } = await elsewhere();
	const id = (await cli(home, ["run", "--background", "--pty", "--place", "box", "--", "bash --norc --noprofile"], { env })).stdout.trim();
	const screen = new Terminal(`PS1='$ ' bash --norc --noprofile`, { ...env, HOLDFAST_HOME: home });
	await screen.shows(/^\$$/m);
	await screen.type(`${process.execPath} ${CLI} attach ${id}`, "Enter");
	await screen.shows(/^bash-[\d.]+[#$]$/m);
	await screen.type("stty size; echo at-$((40 + 2))", "Enter");
	await screen.shows(/^30 100\nat-42$/m);
	await screen.resize(90, 20);
	await screen.type('until [ "$(stty size)" = "20 90" ]; do sleep 0.05; done; echo resized-$((40 + 2))', "Enter"); // keys and sizes go different ways
	await screen.shows(/^resized-42$/m);
	await screen.type("C-]");
	await screen.shows("goes on");
	await screen.type(
		`clear; ${process.execPath} ${CLI} run --place box -- 'trap "echo stopped; exit 9" INT; echo up; while :; do sleep 0.1; done'; echo rc=$?`,
		"Enter",
	);
	await screen.shows(/^up$/m);
	await screen.type("C-c");
	await screen.shows(/^(\^C)?stopped\nrc=9$/m);
	await screen.type(`clear; ${process.execPath} ${CLI} run --no-pty --place box -- 'echo again; sleep 1000'; echo rc=$?`, "Enter");
	await screen.shows(/^again$/m); // not "up": the screen may still be that of the last command
	await sshd.stop();
	await screen.shows("cannot be reached"); // in its first line, whatever the width
	await screen.type("C-c");
	await screen.shows(/leaving; proc_[0-9a-f]{12} goes on[\s\S]*rc=1$/m);
	await sshd.start();
});

test.skipIf(noSshd)("a directory that was asked for and is not there is an error, and nothing runs", async () => {
	const { home, env, sshd, runtime } = await elsewhere();
	const ran = path.join(sshd.home, "ran");
	const missing = path.join(process.cwd(), "no", "such");
	for (const [tool, option] of [
		["terminal", "--workdir"],
		["run", "--cwd"],
	] as const) {
		const { code, stdout, stderr } = await cli(home, [tool, "--place", "box", option, missing, "--", `touch ${ran}`], { env });
		expect([tool, code === 0, stdout + stderr]).toEqual([tool, false, expect.stringContaining(missing)]);
	}
	await expect(runtime.spawn({ command: `touch ${ran}`, cwd: missing })).rejects.toThrow(missing);
	expect(fs.existsSync(ran)).toBe(false);
});

test.skipIf(noSshd)("a program that has closed its runtime is not kept from ending", async () => {
	const { home } = await elsewhere();
	expect(await run("closed.mjs", home, "box", "default", "echo x").line()).toBe("[]");
});
