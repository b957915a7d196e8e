/** Starts a process: writes its directory, then waits until the command runs. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { childEnvironment, HoldfastError, hostIdentity, isId, shellQuote, until, watchAll, watchEnd } from "../base/index.js";
import {
	BEFORE_START,
	type Berth,
	COMMAND_SHOWN,
	exportLines,
	fill,
	hasStarted,
	loneAt,
	neverStarts,
	type Plan,
	recordParts,
	type Spec,
	type SpecLimits,
	STARTER_GONE,
	writeSpec,
} from "../keeper/index.js";
import type { Equipment, Place } from "../places/index.js";
import { noteForBoot } from "./boot.js";
import { CONTAINER } from "./limits.js";
import { LIMITS, type StartRequest } from "./options.js";
import type { Process } from "./process.js";
import { restarting } from "./restart.js";
import type { Runtime } from "./runtime.js";
import { isOver, readStatus } from "./status.js";

/** Interval of checks for what causes no event: a keeper that was killed before it wrote anything. */
const LOOK_MS = 1_000;
/** Interval while the command enters a sandbox: no event tells when it has, and the caller waits. */
const ENTERING_MS = 1;

/** Further options, for Holdfast's own rooms. */
export interface OwnSpawn {
	readonly kind?: "shell" | "sandbox";
	/** The id of the call that starts it. */
	readonly call?: string | undefined;
	/** Writes what must be on disk before the process runs; if it throws, nothing runs. */
	prepare?(process: Process): void;
	/** For a sandbox: returns its argv, which can be long, and its view. */
	command?(id: string): { readonly argv: readonly string[]; readonly view: NonNullable<Spec["view"]> };
}

interface Order {
	readonly wanted: StartRequest;
	readonly own: OwnSpawn;
	readonly task: string;
	readonly cwd: string;
	readonly place: Place;
	readonly equipment: Equipment;
}

/** Returns a function that writes a start into a berth and returns the keeper's orders. It may be called again for another berth. */
export function orderOf(
	runtime: Pick<Runtime, "boundariesOf" | "config" | "registry" | "self">,
	{ wanted, own, task, cwd, place, equipment }: Order,
): (berth: Berth) => { spec: Spec; plan: Plan } {
	const { tools, environment, umask } = equipment;
	const text = typeof wanted.command === "string";
	const terminal = wanted.terminal ? { cols: 120, rows: 30, ...(wanted.terminal === true ? {} : wanted.terminal) } : undefined;
	const log = { limit: wanted.log?.limit ?? LIMITS.logBytes, full: wanted.log?.full ?? ("ring" as const) };
	const shell = tools.bash ? ("bash" as const) : ("sh" as const);
	const shown = text
		? (wanted.command as string)
		: (wanted.command as string[]).map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word))).join(" ");
	const stdin = wanted.stdin ?? true;
	const lone = terminal && text && shell === "bash" && !wanted.restart ? loneAt(wanted.command as string) : undefined;
	const bounds = runtime.boundariesOf(task).forProcess(wanted.limits, own.kind);
	return ({ id, dir, group }) => {
		const limits = inContainer(runtime.boundariesOf(task).apply(group, bounds, place.machine), equipment.memory?.most);
		const keeping = own.command?.(id);
		const again = wanted.restart && restarting(wanted.restart, dir, wanted.command, tools);
		const argv = keeping?.argv ?? again ?? (text ? undefined : (wanted.command as string[]));
		const spec: Spec = {
			v: 1,
			id,
			...(wanted.name === undefined ? {} : { name: wanted.name }),
			task,
			command: shown.slice(0, COMMAND_SHOWN),
			...(text ? { shell } : { argv: wanted.command as string[] }),
			...(wanted.restart ? { restart: wanted.restart } : {}),
			cwd,
			stdin,
			...(isId(process.env.HOLDFAST_ID ?? "") ? { parent: process.env.HOLDFAST_ID as string } : {}),
			...(own.call === undefined ? {} : { call: own.call }),
			...(own.kind ? { kind: own.kind } : {}),
			...(keeping ? { view: keeping.view } : {}),
			...(place.sandbox ? { sandbox: place.sandbox.id, ...(place.sandbox.ownNetwork ? { ownNetwork: true } : {}) } : {}),
			...(terminal ? { terminal: { ...terminal, by: tools.pty?.name ?? "" } } : {}),
			log,
			place: place.name,
			box: place.machine.key,
			kill: group?.kill ? "cgroup" : place.sandbox ? "namespace" : tools.subreaper ? "subreaper" : "walk",
			...(group?.kill ? { cgroup: group.kill } : {}),
			...(limits ? { limits } : {}),
			startedAt: Date.now(),
			host: hostIdentity(),
			starter: { pid: runtime.self.pid, start: runtime.self.start },
		};
		fill(dir, "command", argv ? `set -- ${argv.map(shellQuote).join(" ")}\n` : (wanted.command as string));
		writeSpec(dir, spec);
		const env = childEnvironment(
			runtime.registry.home.secrets,
			environment,
			{ ...(terminal ? { TERM: "xterm-256color" } : {}), ...wanted.env, HOLDFAST_ID: id },
			runtime.config.environment,
			task,
		);
		for (const name of place.sandbox?.without ?? []) delete env[name];
		if (wanted.restart) noteForBoot(runtime.registry.home, spec, wanted, env);
		own.prepare?.(runtime.registry.process(spec));
		if (place.sandbox) fs.writeFileSync(path.join(dir, "environment"), exportLines(env), { mode: 0o600 });
		if (terminal && place.sandbox) {
			execFileSync(tools.mkfifo, ["-m", "600", path.join(dir, "ticks")], { env: {} });
			const functions = fs.existsSync(path.join(dir, "functions")) ? ["functions"] : [];
			place.sandbox.share(id, dir, ["command", "environment", "exit", "ticks", ...functions]);
		}
		const entry = place.sandbox?.entry(id);
		const plan: Plan = { cwd, env, mode: argv ? "argv" : shell, stdin, terminal, lone, log, umask, limits: bounds.kept, ...(entry ? { entry } : {}) };
		return { spec, plan };
	};
}

/** Waits for the command's pid. A start that failed earlier ran nothing, and leaves nothing behind. */
export async function untilStarted(
	{ registry, home, cgroups }: Pick<Runtime, "registry" | "home" | "cgroups">,
	started: Process,
	keeperGone: Promise<void>,
): Promise<void> {
	let gone = false;
	let entering = false; // the command is entering a sandbox
	void keeperGone.then(() => {
		gone = true;
	});
	const look = async (): Promise<true | undefined> => {
		const never = gone && neverStarts(started.dir);
		if (!never && hasStarted(started.dir) && started.pid !== null && recordParts(started.dir)) return true;
		const status = readStatus(started.dir, started.spec);
		entering = started.spec.sandbox !== undefined && hasStarted(started.dir);
		if (entering) return isOver(status) || undefined; // over: too short for any check to see it run
		if (status.status !== "error" && status.status !== "lost" && !never) return undefined;
		await keeperGone;
		const refused = status.status === "error" && status.reason !== STARTER_GONE; // for a permanent reason
		const cause = !refused && neverStarts(started.dir) ? BEFORE_START : undefined;
		registry.remove(started.id, path.join(home.live, started.id));
		if (started.spec.limits?.group) cgroups?.remove(started.spec.limits.group);
		const reason = "reason" in status ? status.reason : "its keeper was killed before the start; try again";
		const where = reason.includes("working directory") ? ` (${started.spec.cwd})` : "";
		throw new HoldfastError(startFailure(reason), `nothing ran: ${reason}${where}`, { cause });
	};
	const watch = watchAll((poke) => started.watch(poke), watchEnd(keeperGone));
	const deadline = performance.now() + started.machine.keepers.startMs;
	if (await until(watch, look, { deadline, every: () => (entering ? ENTERING_MS : LOOK_MS) })) return;
	throw new HoldfastError(
		"UNREACHABLE",
		`it is not known whether ${started.id} has been started on ${started.spec.place}: no word came from there; look at it again later`,
	);
}

/**
 * For `prepare`: writes shell text that is read before the command, if that is shell text too. sh would not pass on an environment variable with such
 * a name.
 */
export const exportFunctions = ({ dir }: Process, text: string): void => fs.writeFileSync(path.join(dir, "functions"), text, { mode: 0o600 });

/** Adds the memory limit of a task's own container. */
function inContainer(limits: SpecLimits | undefined, memory: number | undefined): SpecLimits | undefined {
	if (memory === undefined) return limits;
	return { process: limits?.process ?? {}, task: { ...limits?.task, memory }, by: { ...limits?.by, memory: CONTAINER } };
}

function startFailure(reason: string): "NO_SPACE" | "START_FAILED" {
	if (reason.startsWith("no room")) return "NO_SPACE";
	return "START_FAILED";
}
