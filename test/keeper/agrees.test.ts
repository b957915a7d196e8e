/**
 * What belongs to a process, and whose limit it met, is decided twice: by a runtime (src/process), and by the keeper where no runtime is
 * left to do so (src/keeper/script). These tables are fed to both. docs/keeper.md says which of them owns what.
 */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { isThere, keptIn, namesKeeper } from "../../src/base/kernel.js";
import { localKernel } from "../../src/base/local-kernel.js";
import { parseStat } from "../../src/base/proc.js";
import { BLANK_RECORD, readLimit } from "../../src/keeper/layout.js";
import { findTools } from "../../src/keeper/tools.js";
import { blocks, ignores } from "../../src/process/halt.js";
import { members } from "../../src/process/kill.js";
import { LimitCounts, met } from "../../src/process/limits.js";
import { snapshot } from "../../src/process/tree.js";
import { tempDir, testRuntime, textOf } from "../support/home.js";
import { pidsIn, TREES } from "../support/kill-trees.js";

const PARTS = path.resolve("src/keeper/script");

/** Runs `text` with all functions of the keeper. Returns what it printed. */
function keeper(text: string, ...args: string[]): string {
	const parts = fs.readdirSync(PARTS).filter((name) => name !== "main.sh");
	const source = parts.map((name) => `. ${path.join(PARTS, name)}`).join("\n");
	return execFileSync("sh", ["-c", `${source}\n${text}`, "sh", ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }); // as K, which has no stderr
}

/** A directory that the keeper takes for one in /proc. */
function fakeProcess(files: Record<string, string>): string {
	const dir = tempDir("pid");
	for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(dir, name), text);
	return `..${dir}`;
}

const says = (condition: string, ...args: string[]): boolean => keeper(`if ${condition}; then echo yes; else echo no; fi`, ...args) === "yes\n";

const stat = (name: string, state: string, start: string): string => `71 (${name}) ${state} 1 71 71 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 ${start} 1 1\n`;

describe("is it still the process that was seen?", () => {
	test.each([
		["one that runs", stat("sh", "S", "500"), true],
		["another with its number", stat("sh", "S", "501"), false],
		["one that is not reaped", stat("sh", "Z", "500"), false],
		["one that is just going", stat("sh", "X", "500"), false],
		["one that is stopped", stat("sh", "T", "500"), true],
		["a name with a parenthesis", stat("a) Z 1 2", "S", "500"), true],
		["a name with a line break", stat("a\nb", "R", "500"), true],
	])("%s", (_name, text, expected) => {
		const seen = { pid: 71, start: "500" };
		expect([isThere(parseStat(text), seen), says('hf_same "$1" 500', fakeProcess({ stat: text }))]).toEqual([expected, expected]);
	});
});

describe("does it ignore TERM?", () => {
	test.each([
		["0000000000000000", false],
		["0000000000004000", true],
		["0000000000384004", true],
		["fffffffffffbbfff", false],
		["0000000000003fff", false],
	])("SigIgn %s", (mask, expected) => {
		const text = `Name:\tsh\nSigBlk:\t0000000000004000\nSigIgn:\t${mask}\nSigCgt:\t0000000000004000\n`;
		expect([ignores(text, 15), says('hf_ignores "$1"', fakeProcess({ status: text }))]).toEqual([expected, expected]);
	});
});

describe("does it block TERM?", () => {
	test.each([
		["0000000000000000", false],
		["0000000000014002", true], // CHLD, TERM and INT: bash while it forks
		["fffffffffffbbfff", false],
	])("SigBlk %s", (mask, expected) => {
		const text = `Name:\tsh\nSigBlk:\t${mask}\nSigIgn:\t0000000000004000\nSigCgt:\t0000000000004000\n`;
		expect([blocks(text, 15), says('hf_masks SigBlk "$1"', fakeProcess({ status: text }))]).toEqual([expected, expected]);
	});
});

describe("is it a keeper?", () => {
	test.each([
		["one whose directory names it", ["sh", "/opt/keeper/keeper.sh", "keep", "DIR", "bell"], "keeper 71 500\n", true],
		["below a subreaper", ["perl", "-e", "…", "sh", "/opt/keeper/keeper.sh", "keep", "DIR"], "child 72 501\nkeeper 71 500\n", true],
		["arguments that anybody can have", ["sh", "/x/keeper/keeper.sh", "keep", "DIR"], "keeper 99 1\n", false],
		["of an earlier process with its number", ["sh", "/x/keeper/keeper.sh", "keep", "DIR"], "keeper 71 5\n", false],
		["another role", ["sh", "/x/keeper/keeper.sh", "keep", "DIR"], "child 71 500\n", false],
		["another word", ["sh", "/x/keeper/keeper.sh", "terminal", "DIR"], "keeper 71 500\n", false],
		["another script", ["sh", "/x/other.sh", "keep", "DIR"], "keeper 71 500\n", false],
	])("%s", (_name, words, meta, expected) => {
		const dir = tempDir("kept");
		fs.writeFileSync(path.join(dir, "meta"), meta);
		const argv = words.map((word) => (word === "DIR" ? dir : word));
		const named = keptIn(argv);
		const byRuntime = named !== undefined && namesKeeper(fs.readFileSync(path.join(named, "meta"), "utf8"), { pid: 71, start: "500" });
		// The number is the path of its files in /proc for the keeper, and what is written down in `meta`.
		const at = fakeProcess({ cmdline: `${argv.join("\0")}\0` });
		fs.writeFileSync(path.join(dir, "meta"), meta.replace(/\b71\b/, at));
		expect([byRuntime, says('hf_keeps "$1" 500', at)]).toEqual([expected, expected]);
	});
});

/** The files of a control group and of the one above it, once something has happened. */
interface Groups {
	readonly own: Record<string, string>;
	readonly task?: Record<string, string>;
}

const events = (kills: number) => `low 0\nhigh 0\nmax 9\noom 0\noom_kill ${kills}\n`;
const local = (oom: number) => `low 0\nmax 9\noom ${oom}\noom_kill 0\n`;
const v1 = (used: number) => ({
	"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
	"memory.max_usage_in_bytes": `${used}\n`,
	"memory.limit_in_bytes": "16000000\n",
});

const MET: [name: string, groups: Groups, expected: string | undefined][] = [
	["nothing", { own: { "memory.events": events(0), "memory.events.local": local(0), "pids.events": "max 0\n" } }, undefined],
	["its own memory", { own: { "memory.events": events(1), "memory.events.local": local(1) } }, "memory process"],
	[
		"the memory of its task",
		{ own: { "memory.events": events(2), "memory.events.local": local(0) }, task: { "memory.events": events(2), "memory.events.local": local(1) } },
		"memory task",
	],
	[
		"that of the machine",
		{ own: { "memory.events": events(1), "memory.events.local": local(0) }, task: { "memory.events": events(1), "memory.events.local": local(0) } },
		"memory machine",
	],
	["a kernel that does not say whose", { own: { "memory.events": events(1) }, task: { "memory.events": events(1) } }, "memory machine"],
	["too many processes", { own: { "memory.events": events(0), "pids.events": "max 3\n" } }, "pids process"],
	["both: what was killed counts", { own: { "memory.events": events(1), "memory.events.local": local(1), "pids.events": "max 3\n" } }, "memory process"],
	["version 1, its own", { own: v1(15_900_000) }, "memory process"],
	["version 1, that of its task", { own: v1(1_000_000), task: v1(15_900_000) }, "memory task"],
	["version 1, that of the machine", { own: v1(1_000_000), task: v1(1_000_000) }, "memory machine"],
];

test.each(MET)("whose limit was met: %s", (_name, { own, task = {} }, expected) => {
	const group = path.join(tempDir("group"), "own");
	fs.mkdirSync(group);
	const memory = path.join(group, "memory.events" in own ? "memory.events" : "memory.oom_control");
	const pids = path.join(group, "pids.events");
	const limits = { process: { memory: 16_000_000, pids: 8 }, task: { memory: 32_000_000, pids: 16 }, by: {}, counts: { memory, pids } };
	fs.writeFileSync(memory, "oom_kill 0\n");
	fs.writeFileSync(pids, "max 0\n");
	const counts = new LimitCounts(limits);
	for (const [name, text] of Object.entries(task)) fs.writeFileSync(path.join(group, "..", name), text);
	for (const [name, text] of Object.entries(own)) fs.writeFileSync(path.join(group, name), text);
	const byRuntime = counts.take();
	counts.close();
	const dir = tempDir("proc");
	fs.writeFileSync(path.join(dir, "limit"), BLANK_RECORD);
	keeper('hf_d=$1 hf_cgroup=$2; hf_counts "exit 137 9"', dir, group);
	const record = readLimit(dir);
	const byKeeper = record && met(limits, record.name as "memory" | "pids", record.scope);
	expect(byRuntime && `${byRuntime.name} ${byRuntime.of}`).toBe(expected);
	expect(byKeeper).toEqual(byRuntime);
});

describe.each([
	["a subreaper", {}],
	["a walk", { tools: { ...findTools(), subreaper: undefined } }],
])("what belongs to a command, found by %s", (_method, options) => {
	test.each(TREES)("%s", async (_name, count, command) => {
		const runtime = await testRuntime({ ...options, cgroup: "off" });
		const process = await runtime.spawn({ command });
		const byKeeper = () => pidsIn(keeper('hf_d=$1 hf_cgroup= hf_runs=; hf_members; for w in $hf_m; do echo "${w%%/*}"; done', process.dir)).sort();
		const byRuntime = async () => members(await snapshot(localKernel), process.dir, process.spec).sort();
		await process.wait({ until: { pattern: `(\\d+\\s+){${count}}` } });
		// What has just said its pid goes on to start another program.
		let found = [await byRuntime(), byKeeper()];
		for (const deadline = Date.now() + 30_000; String(found[0]) !== String(found[1]) && Date.now() < deadline; ) found = [await byRuntime(), byKeeper()];
		expect(found[1]).toEqual(found[0]);
		expect(found[0]).toEqual(expect.arrayContaining(pidsIn(textOf(process))));
	});
});
