/** A start: what is written into the directory of a process before it, and how it is known that it ran. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { childEnvironment } from "../base/environment.js";
import { HoldfastError } from "../base/errors.js";
import { isId } from "../base/ids.js";
import { hostIdentity } from "../base/proc.js";
import { shellQuote } from "../base/quote.js";
import { Wakeup } from "../base/watch.js";
import { BEFORE_START, neverStarts } from "../keeper/again.js";
import { type Berth, fill } from "../keeper/keepers.js";
import { hasStarted, recordParts, STARTER_GONE } from "../keeper/layout.js";
import { loneAt } from "../keeper/lone.js";
import { exportLines, type Plan } from "../keeper/plan.js";
import type { Tools } from "../keeper/tools.js";
import type { Place } from "../places/place.js";
import { CONTAINER } from "./limits.js";
import { LIMITS, type Wanted } from "./options.js";
import type { Process } from "./process.js";
import type { Runtime } from "./runtime.js";
import { COMMAND_SHOWN, type Spec, type SpecLimits, writeSpec } from "./spec.js";
import { isOver, readStatus } from "./status.js";

const FAR_START_MS = 60_000;

/** What our own rooms may ask for besides. */
export interface OwnSpawn {
	readonly kind?: "shell" | "sandbox";
	/** For what must be on disk before it runs; if it throws, nothing does. */
	prepare?(process: Process): void;
	/** What keeps a sandbox: the words, which can be long, and what there is to know of it. */
	command?(id: string): { readonly argv: readonly string[]; readonly view: NonNullable<Spec["view"]> };
}

interface Order {
	readonly wanted: Wanted;
	readonly own: OwnSpawn;
	readonly task: string;
	readonly cwd: string;
	readonly place: Place;
	/** What there is to start it with, and the environment of whoever starts it. */
	readonly tools: Tools;
	readonly environment: NodeJS.ProcessEnv;
}

/** What writes it into a berth, and gives what the keeper is to do. It may be called again, for another berth. */
export function orderOf(
	runtime: Pick<Runtime, "boundaries" | "config" | "registry" | "self">,
	{ wanted, own, task, cwd, place, tools, environment }: Order,
): (berth: Berth) => { spec: Spec; plan: Plan } {
	const text = typeof wanted.command === "string";
	const terminal = wanted.terminal ? { cols: 120, rows: 30, ...(wanted.terminal === true ? {} : wanted.terminal) } : undefined;
	const log = { limit: wanted.log?.limit ?? LIMITS.logBytes, full: wanted.log?.full ?? ("ring" as const) };
	const shell = tools.bash ? ("bash" as const) : ("sh" as const);
	const shown = text
		? (wanted.command as string)
		: (wanted.command as string[]).map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word))).join(" ");
	const stdin = wanted.stdin ?? true;
	const lone = terminal && text && shell === "bash" ? loneAt(wanted.command as string) : undefined;
	const bounds = runtime.boundaries.forProcess(wanted.limits, own.kind);
	return ({ id, dir, group }) => {
		const limits = inContainer(runtime.boundaries.apply(group, bounds, place.box?.name), place.box?.memory?.most);
		const keeping = own.command?.(id);
		const argv = keeping?.argv ?? (text ? undefined : (wanted.command as string[]));
		const spec: Spec = {
			v: 1,
			id,
			...(wanted.name === undefined ? {} : { name: wanted.name }),
			task,
			command: shown.slice(0, COMMAND_SHOWN),
			...(argv ? { argv: wanted.command as string[] } : { shell }),
			cwd,
			stdin,
			...(isId(process.env.HOLDFAST_ID ?? "") ? { parent: process.env.HOLDFAST_ID as string } : {}),
			...(own.kind ? { kind: own.kind } : {}),
			...(keeping ? { view: keeping.view } : {}),
			...(place.sandbox ? { sandbox: place.sandbox.id, ...(place.sandbox.ownNetwork ? { ownNetwork: true } : {}) } : {}),
			...(terminal ? { terminal: { ...terminal, by: tools.pty?.name ?? "" } } : {}),
			log,
			place: place.name,
			...(place.box ? { box: place.box.key } : {}),
			kill: group?.kill ? "cgroup" : place.sandbox ? "namespace" : tools.subreaper ? "subreaper" : "walk",
			...(group?.kill ? { cgroup: group.kill } : {}),
			...(limits ? { limits } : {}),
			startedAt: Date.now(),
			host: hostIdentity(),
			starter: { pid: runtime.self.pid, start: runtime.self.start },
		};
		fill(dir, "command", argv ? `set -- ${argv.map(shellQuote).join(" ")}\n` : (wanted.command as string));
		writeSpec(dir, spec);
		own.prepare?.(runtime.registry.process(spec));
		const env = childEnvironment(
			environment,
			{ ...(terminal ? { TERM: "xterm-256color" } : {}), ...wanted.env, HOLDFAST_ID: id },
			runtime.config.environment,
			task,
		);
		for (const name of place.sandbox?.without ?? []) delete env[name];
		if (place.sandbox) fs.writeFileSync(path.join(dir, "environment"), exportLines(env), { mode: 0o600 });
		if (terminal && place.sandbox) {
			execFileSync(tools.mkfifo, ["-m", "600", path.join(dir, "ticks")], { env: {} });
			const functions = fs.existsSync(path.join(dir, "functions")) ? ["functions"] : [];
			place.sandbox.share(id, dir, ["command", "environment", "exit", "ticks", ...functions]);
		}
		const entry = place.sandbox?.entry(id);
		const umask = place.box ? 0o022 : process.umask();
		const plan: Plan = { cwd, env, mode: text ? shell : "argv", stdin, terminal, lone, log, umask, limits: bounds.kept, ...(entry ? { entry } : {}) };
		return { spec, plan };
	};
}

/** Wait for the command's pid. What failed before that never ran, and leaves nothing behind. */
export async function untilStarted(
	{ registry, home, cgroups }: Pick<Runtime, "registry" | "home" | "cgroups">,
	started: Process,
	keeperGone: Promise<void>,
): Promise<void> {
	const wakeup = new Wakeup();
	const unwatch = started.watch(wakeup.poke);
	let gone = false;
	void keeperGone.then(() => {
		gone = true;
		wakeup.poke();
	});
	const deadline = performance.now() + (started.spec.box === undefined ? Number.POSITIVE_INFINITY : FAR_START_MS);
	try {
		for (;;) {
			const never = gone && neverStarts(started.dir);
			if (!never && hasStarted(started.dir) && started.pid !== null && recordParts(started.dir)) return;
			if (performance.now() > deadline)
				throw new HoldfastError(
					"UNREACHABLE",
					`it is not known whether ${started.id} has been started on ${started.spec.place}: no word came from there; look at it again later`,
				);
			const status = readStatus(started.dir, started.spec);
			if (started.spec.sandbox !== undefined && hasStarted(started.dir)) {
				if (isOver(status)) return; // it was so short that nobody has seen it
				await sleep(1); // on its way in: nothing tells when it is there
				continue;
			}
			if (status.status === "error" || status.status === "lost" || never) {
				await keeperGone;
				const refused = status.status === "error" && status.reason !== STARTER_GONE; // for a reason that stays
				const cause = !refused && neverStarts(started.dir) ? BEFORE_START : undefined;
				registry.remove(started.id, path.join(home.live, started.id));
				if (started.spec.limits?.group) cgroups?.remove(started.spec.limits.group);
				const reason = "reason" in status ? status.reason : "its keeper was killed before the start; try again";
				const where = started.spec.box !== undefined && reason.includes("working directory") ? ` (${started.spec.cwd})` : "";
				throw new HoldfastError(startFailure(reason), `nothing ran: ${reason}${where}`, { cause });
			}
			await wakeup.next(1_000);
		}
	} finally {
		unwatch();
	}
}

/** For `prepare`: shell text that is to be read before the command, if that is shell text too. No environment variable for it would pass through sh. */
export const exportFunctions = ({ dir }: Process, text: string): void => fs.writeFileSync(path.join(dir, "functions"), text, { mode: 0o600 });

/** A task has a container of its own. */
function inContainer(limits: SpecLimits | undefined, memory: number | undefined): SpecLimits | undefined {
	if (memory === undefined) return limits;
	return { process: limits?.process ?? {}, task: { ...limits?.task, memory }, by: { ...limits?.by, memory: CONTAINER } };
}

function startFailure(reason: string): "NO_SPACE" | "START_FAILED" {
	if (reason.startsWith("no room")) return "NO_SPACE";
	return "START_FAILED";
}
