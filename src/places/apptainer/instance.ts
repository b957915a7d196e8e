/** The one instance of a task: found by its name, which is the lock; started, prepared and ended. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { ensureDir, errno, HoldfastError, isAlive, namesIn, readIfThere, readStat, unlinkIfThere, writeWhole } from "../../base/index.js";
import { type Program, plain, type Ran } from "../child.js";
import type { HostOwner } from "../kind.js";
import { settingsDigests } from "../owner.js";
import type { ApptainerSettings } from "./options.js";
import { runApptainer } from "./program.js";
import { type InstanceDirs, STATE_DIR } from "./scratch.js";

/** A running instance on this machine. */
export interface Instance {
	readonly name: string;
	readonly pid: number;
	/** Start time of that process in kernel ticks; "0" if the kernel does not say. */
	readonly start: string;
	readonly image: string;
	readonly logs: readonly string[];
}

const LISTED = z.object({
	instances: z
		.array(
			z.object({ instance: z.string(), pid: z.number(), img: z.string().default(""), logErrPath: z.string().default(""), logOutPath: z.string().default("") }),
		)
		.nullish(),
});

/** Returns the instances whose names match a pattern. Apptainer knows only the instances of this host. */
export async function listInstances(program: Program, pattern: string, signal?: AbortSignal): Promise<Instance[]> {
	const { code, output, said } = await runApptainer(program, ["instance", "list", "--json", pattern], { signal });
	if (code !== 0) throw new HoldfastError("START_FAILED", `Apptainer cannot list its instances: ${plain(said).slice(-300)}`);
	let listed: z.output<typeof LISTED>;
	try {
		listed = LISTED.parse(JSON.parse(output));
	} catch (error) {
		throw new HoldfastError("START_FAILED", `what ${program.name} says of its instances cannot be understood: ${JSON.stringify(output.slice(0, 100))}`, {
			cause: error,
		});
	}
	return (listed.instances ?? []).map(({ instance: name, pid, img, logErrPath, logOutPath }) => ({
		name,
		pid,
		start: readStat(pid)?.start ?? "0",
		image: img,
		logs: [logErrPath, logOutPath].filter(Boolean),
	}));
}

export const findInstance = async (program: Program, name: string, signal?: AbortSignal): Promise<Instance | undefined> =>
	(await listInstances(program, name, signal)).find((one) => one.name === name);

const OWNER = z.object({
	v: z.literal(1),
	/** Identifies the files: a recreated directory gets another id. */
	id: z.string().regex(/^[0-9a-f]{12}$/),
	home: z.string(),
	task: z.string(),
	host: z.string(),
	created: z.string(),
	image: z.string(),
	keep: z.boolean(),
	lifetime: z.union([z.number(), z.literal("task")]),
	settings: z.record(z.string(), z.string()),
});
export type InstanceOwner = z.output<typeof OWNER>;

/** Returns undefined if there is no owner file, or it cannot be read. */
export function readOwner(dirs: Pick<InstanceDirs, "owner">): InstanceOwner | undefined {
	try {
		return OWNER.parse(JSON.parse(readIfThere(dirs.owner) ?? ""));
	} catch {
		return undefined;
	}
}

/** Returns a digest per setting that defines an instance. */
export function madeWith(settings: ApptainerSettings): Record<string, string> {
	const { pull: _pull, keep: _keep, workdir: _workdir, insecure: _insecure, scratch: _scratch, ...rest } = settings;
	return settingsDigests(rest);
}

/**
 * Creates the directories of an instance and records their owner before the instance exists, so an orphan can always be found. Returns the owner that
 * was recorded first.
 */
export function makeDirs(dirs: InstanceDirs, { home, task }: HostOwner, settings: ApptainerSettings): InstanceOwner {
	for (const dir of [dirs.dir, dirs.overlay, dirs.work, dirs.state]) ensureDir(dir);
	const own: InstanceOwner = {
		v: 1,
		id: randomBytes(6).toString("hex"),
		...{ home, task, host: os.hostname(), created: new Date().toISOString(), image: settings.image, keep: settings.keep, lifetime: settings.lifetime },
		settings: madeWith(settings),
	};
	const draft = `${dirs.owner}.${process.pid}`;
	fs.writeFileSync(draft, `${JSON.stringify(own)}\n`, { mode: 0o600 });
	try {
		fs.linkSync(draft, dirs.owner);
	} catch (error) {
		if (errno(error) !== "EEXIST") throw error;
	} finally {
		unlinkIfThere(draft);
	}
	return readOwner(dirs) ?? own;
}

const STARTING_MS = 120_000; // a large image on a slow disk

/** Starts an instance. `apptainer` continues if this program is killed, so its pid is recorded: `startersGone`. */
export async function runStart(program: Program, args: readonly string[], dirs: InstanceDirs): Promise<Ran> {
	const file = path.join(dirs.dir, "starting");
	const note = (pid: number | undefined) => writeWhole(file, JSON.stringify((pid === undefined ? undefined : readStat(pid)) ?? {}));
	const ran = await runApptainer(program, args, { ms: STARTING_MS, onStart: note });
	unlinkIfThere(file);
	return ran;
}

/** Waits for an `instance start` whose parent was killed: Apptainer would let another one create a second instance of the same name beside it. */
export async function startersGone(dirs: InstanceDirs): Promise<void> {
	const { data } = STARTER.safeParse(JSON.parse(readIfThere(path.join(dirs.dir, "starting")) ?? "{}"));
	for (const until = performance.now() + STARTING_MS; data && isAlive(data) && performance.now() < until; ) await sleep(LOOK_MS);
}
const STARTER = z.object({ pid: z.number(), start: z.string() });

/** Returns the flags of `instance start`. */
export function startArguments(settings: ApptainerSettings, dirs: InstanceDirs, file: string, name: string): string[] {
	const { fakeroot, gpu, network, cpus, memory, pids, volumes } = settings;
	return [
		...["-q", "instance", "start", "--containall", "--overlay", dirs.overlay, "--workdir", dirs.work, "--bind", `${dirs.state}:${STATE_DIR}`],
		...volumes.flatMap(({ source, target, readOnly }) => ["--bind", `${source}:${target}:${readOnly ? "ro" : "rw"}`]),
		...(fakeroot ? ["--fakeroot"] : []),
		...(gpu ? ["--nv"] : []),
		...(network ? [] : ["--net", "--network", "none"]),
		...(cpus === undefined ? [] : ["--cpus", String(cpus)]),
		...(memory === undefined ? [] : ["--memory", String(memory)]),
		...(pids === undefined ? [] : ["--pids-limit", String(pids)]),
		...[file, name],
	];
}

const END_MS = 8_000;
const UNLISTED_MS = 5_000;
const LOOK_MS = 50;

/** Returns whether the instance runs, judged by its first process; undefined if only Apptainer can say. */
export const isRunning = ({ pid, start }: Instance): boolean | undefined => (start === "0" ? undefined : isAlive({ pid, start }));

/** Ends an instance with every process in it, and removes its logs. */
export async function endInstance(program: Program, instance: Instance): Promise<void> {
	const { name, pid, start, logs } = instance;
	/** Apptainer lists the instance for a moment after its end; until then another caller would take it for a running one. */
	const unlisted = async () => {
		for (const until = Date.now() + UNLISTED_MS; ; await sleep(LOOK_MS)) {
			if ((await findInstance(program, name))?.pid !== pid) return true;
			if (Date.now() > until) return false;
		}
	};
	const signal = (word: NodeJS.Signals) => {
		try {
			if (start !== "0" && isAlive({ pid, start })) process.kill(pid, word);
		} catch {
			// not ours to signal, or gone: Apptainer ends it
		}
	};
	// Signals the first process; when it has ended, the kernel ends the others. `instance stop` does the same and takes seconds to notice.
	signal("SIGTERM");
	for (const until = Date.now() + END_MS; start !== "0" && Date.now() < until && isAlive({ pid, start }); ) await sleep(LOOK_MS);
	let ended = await unlisted();
	if (!ended) {
		await runApptainer(program, ["instance", "stop", "--timeout", "10", name]);
		ended = await unlisted();
	}
	if (!ended) throw new HoldfastError("START_FAILED", `the Apptainer instance ${name} does not end; see: apptainer instance list`);
	for (const log of logs) fs.rmSync(log, { force: true });
}

/** Returns when this life of an instance began, as recorded by the first program that saw it. */
export function sinceWhen(dirs: InstanceDirs, { pid, start }: Instance): string {
	const dir = path.join(dirs.dir, "lives");
	const file = path.join(dir, `${pid}-${start}`);
	ensureDir(dir);
	try {
		fs.writeFileSync(file, new Date().toISOString(), { flag: "wx", mode: 0o600 });
		for (const other of namesIn(dir)) if (other !== path.basename(file)) unlinkIfThere(path.join(dir, other));
	} catch (error) {
		if (errno(error) !== "EEXIST") throw error;
	}
	return readIfThere(file)?.trim() || new Date().toISOString();
}
