/** A command in the persistent shell of a task, from the call to its result. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { codexOverStdio, codexOverWebSocket } from "./codex.mjs";
import { byTurns, cpuOfAll, median, percentile, timed } from "./lib.mjs";
import { polledShell } from "./polled.mjs";
import { atLeast, atMost, missingRow, row } from "./report.mjs";

const GAP_MS = 15;
const TIMEOUT_MS = 10_000;
const TASKS = 50;

export default async function shell(bench) {
	bench.leaveProfilesOut();
	const cpu = cpuOfAll(bench);
	const rounds = bench.count(20, 3);
	const block = bench.count(25, 10);
	const runtime = await bench.runtime("shell");
	const terminal = terminalOf(runtime);
	const polled = polledShell(bench);
	const repository = smallRepository(bench);
	const codex = [await codexOverWebSocket(bench), await codexOverStdio(bench)];
	for (let i = 0; i < 4 * block; i++) await terminal("true"); // the shell's birth, and what V8 compiles once it is worth it
	const times = await byTurns(rounds, [
		{ name: "bare", time: () => timed(() => bare("true")), block },
		{ name: "terminal", time: () => timed(() => terminal("true")), block },
		{ name: "terminal, apart", time: () => timed(() => terminal("true")), block, gap: GAP_MS },
		{ name: "bare, apart", time: () => timed(() => bare("true")), block, gap: GAP_MS },
		{ name: "shell", time: () => timed(() => inShell(runtime, "true")), block },
		{ name: "prints", time: () => timed(() => terminal("echo x")), block, gap: GAP_MS },
		{ name: "bare prints", time: () => timed(() => bare("echo x")), block, gap: GAP_MS },
		{ name: "prints, back to back", time: () => timed(() => terminal("echo x")), block },
		{ name: "forks", time: () => timed(() => terminal("/bin/true")), block, gap: GAP_MS },
		{ name: "bare forks", time: () => timed(() => bare("/bin/true; :")), block, gap: GAP_MS },
		{ name: "bare prints, back to back", time: () => timed(() => bare("echo x")), block },
		{ name: "forks, back to back", time: () => timed(() => terminal("/bin/true")), block },
		{ name: "bare forks, back to back", time: () => timed(() => bare("/bin/true; :")), block },
		{ name: "git", time: () => timed(() => terminal(`git -C ${repository} status`)), block, gap: GAP_MS },
		{ name: "bare git", time: () => timed(() => bare(`git -C ${repository} status; :`)), block, gap: GAP_MS },
		{ name: "polled", time: () => timed(() => polled("true")), block: 2 },
		...codex.filter(({ run }) => run).map(({ name, run }) => ({ name, time: run, block: 5 })),
	]);
	const many = Array.from({ length: TASKS }, (_, number) => terminalOf(runtime, { task: `task ${number}` }));
	for (let round = 0; round < 2; round++) await Promise.all(many.map((run) => run("echo x"))); // their shells, and logs for all at once
	const atOnce = await byTurns(bench.count(10, 3), [
		{ name: "tasks", time: () => timed(() => Promise.all(many.map((run) => run("echo x")))), block: 5, gap: GAP_MS },
		{ name: "bare", time: () => timed(() => Promise.all(many.map(() => bare("echo x")))), block: 5, gap: GAP_MS },
	]);
	const p90 = (values) => percentile(values, 0.9);
	const bareTime = (name, of = median) => [{ name: "bare", value: of(times[name]) }];
	const result = (what, name, baselines, more = {}) => row({ what, value: median(times[name]), unit: "ms", baselines, faster: true, ...more });
	return [
		result("`true` by `runtime.terminal`, back to back", "terminal", bareTime("bare"), { target: atLeast(5) }),
		result("the same, p90", "terminal", bareTime("bare", p90), { value: p90(times.terminal) }),
		result(`the same, ${GAP_MS} ms apart`, "terminal, apart", bareTime("bare, apart")),
		result("`true` by the shell alone, without the tool", "shell", bareTime("bare")),
		result("`true` by `runtime.terminal`, beside a status file looked at every 150 ms", "terminal", [{ name: "polled", value: median(times.polled) }], {
			target: atLeast(150),
		}),
		result(
			"`true` by `runtime.terminal`, beside the exec-server of Codex",
			"terminal",
			codex.map(({ name, missing }) => (missing ? { name, missing } : { name, value: median(times[name]) })),
			{ target: atLeast(50) },
		),
		result(`\`echo x\`, which prints, ${GAP_MS} ms apart`, "prints", bareTime("bare prints"), { target: atLeast(4) }),
		result("the same, back to back", "prints, back to back", bareTime("bare prints, back to back"), { target: atLeast(4) }),
		result(`\`/bin/true\`, which is a program, ${GAP_MS} ms apart`, "forks", bareTime("bare forks"), { target: atLeast(1.9) }),
		result("the same, back to back", "forks, back to back", bareTime("bare forks, back to back"), { target: atLeast(1.9) }),
		result(`\`git status\` in a repository of ten files, ${GAP_MS} ms apart`, "git", bareTime("bare git")),
		row({
			what: `\`echo x\` in each of ${TASKS} tasks at once, until the last has its result`,
			value: median(atOnce.tasks),
			unit: "ms",
			baselines: [{ name: `${TASKS} bare`, value: median(atOnce.bare) }],
			faster: true,
		}),
		...(await cpuRows(cpu, bench.count(300, 50), { terminal, repository })),
	];
}

/** What a command costs all processes together. */
async function cpuRows(cpu, count, { terminal, repository }) {
	const each = async (run) => {
		const before = cpu.ms();
		for (let i = 0; i < count; i++) await run();
		return (cpu.ms() - before) / count;
	};
	const rows = [];
	for (const command of ["true", "echo x", "/bin/true", `git -C ${repository} status`]) {
		const what = `CPU of all processes that \`${command.startsWith("git") ? "git status" : command}\` takes`;
		if (cpu.missing) rows.push(missingRow(what, cpu.missing));
		else
			rows.push(
				row({
					what,
					value: await each(() => terminal(command)),
					unit: "ms",
					baselines: [{ name: "bare", value: await each(() => bare(`${command}; :`)) }],
					target: atMost(1),
				}),
			);
	}
	return rows;
}

function smallRepository(bench) {
	const dir = bench.dir("repository");
	const git = (...words) => execFileSync("git", ["-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.org", ...words], { stdio: "ignore" });
	git("init");
	for (let file = 0; file < 10; file++) fs.writeFileSync(path.join(dir, `file-${file}`), `${file}\n`);
	git("add", ".");
	git("commit", "-m", "ten files");
	return dir;
}

/** A function that runs a command with the tool and makes sure that it ran. */
export function terminalOf(runtime, call) {
	return async (command) => {
		const result = await runtime.terminal({ command }, call);
		if (result.exit_code !== 0) throw new Error(`${command}: ${JSON.stringify(result)}`);
	};
}

async function inShell(runtime, command) {
	const run = await runtime.shells.run({ task: runtime.task, command, timeoutMs: TIMEOUT_MS, onTimeout: "kill" });
	if (run.exitCode !== 0) throw new Error(`${command} ended with ${run.exitCode}`);
	run.release();
}

/** Until all it prints has been read. */
async function bare(command) {
	const child = spawn("bash", ["-c", command], { stdio: ["ignore", "pipe", "inherit"] });
	child.stdout.resume();
	const [code] = await once(child, "close");
	if (code !== 0) throw new Error(`${command} ended with ${code}`);
}
