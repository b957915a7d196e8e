/** What the keeper's child is told in the file `plan`: shell text that goes to the directory and sets variables. */

import path from "node:path";
import { type Identity, shellQuote } from "../base/index.js";
import type { Tools } from "./tools.js";
import { keeperFile } from "./tools.js";

export interface Plan {
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	readonly mode: "bash" | "sh" | "argv";
	readonly stdin: boolean;
	readonly terminal: { readonly cols: number; readonly rows: number } | undefined;
	/** On a terminal: where in the text the one plain command begins that bash is to become. See `loneAt`. */
	readonly lone?: number | undefined;
	readonly log: { readonly limit: number; readonly full: "ring" | "block" };
	readonly umask: number;
	/** Control groups to join instead of those the keeper was started with. */
	readonly groups?: string;
	readonly limits: KeptLimits;
	/** When the command does not run here, with the keeper. */
	readonly entry?: SandboxEntry;
}

/** Limits that the keeper and its child see to. */
export interface KeptLimits {
	/** Nothing runs if the control groups refuse it. */
	readonly strict: boolean;
	/** Seconds; bytes in all; bytes a second. */
	readonly time?: number;
	readonly output?: number;
	readonly output_rate?: number;
	/** What ulimit(1) is to set: letters and numbers. */
	readonly ulimit: readonly (readonly [letter: string, value: number])[];
}

/** The way into a sandbox. The keeper stays outside of it. */
export interface SandboxEntry {
	/** Who has to be alive, or nothing is started. */
	readonly guard: Identity;
	/** Put before a command; it must not fork. What the command starts is in the sandbox's pid namespace. */
	readonly words: readonly string[];
	/** Where in there the files of our room are, and what there is to see of this process's directory. */
	readonly scripts: string;
	readonly dir: string;
}

// Names that a shell will not let one set, or that mean something to the keeper itself.
const RESERVED = new Set(["_", "PPID", "OPTIND", "LINENO", "UID", "EUID", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO", "IFS", "PWD", "OLDPWD"]);
const usable = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !RESERVED.has(name) && !/^(hf_|HOLDFAST_K_)/.test(name);

/** What the keeper's child finds in its directory: the plan, and for a terminal that is not in a sandbox its environment. */
export function planFiles(plan: Plan, tools: Tools): Map<string, string> {
	const files = new Map([["plan", writePlan(plan, tools)]]);
	if (plan.terminal && !plan.entry) files.set("environment", exportLines(plan.env));
	return files;
}

function writePlan(plan: Plan, tools: Tools): string {
	const set: Record<string, string> = {
		hf_mode: plan.mode,
		hf_bash: plan.mode === "sh" ? tools.sh : (tools.bash ?? tools.sh),
		hf_setsid: tools.setsid,
		hf_stdin: plan.stdin ? "1" : "0",
		hf_limit: String(plan.log.limit),
		hf_full: plan.log.full,
		hf_umask: plan.umask.toString(8).padStart(4, "0"),
		hf_groups: plan.groups ?? "",
		hf_strict: plan.limits.strict ? "1" : "",
		hf_time: String(plan.limits.time ?? 0),
		hf_output: String(plan.limits.output ?? 0),
		hf_rate: String(plan.limits.output_rate ?? 0),
		hf_bound: plan.limits.ulimit.flat().join(" "),
		hf_rows: plan.terminal ? String(plan.terminal.rows) : "",
		hf_cols: plan.terminal ? String(plan.terminal.cols) : "",
		hf_lone: plan.lone === undefined ? "" : String(plan.lone),
	};
	const { entry } = plan;
	const scripts = entry?.scripts ?? tools.scripts;
	const script = (file: string) => (scripts === undefined ? file : path.join(scripts, path.basename(file)));
	if (plan.terminal || entry) Object.assign(set, { hf_sh: tools.sh, hf_keeper: script(keeperFile("keeper.sh")) });
	if (plan.terminal) {
		if (!tools.pty) throw new TypeError("a terminal needs a PTY tool");
		const { name, program, relay, clock = 0 } = tools.pty;
		Object.assign(set, { hf_pty: program, hf_relay: name === "script" ? "script" : script(relay), hf_clock: String(clock) });
	}
	set.hf_ticks = entry ? "ticks" : "ctl";
	set.hf_guard = entry ? `${entry.guard.pid} ${entry.guard.start}` : "";
	if (entry) set.hf_cwd = plan.cwd;
	return [
		...(entry ? [] : [`cd -- ${shellQuote(plan.cwd)} || { hf_write exit 'none cannot enter the working directory'; return 125; }`]),
		"unset OLDPWD",
		`hf_seen=${entry ? shellQuote(entry.dir) : "$hf_d"}`,
		`hf_enter() { exec ${[...(entry?.words ?? []).map(shellQuote), '"$@"'].join(" ")}; }`,
		...Object.entries(set).map(([name, value]) => `${name}=${shellQuote(value)}`),
		...(entry || plan.terminal ? [] : [exportLines(plan.env)]),
		"",
	].join("\n");
}

/**
 * An environment as shell text: in the plan; on a terminal and in a sandbox in a file of its own, `environment`, that only the command's own process
 * reads. What runs on the way to it, a relay or a program with rights over the sandbox, must not be at the mercy of LD_PRELOAD or PERL5OPT.
 */
export function exportLines(env: Readonly<Record<string, string>>): string {
	const lines = Object.entries(env).filter(([name]) => usable(name));
	return lines.map(([name, value]) => `export ${name}=${shellQuote(value)}\n`).join("");
}
