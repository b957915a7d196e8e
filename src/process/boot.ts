/**
 * Processes to start again after a reboot: `boot/ID.json` in the home for each process that was started with `restart`. The file holds all that a
 * start needs, with the environment; of variables that look like secrets it holds only the names. `holdfast serve --resume` starts the processes that
 * a reboot has ended.
 */
import path from "node:path";
import * as z from "zod";
import {
	ensureDir,
	HoldfastError,
	type Home,
	hostIdentity,
	isSecret,
	Lease,
	namesIn,
	ownEnvironment,
	readIfThere,
	unlinkIfThere,
	writeWhole,
} from "../base/index.js";
import { hasStarted, type Spec } from "../keeper/index.js";
import { nameOf, runningCalled } from "./names.js";
import type { SpawnOptions, StartRequest } from "./options.js";
import type { Process } from "./process.js";
import { readRestarts } from "./restart.js";
import type { Runtime } from "./runtime.js";

/** Variables of one login session: a new login has its own. */
const OF_SESSION =
	/^(?:SSH_(?:AUTH_SOCK|AGENT_PID|CLIENT|CONNECTION|TTY)|(?:WAYLAND_)?DISPLAY|XAUTHORITY|DBUS_SESSION_BUS_ADDRESS|XDG_(?:RUNTIME_DIR|SESSION_\w+|SEAT|VTNR)|GPG_AGENT_INFO)$/;
/** Variables of one program. */
const OF_PROGRAM =
	/^(?:TMUX\w*|STY|WINDOW|WINDOWID|INVOCATION_ID|JOURNAL_STREAM|SYSTEMD_EXEC_PID|MANAGERPID|NOTIFY_SOCKET|LISTEN_\w+|HOLDFAST_\w+|PWD|OLDPWD|SHLVL|_)$/;

const recordSchema = z.lazy(() =>
	z.object({
		v: z.literal(1),
		options: z.custom<SpawnOptions>((value) => typeof value === "object" && value !== null),
		env: z.record(z.string(), z.string()),
		/** Names of the variables whose values are not written. */
		secrets: z.array(z.string()),
	}),
);
type BootRecord = z.infer<typeof recordSchema>;

const dirOf = ({ root }: Home): string => path.join(root, "boot");
const fileOf = (home: Home, id: string): string => path.join(dirOf(home), `${id}.json`);

/** Writes the boot record of a process. `env`: the whole environment of the command. */
export function noteForBoot(home: Home, { id, cwd, task }: Spec, wanted: StartRequest, env: Readonly<Record<string, string>>): void {
	const { env: _, ...options } = wanted;
	const named = Object.entries(env).filter(([name]) => !OF_SESSION.test(name) && !OF_PROGRAM.test(name));
	const secrets = named.filter(([name, value]) => isSecret(home.secrets, name, value)).map(([name]) => name);
	const record: BootRecord = {
		v: 1,
		options: { ...options, cwd, task } as SpawnOptions,
		env: Object.fromEntries(named.filter(([name]) => !secrets.includes(name))),
		secrets,
	};
	writeRecord(home, id, record);
}

function writeRecord(home: Home, id: string, record: BootRecord): void {
	ensureDir(dirOf(home));
	writeWhole(fileOf(home, id), JSON.stringify(record));
}

export const forgetForBoot = (home: Home, id: string): void => unlinkIfThere(fileOf(home, id));

/** Returns the names of the variables that a process will lack when it is started again at boot. */
export const missingAtBoot = (home: Home, id: string): readonly string[] => readRecord(home, id)?.secrets ?? [];

export interface Resumed {
	/** The process that the reboot ended. */
	readonly was: Process;
	readonly name: string | undefined;
	/** Its replacement; undefined if none was started. */
	readonly now?: Process;
	/** For a person: why it was not started, or which variables it lacks. */
	readonly note?: string;
}

/** Starts the processes that a reboot has ended, each once even if several programs resume at the same time. Returns the outcome for each. */
export async function resume(runtime: Runtime): Promise<Resumed[]> {
	const { home } = runtime;
	if (namesIn(dirOf(home)).length === 0) return [];
	const lease = Lease.take(path.join(dirOf(home), "lease"));
	if (!lease) return []; // another program is resuming
	try {
		const done: Resumed[] = [];
		for (const file of namesIn(dirOf(home)).filter((name) => /^proc_[0-9a-f]{12}\.json$/.test(name))) {
			const found = await resumeOne(runtime, file.slice(0, -".json".length));
			if (found) done.push(found);
		}
		return done;
	} finally {
		lease.release();
	}
}

async function resumeOne(runtime: Runtime, id: string): Promise<Resumed | undefined> {
	const { home } = runtime;
	const record = readRecord(home, id);
	const was = processOf(runtime, id);
	if (was === "corrupt") return undefined;
	if (!record || !was || isDone(was)) {
		forgetForBoot(home, id);
		return undefined;
	}
	if (!isToResume(was)) return undefined;
	const name = nameOf(was);
	const base = { was, name };
	const [other] = name === undefined ? [] : runningCalled(runtime, name, { task: was.spec.task });
	if (other) return { ...base, note: `${other.id} runs under its name` };
	try {
		const prepare = (now: Process) => {
			const own = readRecord(home, now.id); // `spawn` has written a record under the new id
			if (own) writeRecord(home, now.id, { ...own, secrets: [...new Set([...own.secrets, ...record.secrets])] }); // also the secrets that are missing this time
			forgetForBoot(home, id);
		};
		const now = await runtime.spawn({ ...record.options, ...(name === undefined ? {} : { name }), env: environmentOf(record) }, { prepare });
		const lacking = record.secrets.filter((variable) => ownEnvironment()[variable] === undefined);
		return {
			...base,
			now,
			...(lacking.length === 0 ? {} : { note: `without ${lacking.join(", ")}, which ${lacking.length === 1 ? "is" : "are"} not written down` }),
		};
	} catch (error) {
		writeRecord(home, id, record); // for the next attempt
		if (!(error instanceof HoldfastError)) throw error;
		return { ...base, note: error.message };
	}
}

function processOf({ registry }: Runtime, id: string): Process | "corrupt" | undefined {
	try {
		return registry.matching(id)?.[0];
	} catch {
		return "corrupt"; // `doctor` reports it
	}
}

/** Returns true if the process was killed, has finished, or was given up. */
function isDone(process: Process): boolean {
	const status = process.status();
	return status.status === "killed" || (status.status === "exited" && readRestarts(process.dir)?.state !== "stopped");
}

/**
 * Returns true if the process ended with the machine, or if its start did not complete. A process that was stopped from outside is not resumed until
 * the next reboot.
 */
function isToResume(process: Process): boolean {
	const [here, { host, boot }] = [hostIdentity(), process.spec.host];
	if (host !== here.host) return false;
	return boot !== here.boot || (process.status().status === "lost" && !hasStarted(process.dir));
}

/** Returns the recorded environment plus this program's login and secret variables; removes all other variables of this program. */
function environmentOf({ env, secrets }: BootRecord): Record<string, string | undefined> {
	const own = Object.entries(ownEnvironment());
	const passed = own.filter(([name]) => OF_SESSION.test(name) || secrets.includes(name));
	return { ...Object.fromEntries(own.map(([name]) => [name, undefined])), ...env, ...Object.fromEntries(passed) };
}

function readRecord(home: Home, id: string): BootRecord | undefined {
	try {
		return recordSchema.parse(JSON.parse(readIfThere(fileOf(home, id)) ?? ""));
	} catch {
		return undefined; // truncated by a full disk, or a foreign file
	}
}
