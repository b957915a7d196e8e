/** Promise 6: a secret in a command or in its environment is in no argument list, and no file is for others to read. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readProc } from "../../src/base/proc.js";
import { atEnd, testRuntime, until } from "../support/home.js";

for (const terminal of [false, true]) {
	const kind = terminal ? "on a terminal" : "without a terminal";

	test(`neither the text of a command nor its variables are in any argument list, ${kind}`, async () => {
		const runtime = await testRuntime({ warm: 2 });
		const [inText, inValue] = [`text-${randomBytes(8).toString("hex")}`, `value-${randomBytes(8).toString("hex")}`];
		const argumentLists = new Set<string>();
		const started = runtime.spawn({ command: `token=${inText}; echo "ready \${#SERVICE_TOKEN}"; read -r; :`, env: { SERVICE_TOKEN: inValue }, terminal });
		await until("it has said that it is ready", () => {
			for (const list of allArguments()) argumentLists.add(list); // also while it starts
			return runtime.list().some((process) => process.read(0).bytes.includes(`ready ${inValue.length}`));
		});
		const process = await started;
		for (const list of allArguments()) argumentLists.add(list);
		const all = [...argumentLists].join("\n");
		expect(all).toContain(process.dir); // its keeper was looked at
		expect(all).not.toContain(inText);
		expect(all).not.toContain(inValue);
		expect(fs.statSync(path.join(process.dir, "plan")).size).toBe(0);
	});

	test(`everything in the home is for its owner alone, whatever the umask, ${kind}`, async () => {
		const umask = process.umask(0);
		atEnd(() => process.umask(umask));
		const runtime = await testRuntime({ warm: 1 });
		const first = await runtime.spawn({ command: "umask; read -r; exit 3", terminal });
		await first.wait({ until: { pattern: "0000" }, timeout: 100_000 });
		if (terminal) await first.resize(80, 24);
		await first.write("\n");
		await first.wait({ timeout: 100_000 });
		const second = await runtime.spawn({ command: "sleep 1000", terminal });
		if (!terminal) await second.closeStdin();
		await second.kill();
		expect(fs.readdirSync(second.dir)).toEqual(expect.arrayContaining(["pipe", "in", "out.000000000000000", "meta", "killed", "spec.json"]));
		expect(openToOthers(runtime.home.root)).toEqual([]);
	});
}

const allArguments = (): string[] =>
	fs
		.readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.map((pid) => readProc(`/proc/${pid}/cmdline`) ?? "");

/** Everything below a directory that others may use in any way. */
function openToOthers(dir: string): string[] {
	const all = [dir, ...fs.readdirSync(dir, { recursive: true, encoding: "utf8" }).map((name) => path.join(dir, name))];
	return all.filter((file) => {
		const stat = fs.statSync(file, { throwIfNoEntry: false });
		if (!stat) return false; // a keeper that is being prepared has just used it up
		return (stat.mode & 0o7777) !== (stat.isDirectory() ? 0o700 : 0o600);
	});
}
