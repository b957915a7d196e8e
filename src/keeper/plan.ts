/** Writes the file `plan` for the keeper's child: shell text that changes to the directory and sets variables. */

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
	/** On a terminal: where the one plain command begins that bash replaces itself with. See `loneAt`. */
	readonly lone?: number | undefined;
	readonly log: { readonly limit: number; readonly full: "ring" | "block" };
	readonly umask: number;
	/** Cgroups to join instead of those that the keeper was started with. */
	readonly groups?: string;
	readonly limits: KeptLimits;
	/** Set if the command runs in a sandbox, apart from the keeper. */
	readonly entry?: SandboxEntry;
}

/** Limits that the keeper and its child enforce. */
export interface KeptLimits {
	/** Nothing runs if the cgroups refuse it. */
	readonly strict: boolean;
	/** Seconds; total bytes; bytes per second. */
	readonly time?: number;
	readonly output?: number;
	readonly output_rate?: number;
	/** Settings for ulimit(1): letters and numbers. */
	readonly ulimit: readonly (readonly [letter: string, value: number])[];
}

/** The way into a sandbox. The keeper stays outside. */
export interface SandboxEntry {
	/** Must be alive, or nothing is started. */
	readonly guard: Identity;
	/** Prefix of a command; it must not fork. Processes that the command starts are in the sandbox's pid namespace. */
	readonly words: readonly string[];
	/** Paths inside the sandbox: of the keeper's scripts, and of the visible part of this process's directory. */
	readonly scripts: string;
	readonly dir: string;
}

// Names that a shell does not allow to be set, or that the keeper itself uses.
const RESERVED = new Set(["_", "PPID", "OPTIND", "LINENO", "UID", "EUID", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO", "IFS", "PWD", "OLDPWD"]);
const usable = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !RESERVED.has(name) && !/^(hf_|HOLDFAST_K_)/.test(name);

/** Returns the files for the keeper's child: the plan, and for a terminal outside a sandbox its environment. */
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
 * Returns an environment as shell text. It goes into the plan; on a terminal and in a sandbox it goes into the file `environment`, which only the
 * command's own process reads. LD_PRELOAD or PERL5OPT must not affect the programs before it: a relay, or a program with rights over the sandbox.
 */
export function exportLines(env: Readonly<Record<string, string>>): string {
	const lines = Object.entries(env).filter(([name]) => usable(name));
	return lines.map(([name, value]) => `export ${name}=${shellQuote(value)}\n`).join("");
}
