/** Checks what this machine supports, and finds what earlier crashes have left in a home. Changes nothing; `clean` acts on the findings. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import {
	counted,
	fromSystem,
	HoldfastError,
	isId,
	LIMIT_KINDS,
	type LimitName,
	limitText,
	namesIn,
	ownerOf,
	readIfThere,
	readProc,
	sendSignalTo,
	sizeText,
} from "../base/index.js";
import { procDir, serviceUnit } from "../keeper/index.js";
import { describePlace, hasToBeReached, hostOf, kinds, lifeOf, type PlaceWish, trialOf } from "../places/index.js";
import type { Boundaries } from "./boundaries.js";
import { maskedCommand } from "./hidden.js";
import { failingTargets } from "./notify-state.js";
import type { Runtime } from "./runtime.js";
import { ProcessSnapshot } from "./tree.js";

/** With less free space, the log of one busy command can fill the disk. */
const ENOUGH_ROOM = 64 * 1024 * 1024;

export interface Check {
	readonly name: string;
	readonly state: "ok" | "warn" | "fail";
	readonly found: string;
	readonly advice?: string;
}

/** A leftover of a crash. */
export interface Orphan {
	readonly kind: "broken" | "directory" | "keeper" | "leftover";
	readonly what: string;
	readonly path?: string;
	readonly pids?: readonly number[];
	/** Start time of each of `pids`, in the ticks of /proc/PID/stat: the pid may have been reused by the time a person confirms. */
	readonly starts?: readonly string[];
}

export interface Diagnosis {
	readonly checks: Check[];
	readonly orphans: Orphan[];
}

export async function diagnose(runtime: Runtime, signal?: AbortSignal): Promise<Diagnosis> {
	const remote = hasToBeReached(runtime.wish) ? [await reach(runtime, runtime.wish, signal)] : [];
	return { checks: [...checks(runtime), await passesOn(runtime.tools.dd), ...remote], orphans: await findOrphans(runtime) };
}

/** Checks whether the chosen place can be reached, and what it offers. Leaves nothing behind. */
async function reach(runtime: Runtime, wish: PlaceWish, signal?: AbortSignal): Promise<Check> {
	try {
		const { look, task } = toLook(runtime, wish);
		const host = await hostOf(look, { task }, runtime.home, { progress: (line) => runtime.boxes.onProgress?.(runtime.placeName, line) });
		let looked = false;
		try {
			const about = (await host.about?.(signal)) ?? [];
			const { system, cwd, tools, missing, notes } = await describePlace(host, signal ? { signal } : {});
			looked = true;
			const found = [
				`${runtime.placeName}: ${system}`,
				...about,
				...(cwd === undefined ? [] : [`starts in ${cwd}`]),
				`has ${tools.join(", ") || "only sh"}`,
				...notes,
			];
			const poor = ["bash", "setsid", "mkfifo", "dd"].filter((tool) => missing.includes(tool));
			const noPty = ["script", "python3", "perl"].every((tool) => missing.includes(tool));
			const advice = [
				...(poor.length > 0 ? [`install ${poor.join(", ")} there`] : []),
				...(noPty ? ["without script, python3 or perl there are no terminals there"] : []),
			].join("; ");
			return { name: "place", state: advice === "" ? "ok" : "warn", found: found.join("; "), ...(advice === "" ? {} : { advice }) };
		} finally {
			await host.stop().catch((error) => {
				if (looked) throw error; // otherwise the earlier error is the cause
			});
		}
	} catch (error) {
		if (signal?.aborted) throw error;
		if (error instanceof HoldfastError && error.code === "PENDING")
			return { name: "place", state: "warn", found: `${error.message.replace(/\. Nothing ran\..*/s, "")}; what this look had asked for was taken back` };
		return { name: "place", state: "fail", found: `${runtime.placeName} cannot be used: ${fromSystem(error, "it").message}` };
	}
}

/**
 * Returns a wish for a throwaway container, always removed: commands may be running in the task's own. If this program is killed first, the container
 * stops by itself and is later removed as an orphan.
 */
function toLook({ task }: Runtime, wish: PlaceWish): { look: PlaceWish; task: string } {
	return { look: trialOf(wish), task: lifeOf(wish) ? `doctor-${randomBytes(6).toString("hex")}` : task };
}

/** Checks that dd writes what it has read at once, on which all output depends. A dd that waits for a full block would show nothing for hours. */
async function passesOn(dd: string): Promise<Check> {
	const child = spawn(dd, ["bs=4096", "count=2"], { stdio: ["pipe", "pipe", "ignore"] });
	const passed = await new Promise<boolean>((resolve) => {
		const timer = setTimeout(() => resolve(false), 2_000);
		child.once("error", () => resolve(false));
		child.stdout.once("data", () => {
			clearTimeout(timer);
			resolve(true);
		});
		child.stdin.write("x");
	});
	child.kill();
	if (passed) return { name: "output", state: "ok", found: "dd passes it on at once" };
	return { name: "output", state: "fail", found: `${dd} holds output back until it has a full block`, advice: "install GNU coreutils or busybox" };
}

function checks(runtime: Runtime): Check[] {
	const { tools, home } = runtime;
	const tool = (name: string, file: string | undefined, without: string, advice: string): Check =>
		file ? { name, state: "ok", found: file } : { name, state: "warn", found: `missing: ${without}`, advice };
	const list: Check[] = [
		homeCheck(home.root),
		{ name: "keeper", state: "ok", found: `${fs.realpathSync(tools.sh)}, ${fs.realpathSync(tools.dd)}, ${fs.realpathSync(tools.setsid)}` },
		tool("bash", tools.bash, "shell text is run by sh", "install bash"),
		tool("full disk", tools.fallocate, "room is checked with df, not reserved", "install fallocate (package util-linux)"),
		tools.pty
			? { name: "terminals", state: "ok", found: `${tools.pty.name} (${tools.pty.program})` }
			: { name: "terminals", state: "warn", found: "no PTY can be made", advice: "install script (package bsdutils or util-linux), python3 or perl" },
		home.watch.mode === "inotify"
			? { name: "events", state: "ok", found: "inotify" }
			: {
					name: "events",
					state: "warn",
					found: "polling every 50 ms: this file system, or this user's limit, gives no inotify events",
					advice: "put the home on a local file system, or raise fs.inotify.max_user_watches",
				},
		killMethod(runtime),
		limitsCheck(runtime),
		...failingTargets(home.root).map(
			({ name, error, at, lost }): Check => ({
				name: "notify",
				state: "warn",
				found: `the target ${name} fails since ${at}: ${error}${lost > 0 ? `; ${counted(lost, "message", "messages")} lost` : ""}`,
				advice:
					"correct `notify` in config.json (docs/notify.md); the entry goes with the next message that arrives, or with the next start of `holdfast serve`",
			}),
		),
		...kinds().flatMap((kind) => kind.doctor?.() ?? []),
	];
	const unit = serviceUnit();
	if (unit && !runtime.cgroups?.kills)
		list.push({
			name: "service",
			state: "warn",
			found: `started in ${unit}: when that is restarted, its whole control group is killed, keepers included`,
			advice: "set KillMode=process (or Delegate=yes) in the unit",
		});
	else if (unit) list.push({ name: "service", state: "ok", found: `started in ${unit}; keepers leave its control group` });
	const foreign = runtime.registry.ofOtherHosts();
	if (foreign.length > 0)
		list.push({
			name: "shared home",
			state: "warn",
			found: `${counted(foreign.length, "process", "processes")} of another host or container`,
			advice: "give each host a home of its own with HOLDFAST_HOME",
		});
	return list;
}

function killMethod({ cgroups, tools }: Runtime): Check {
	if (cgroups?.kills) return { name: "kill", state: "ok", found: "control group (total)" };
	if (tools.subreaper) return { name: "kill", state: "ok", found: "subreaper and walk; no control group can be made here" };
	return {
		name: "kill",
		state: "warn",
		found: "walk with marker: a process that double-forks with an empty environment can escape",
		advice: "install perl, or allow control groups (cgroup v2, delegated)",
	};
}

/** Reports which limits can be enforced here, and by what. If a limit that a person has set cannot be enforced, nothing starts. */
function limitsCheck(runtime: Runtime): Check {
	let boundaries: Boundaries;
	try {
		({ boundaries } = runtime);
	} catch (error) {
		return { name: "limits", state: "fail", found: (error as Error).message, advice: "until then nothing can be started" };
	}
	const names = Object.keys(LIMIT_KINDS) as LimitName[];
	const kept = names.map((name) => [name, boundaries.by(name, "process")] as const);
	const found = kept.flatMap(([name, by]) => (by ? [`${name} (${by})`] : [])).join(", ");
	const missing = kept.flatMap(([name, by]) => (by ? [] : [name]));
	const task = Object.entries(boundaries.task).map(([name, value]) => `${name} ${limitText(name as LimitName, value)}`);
	const tasks = task.length > 0 ? `; each task together: ${task.join(", ")}` : "; nothing for a task as a whole";
	if (missing.length === 0) return { name: "limits", state: "ok", found: found + tasks };
	return {
		name: "limits",
		state: "warn",
		found: `${found}; not ${missing.join(", ")}${tasks}`,
		advice: "allow control groups: run as root, or with cgroup v2 delegated to this user (systemd: Delegate=yes)",
	};
}

function homeCheck(root: string): Check {
	const { bavail, bsize } = fs.statfsSync(root);
	const found = `${root} (${sizeText(bavail * bsize)} free)`;
	if (bavail * bsize >= ENOUGH_ROOM) return { name: "home", state: "ok", found };
	return {
		name: "home",
		state: "warn",
		found,
		advice: "make room on that disk: commands whose output has nowhere to go pause; `holdfast prune` removes old output",
	};
}

async function findOrphans(runtime: Runtime): Promise<Orphan[]> {
	const { home, registry } = runtime;
	const orphans: Orphan[] = registry
		.broken()
		.map((id) => ({ kind: "broken", what: `${id}: its spec.json is missing or cannot be read`, path: procDir(home, id) }));
	const known = new Set<string>([...namesIn(home.live).flatMap((id) => [id, ownerOf(id)]), ...namesIn(home.blank).map((name) => name.split(".")[0] as string)]);
	for (const hour of namesIn(home.ended)) for (const ticket of registry.ended(hour)) known.add(ticket.id).add(ownerOf(ticket.id));
	for (const shelf of namesIn(home.procs)) {
		for (const id of namesIn(path.join(home.procs, shelf))) {
			if (isId(id) && !known.has(id)) orphans.push({ kind: "directory", what: `${id}: a directory that no list knows`, path: procDir(home, id) });
		}
	}
	orphans.push(...lostKeepers(home.procs));
	const now = new ProcessSnapshot();
	for (const process of registry.recent()) {
		const pids = now.marked(process.id, process.spec.within?.slot);
		if (pids.length > 0)
			orphans.push({
				kind: "leftover",
				what: `${process.id} (${maskedCommand(process).slice(0, 60)}) has ended but left processes running`,
				...identified(now, pids),
			});
	}
	return orphans;
}

/** Finds keepers whose directory is gone: no program can reach them. */
function lostKeepers(procs: string): Orphan[] {
	const found: Orphan[] = [];
	const now = new ProcessSnapshot();
	for (const pid of now.stats.keys()) {
		const argv = (readProc(`/proc/${pid}/cmdline`) ?? "").split("\0");
		const at = argv.findIndex((word) => word.endsWith("/keeper/keeper.sh"));
		const dir = at > 0 ? argv[at + 2] : undefined;
		if (dir?.startsWith(`${procs}/`) && readIfThere(path.join(dir, "exit")) === undefined)
			found.push({ kind: "keeper", what: `a keeper without its directory ${dir}`, ...identified(now, [pid]) });
	}
	return found;
}

const identified = (now: ProcessSnapshot, pids: readonly number[]): Required<Pick<Orphan, "pids" | "starts">> => ({
	pids,
	starts: pids.map((pid) => now.stats.get(pid)?.start ?? ""),
});

/** Removes or kills what was found. Moves broken directories aside, so that a person can look at them. */
export function clean(runtime: Runtime, orphans: readonly Orphan[]): string[] {
	const done: string[] = [];
	for (const orphan of orphans) {
		for (const [at, pid] of (orphan.pids ?? []).entries())
			if (sendSignalTo({ pid, start: orphan.starts?.[at] ?? "" }, "SIGKILL")) done.push(`killed ${pid} (${orphan.what})`);
		if (orphan.path === undefined) continue;
		const id = path.basename(orphan.path);
		if (orphan.kind === "broken") {
			const aside = path.join(runtime.home.root, "broken", id);
			fs.mkdirSync(path.dirname(aside), { recursive: true, mode: 0o700 });
			if (fs.existsSync(orphan.path)) fs.renameSync(orphan.path, aside);
			fs.rmSync(path.join(runtime.home.live, id), { force: true });
			done.push(`moved ${id} to ${aside}`);
		} else {
			fs.rmSync(orphan.path, { recursive: true, force: true });
			done.push(`removed ${orphan.path}`);
		}
	}
	return done;
}
