/** Promise 2 again, now for the program that starts a process: killed around `spawn`, it leaves all of it or nothing. */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { linkOf, readProc } from "../../src/base/proc.js";
import { run } from "../fixtures/programs.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";
import { openRuntime, type Process } from "../support/internal.js";
import { rounds, seeded } from "../support/seed.js";

const KILLS = rounds(6, 40);
const PATIENCE = rounds(180_000, 3_600_000);
const ANSWERS = `echo begin; read -r line; echo "end $line"; exit 3`;

for (const warm of [0, 2]) {
	test(
		`a program killed around spawn with ${warm} warm keepers leaves a whole process, or none that ever ran`,
		async () => {
			const runtime = await testRuntime();
			const home = runtime.home.root;
			const ran = path.join(home, "ran");
			fs.writeFileSync(ran, "");
			const command = `echo "$HOLDFAST_ID" >>'${ran}'; ${ANSWERS}`;
			const random = seeded("kills around spawn");
			let span = 0; // how long a spawn takes; found out by the first one, which is killed just after it
			for (let n = 0; n <= KILLS; n++) {
				const spawner = run("spawner.mjs", home, String(warm), command);
				expect(await spawner.line()).toBe("ready");
				const began = performance.now();
				if (n > 0) await sleep(random() ** 2 * span * 1.2);
				else if (await spawner.line()) span = performance.now() - began;
				await spawner.kill();
				await using _ = await openRuntime({ home, warm: 0 }); // it meets what was left, as it was left
			}

			const processes = runtime.list({ task: null });
			await until("every start is decided", () => processes.every((process) => process.status().status !== "starting"));
			const running = processes.filter((process) => process.status().status === "running");
			const failed = processes.filter((process) => !running.includes(process));
			await Promise.all(running.map(useToTheEnd));
			for (const process of failed) expect(process.status().status).toMatch(/^(error|lost)$/);
			for (const process of failed) expect(textOf(process)).toBe("");
			expect(linesOf(ran)).toEqual(idsOf(running)); // what ran is there; what is not there, or failed, never ran
			expect(running).not.toEqual([]);

			await until("no keeper is left, warm or cold", () => processesNaming(home).length === 0);
		},
		PATIENCE,
	);
}

test("what a program killed while it prepared directories has left is removed by the next one", async () => {
	const home = tempDir("home");
	const mkfifo = path.join(home, "mkfifo");
	fs.writeFileSync(mkfifo, "#!/bin/sh\nkill -9 $PPID\n", { mode: 0o700 });
	const spawner = run("spawner.mjs", home, "0", "true", JSON.stringify({ mkfifo }));
	expect(await spawner.ended).toBe("SIGKILL");
	const runtime = await testRuntime({ home });
	const directories = fs.readdirSync(runtime.home.procs).flatMap((shelf) => fs.readdirSync(path.join(runtime.home.procs, shelf)));
	expect(directories).toEqual([]);
});

test("a slow keeper is waited for, also when its starter is gone: a process that still begins is not called lost", async () => {
	const runtime = await testRuntime();
	const home = runtime.home.root;
	const [sh, gate] = [path.join(home, "late-sh"), path.join(home, "gate")];
	fs.writeFileSync(sh, `#!/bin/sh\nuntil [ -e '${gate}' ]; do sleep 0.02; done\nexec /bin/sh "$@"\n`, { mode: 0o700 });
	const spawner = run("spawner.mjs", home, "0", ANSWERS, JSON.stringify({ sh }));
	expect(await spawner.line()).toBe("ready");
	const opened = () => fs.readdirSync(`/proc/${spawner.pid}/fd`).map((fd) => linkOf(`/proc/${spawner.pid}/fd/${fd}`) ?? "");
	await until("it has the word to go", () => fs.readdirSync(runtime.home.live).length === 1 && !opened().some((file) => file.endsWith("/go")));
	await spawner.kill();
	const [process] = runtime.list({ task: null });
	expect(process?.status()).toEqual({ status: "starting" });
	fs.writeFileSync(gate, "");
	await until("it runs", () => process?.status().status === "running");
	await useToTheEnd(process as Process);
});

/** It answers, and ends as it should. */
async function useToTheEnd(process: Process): Promise<void> {
	await process.wait({ until: { pattern: "begin" }, timeout: 100_000 });
	await process.write("of it\n");
	const { status } = await process.wait({ timeout: 100_000 });
	expect(status).toMatchObject({ status: "exited", exitCode: 3 });
	expect(textOf(process)).toBe("begin\nend of it\n");
}

const idsOf = (processes: Process[]): string[] => processes.map((process) => process.id).sort();

const linesOf = (file: string): string[] => fs.readFileSync(file, "utf8").split("\n").filter(Boolean).sort();

const processesNaming = (text: string): string[] =>
	fs.readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && readProc(`/proc/${pid}/cmdline`)?.includes(text));
