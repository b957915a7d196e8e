/**
 * Processes that are to be started again when the machine is: `boot/ID.json` in the home for each that was started with `restart`. It has all that a start needs,
 * the environment too, but for what looks like a secret: of that only the names. `holdfast serve --resume` starts those again that the end of the machine has ended.
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

/** Of one login: a new one has its own. */
const OF_SESSION =
	/^(?:SSH_(?:AUTH_SOCK|AGENT_PID|CLIENT|CONNECTION|TTY)|(?:WAYLAND_)?DISPLAY|XAUTHORITY|DBUS_SESSION_BUS_ADDRESS|XDG_(?:RUNTIME_DIR|SESSION_\w+|SEAT|VTNR)|GPG_AGENT_INFO)$/;
/** Of one program. */
const OF_PROGRAM =
	/^(?:TMUX\w*|STY|WINDOW|WINDOWID|INVOCATION_ID|JOURNAL_STREAM|SYSTEMD_EXEC_PID|MANAGERPID|NOTIFY_SOCKET|LISTEN_\w+|HOLDFAST_\w+|PWD|OLDPWD|SHLVL|_)$/;

const recordSchema = z.lazy(() =>
	z.object({
		v: z.literal(1),
		options: z.custom<SpawnOptions>((value) => typeof value === "object" && value !== null),
		env: z.record(z.string(), z.string()),
		/** Names of variables that are not written down. */
		secrets: z.array(z.string()),
	}),
);
type BootRecord = z.infer<typeof recordSchema>;

const dirOf = ({ root }: Home): string => path.join(root, "boot");
const fileOf = (home: Home, id: string): string => path.join(dirOf(home), `${id}.json`);

/** Writes down what a start needs. `env`: all that the command gets. */
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

/** The variables that a process will not have when it is started again at boot. */
export const missingAtBoot = (home: Home, id: string): readonly string[] => readRecord(home, id)?.secrets ?? [];

export interface Resumed {
	/** The process that the end of the machine has ended. */
	readonly was: Process;
	readonly name: string | undefined;
	/** The one that was started in its place; undefined if none was. */
	readonly now?: Process;
	/** What a person should know of it: why it was not started, or what it lacks. */
	readonly note?: string;
}

/** Starts again what the end of the machine has ended, each once, whoever else tries. Returns what was done about each. */
export async function resume(runtime: Runtime): Promise<Resumed[]> {
	const { home } = runtime;
	if (namesIn(dirOf(home)).length === 0) return [];
	const lease = Lease.take(path.join(dirOf(home), "lease"));
	if (!lease) return []; // another program is at it
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
			const own = readRecord(home, now.id); // on record by now, under its own id
			if (own) writeRecord(home, now.id, { ...own, secrets: [...new Set([...own.secrets, ...record.secrets])] }); // also those that it lacks this time
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
		writeRecord(home, id, record); // for the next try
		if (!(error instanceof HoldfastError)) throw error;
		return { ...base, note: error.message };
	}
}

function processOf({ registry }: Runtime, id: string): Process | "corrupt" | undefined {
	try {
		return registry.matching(id)?.[0];
	} catch {
		return "corrupt"; // `doctor` names it
	}
}

/** It was told to end, has done what it was to do, or was given up. */
function isDone(process: Process): boolean {
	const status = process.status();
	return status.status === "killed" || (status.status === "exited" && readRestarts(process.dir)?.state !== "stopped");
}

/** It ended with the machine; or its start did not come to pass. What was stopped from outside while the machine went on stays ended as long as that does. */
function isToResume(process: Process): boolean {
	const [here, { host, boot }] = [hostIdentity(), process.spec.host];
	if (host !== here.host) return false;
	return boot !== here.boot || (process.status().status === "lost" && !hasStarted(process.dir));
}

/** What it had, with what this program has of a login and of secrets; nothing else of this program's own. */
function environmentOf({ env, secrets }: BootRecord): Record<string, string | undefined> {
	const own = Object.entries(ownEnvironment());
	const passed = own.filter(([name]) => OF_SESSION.test(name) || secrets.includes(name));
	return { ...Object.fromEntries(own.map(([name]) => [name, undefined])), ...env, ...Object.fromEntries(passed) };
}

function readRecord(home: Home, id: string): BootRecord | undefined {
	try {
		return recordSchema.parse(JSON.parse(readIfThere(fileOf(home, id)) ?? ""));
	} catch {
		return undefined; // cut by a full disk, or not ours
	}
}
