/** The library's front door: a runtime is one program's view of a home. It holds nothing that matters. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { type Config, loadConfig, type SandboxOptions } from "../base/config.js";
import { childEnvironment, knowOwnSecrets } from "../base/environment.js";
import { fromSystem, HoldfastError } from "../base/errors.js";
import { readIfThere } from "../base/files.js";
import { type Home, openHome } from "../base/home.js";
import { isId, taskKey } from "../base/ids.js";
import { limitsSchema, processLimitsSchema } from "../base/limits.js";
import { ownEnvironment } from "../base/own-secrets.js";
import { checked } from "../base/problems.js";
import { hostIdentity, type Identity, readStat } from "../base/proc.js";
import { counted } from "../base/quantity.js";
import { shellQuote } from "../base/quote.js";
import { knowSecret } from "../base/secrets/index.js";
import { probeEvents, Wakeup } from "../base/watch.js";
import { BEFORE_START, neverStarts, tryAgain } from "../keeper/again.js";
import { type Cgroups, findCgroups } from "../keeper/cgroup.js";
import { type Berth, fill, type Held, Keepers } from "../keeper/keepers.js";
import { hasStarted, recordParts, STARTER_GONE } from "../keeper/layout.js";
import { exportLines, type Plan } from "../keeper/plan.js";
import { readThere } from "../keeper/there.js";
import type { Tools } from "../keeper/tools.js";
import { isRemote, type PlaceWish, placeFrom, placeKey, placeName } from "../places/address.js";
import { Boxes } from "../places/boxes.js";
import type { Box } from "../places/far/box.js";
import { FarKeepers } from "../places/far/keepers.js";
import { forgetPlaces } from "../places/forget.js";
import { local, type Place } from "../places/place.js";
import { Boundaries } from "./boundaries.js";
import { CONTAINER } from "./limits.js";
import type { Process } from "./process.js";
import { type PruneOptions, type PruneResult, prune } from "./prune.js";
import { Registry } from "./registry.js";
import { Runaways } from "./runaway.js";
import { Sandboxes } from "./sandboxes.js";
import { COMMAND_SHOWN, type Spec, type SpecLimits, writeSpec } from "./spec.js";
import { isOver, readStatus } from "./status.js";

export const DAY_MS = 24 * 3_600_000;
export const LIMITS = {
	runningPerTask: 64,
	logBytes: 64 * 1024 * 1024,
	keepMs: 7 * DAY_MS,
	quotaBytes: 16 * 1024 ** 3,
} as const;

const COUNT_MS = 200;
const FAR_START_MS = 60_000;
const GROUP_UNUSED_MS = 3_600_000; // a warm keeper may have one that is still empty
const PRUNE_EVERY_MS = 5 * 60_000;

const runtimeSchema = z.strictObject({
	home: z.string().min(1).optional(),
	task: z.string().min(1).max(1000).optional(),
	maxRunning: z.number().int().min(1).optional(),
	quotaBytes: z.number().int().min(0).optional(),
	keepMs: z.number().min(0).optional(),
	/** Keepers to have ready. 0 for programs that start one thing and go. */
	warm: z.number().int().min(0).max(16).optional(),
	/** Control groups for killing: `off` never makes any. */
	cgroup: z.enum(["auto", "off"]).optional(),
	tools: z.custom<Tools>().optional(),
	/** What processes and tasks may use of the machine; default: what config.json says. */
	resourceLimits: limitsSchema.optional(),
	/** Where commands run: an address, or a name from config.json. */
	place: z.string().max(8_192).optional(),
	/** For `local+sandbox`, on top of what config.json says. */
	sandbox: z.custom<SandboxOptions>((value) => typeof value === "object" && value !== null).optional(),
});
export type RuntimeOptions = z.input<typeof runtimeSchema>;
type Settled = z.output<typeof runtimeSchema>;

const noNul = (what: string) => z.string().refine((text) => !text.includes("\0"), `${what} cannot contain a NUL byte`);

const spawnSchema = z.strictObject({
	/** Shell text, run by bash as it is; or a program and its arguments, run without a shell. */
	command: z.union([
		noNul("a command").refine((text) => text.trim() !== "", "the command is empty"),
		z.array(noNul("an argument")).min(1, "the command is empty"),
	]),
	cwd: noNul("cwd").optional(),
	/** Added to the filtered environment of this program; undefined removes a variable. */
	env: z.record(z.string(), noNul("a variable").optional()).optional(),
	stdin: z.boolean().optional(),
	terminal: z.union([z.boolean(), z.strictObject({ cols: z.number().int().min(1).max(10_000), rows: z.number().int().min(1).max(10_000) })]).optional(),
	name: noNul("a name").max(200).optional(),
	task: z.string().min(1).max(1000).optional(),
	log: z
		.strictObject({
			limit: z
				.number()
				.int()
				.min(64 * 1024)
				.max(2 ** 50)
				.optional(),
			full: z.enum(["ring", "block"]).optional(),
		})
		.optional(),
	/** What it may use of the machine, on top of what the runtime says; null: no limit. */
	limits: processLimitsSchema.optional(),
});
export type SpawnOptions = z.input<typeof spawnSchema>;
type Wanted = z.output<typeof spawnSchema>;

export interface ListOptions {
	/** Only this task; default: the runtime's own. `null`: every task. */
	readonly task?: string | null;
	/** Also those that ended in the last half hour. Default true. */
	readonly ended?: boolean;
	/** Also the persistent shells of tasks. Default false. */
	readonly shells?: boolean;
}

export interface SyncOptions extends Pick<ListOptions, "task" | "shells"> {
	readonly reached?: boolean;
	readonly signal?: AbortSignal;
	readonly ms?: number;
}

/** What our own rooms may ask for besides. */
export interface OwnSpawn {
	readonly kind?: "shell" | "sandbox";
	/** For what must be on disk before it runs; if it throws, nothing does. */
	prepare?(process: Process): void;
	/** What keeps a sandbox: the words, which can be long, and what there is to know of it. */
	command?(id: string): { readonly argv: readonly string[]; readonly view: NonNullable<Spec["view"]> };
}

export async function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
	return new Runtime(...(await prepareRuntime(options)));
}

/** What a runtime, or one that does more than this one, is made of. */
export async function prepareRuntime(options: RuntimeOptions): Promise<[Home, Settled]> {
	const parsed = parse(runtimeSchema, options, "openRuntime");
	const home = openHome(parsed.home === undefined ? undefined : path.resolve(parsed.home));
	await probeEvents(home.root);
	const directory = parsed.place?.startsWith("local:/") ? parsed.place.slice("local:".length) : undefined;
	if (directory !== undefined) checkDirectory(directory, local());
	return [home, parsed];
}

export class Runtime implements AsyncDisposable {
	readonly home: Home;
	readonly task: string;
	readonly registry: Registry;
	readonly #keepers: Keepers;
	readonly #far = new Map<Box, FarKeepers>();
	/** Other machines that processes of this home are on. */
	readonly boxes: Boxes;
	readonly #ownBoxes: boolean;
	readonly #options: Settled;
	#boundaries: Boundaries | undefined;
	/** Where the commands of its tasks run. */
	readonly wish: PlaceWish;
	readonly #runaways: Runaways;
	/** This very program. */
	readonly self: Identity = readStat(process.pid) ?? { pid: process.pid, start: "0" };
	/** A directory with programs for the shells of tasks, first in their PATH. */
	bin: string | undefined;
	#config: Config | undefined;
	#pruned = 0;
	#pruneTimer: NodeJS.Timeout | undefined;
	/** By task: starts that are not in the registry yet. */
	readonly #starting = new Map<string, number>();
	#counted = { at: Number.NEGATIVE_INFINITY, live: 0 };
	readonly sandboxes: Sandboxes | undefined;

	/** `boxes`: those of another runtime on the same home, which closes them. */
	constructor(home: Home, options: Settled, boxes?: Boxes) {
		this.home = home;
		this.task = options.task ?? "default";
		this.#options = options;
		this.wish = placeFrom(options.place ?? "local", () => this.config);
		const cgroups = options.cgroup === "off" ? undefined : findCgroups();
		this.boxes = boxes ?? new Boxes(home, (key) => this.#runsOn(key));
		this.#ownBoxes = boxes === undefined;
		this.registry = new Registry(home, cgroups, (spec) => this.boxes.of(spec));
		this.#runaways = new Runaways(cgroups);
		this.registry.onEnd = (id) => this.#runaways.ended(id);
		this.#keepers = new Keepers(home, options.tools, cgroups, {
			warm: options.warm ?? 2,
			task: this.task,
			group: (task, id) => this.boundaries.group(taskKey(`${home.root}\0${task}`), id),
		});
		this.#keepers.warmUp();
		knowOwnSecrets(ownEnvironment());
		knowSecret((readIfThere(path.join(home.root, "token")) ?? "").trim(), { sure: true }); // it opens the HTTP door
		if (this.wish.kind === "sandbox") this.sandboxes = new Sandboxes(this, options.sandbox);
	}

	get placeName(): string {
		return placeName(this.wish);
	}

	/** What files about a task's use of the place have in their names. */
	placeKey(task: string): string {
		return placeKey(this.wish, task);
	}

	/** Where a new shell of this machine starts. */
	get directory(): string {
		return (this.wish.kind === "local" ? this.wish.directory : undefined) ?? process.cwd();
	}

	/** Where the commands of a task run. A sandbox is made if need be; what cannot be had is an error, never another place. */
	async place(task: string): Promise<Place> {
		if (this.sandboxes) return this.sandboxes.of(task);
		if (isRemote(this.wish)) {
			const box = this.boxes.forTask(this.wish, task);
			return { name: this.placeName, cwd: (await box.ready()).cwd, at: (file) => file, box };
		}
		return local(this.directory);
	}

	get tools(): Tools {
		return this.#keepers.tools;
	}

	/** What a person has set. Read when first needed: a file that is wrong does not keep anybody from looking at what runs. */
	get config(): Config {
		this.#config ??= loadConfig();
		return this.#config;
	}

	/** What processes and tasks may use of the machine. */
	get boundaries(): Boundaries {
		this.#boundaries ??= new Boundaries(this.#options.resourceLimits ?? this.config.limits, this.cgroups);
		return this.#boundaries;
	}

	get cgroups(): Cgroups | undefined {
		return this.#keepers.cgroups;
	}

	/** Start a process that outlives this program. Resolves once it runs; throws if nothing ran. */
	async spawn(options: SpawnOptions, own: OwnSpawn = {}): Promise<Process> {
		const wanted = parse(spawnSchema, options, "spawn");
		const task = wanted.task ?? this.task;
		const place = own.kind === "sandbox" ? local() : await this.place(task);
		const cwd = place.box ? path.resolve(place.cwd, wanted.cwd ?? ".") : checkDirectory(wanted.cwd ?? this.directory, place);
		const { tools } = await this.#equipment(place);
		if (wanted.terminal && !tools.pty)
			throw new HoldfastError(
				"NO_TERMINAL",
				`${place.box?.name ?? "this box"} cannot make a terminal: it has neither script(1) of util-linux, python3 nor perl (and stty); install one, or start it without a terminal`,
			);
		const count = (by: number) => this.#starting.set(task, (this.#starting.get(task) ?? 0) + by);
		let counted = true;
		const known = () => {
			if (counted) count(-1);
			counted = false;
		};
		count(1);
		try {
			if (own.kind === undefined) this.#checkLimit(task);
			const start = () => this.#start(wanted, { cwd, place }, task, known, own);
			return await (place.box ? start() : tryAgain(start)); // of what is far away it may not be known whether it has started
		} catch (error) {
			throw fromSystem(error, "cannot start a process");
		} finally {
			known();
		}
	}

	/** A log for a foreground command of a shell. */
	hold(box?: Box, { spare = false }: { spare?: boolean } = {}): Promise<Held> {
		if (box) return this.#keepersOn(box).hold(this.boundaries.forCommand(), { spare });
		return this.#keepers.hold(this.boundaries.forCommand()).finally(() => this.#keepers.warmUp());
	}

	#keepersOn(box: Box): FarKeepers {
		const known = this.#far.get(box) ?? new FarKeepers(this.home, box);
		this.#far.set(box, known);
		return known;
	}

	/** What there is to start things with, and the environment of whoever starts them. */
	async #equipment({ box }: Place): Promise<{ tools: Tools; environment: NodeJS.ProcessEnv }> {
		return box ? box.ready() : { tools: this.#keepers.tools, environment: ownEnvironment() };
	}

	/** See to it that what it starts without end is ended. For a shell that another runtime has started. */
	watchFor(process: Process): void {
		this.#runaways.watch(process);
	}

	/** Calls `known` when the registry has it. */
	async #start(wanted: Wanted, { cwd, place }: { cwd: string; place: Place }, task: string, known: () => void, own: OwnSpawn): Promise<Process> {
		const { tools, environment } = await this.#equipment(place);
		const text = typeof wanted.command === "string";
		const terminal = wanted.terminal ? { cols: 120, rows: 30, ...(wanted.terminal === true ? {} : wanted.terminal) } : undefined;
		const log = { limit: wanted.log?.limit ?? LIMITS.logBytes, full: wanted.log?.full ?? ("ring" as const) };
		const shell = tools.bash ? ("bash" as const) : ("sh" as const);
		const shown = text
			? (wanted.command as string)
			: (wanted.command as string[]).map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word))).join(" ");
		const stdin = wanted.stdin ?? true;
		let spec: Spec | undefined;
		const bounds = this.boundaries.forProcess(wanted.limits, own.kind);
		const prepare = ({ id, dir, group }: Berth): Plan => {
			const limits = inContainer(this.boundaries.apply(group, bounds, place.box?.name), place.box?.memory?.most);
			const keeping = own.command?.(id);
			const argv = keeping?.argv ?? (text ? undefined : (wanted.command as string[]));
			spec = {
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
				starter: { pid: this.self.pid, start: this.self.start },
			};
			fill(dir, "command", argv ? `set -- ${argv.map(shellQuote).join(" ")}\n` : (wanted.command as string));
			writeSpec(dir, spec);
			own.prepare?.(this.registry.process(spec));
			const env = childEnvironment(environment, { ...(terminal ? { TERM: "xterm-256color" } : {}), ...wanted.env, HOLDFAST_ID: id }, this.config.environment);
			for (const name of place.sandbox?.without ?? []) delete env[name];
			if (place.sandbox) fs.writeFileSync(path.join(dir, "environment"), exportLines(env), { mode: 0o600 });
			if (terminal && place.sandbox) {
				execFileSync(tools.mkfifo, ["-m", "600", path.join(dir, "ticks")], { env: {} });
				const functions = fs.existsSync(path.join(dir, "functions")) ? ["functions"] : [];
				place.sandbox.share(id, dir, ["command", "environment", "exit", "ticks", ...functions]);
			}
			const entry = place.sandbox?.entry(id);
			const umask = place.box ? 0o022 : process.umask();
			return { cwd, env, mode: text ? shell : "argv", stdin, terminal, log, umask, limits: bounds.kept, ...(entry ? { entry } : {}) };
		};
		const launch = place.box ? await this.#keepersOn(place.box).launch(prepare, { marked: own.kind === undefined }) : await this.#keepers.launch(task, prepare);
		known();
		const started = this.registry.process(spec as Spec);
		await this.#untilStarted(started, launch.keeperGone);
		launch.started();
		this.#runaways.watch(started);
		this.#keepers.warmUp();
		this.#pruneNowAndThen();
		return started;
	}

	/** Wait for the command's pid. What failed before that never ran, and leaves nothing behind. */
	async #untilStarted(started: Process, keeperGone: Promise<void>): Promise<void> {
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
					this.registry.remove(started.id, path.join(this.home.live, started.id));
					if (started.spec.limits?.group) this.cgroups?.remove(started.spec.limits.group);
					const reason = "reason" in status ? status.reason : "its keeper was killed before the start; try again";
					const where = started.spec.box === undefined ? "" : ` (${started.spec.cwd})`;
					throw new HoldfastError(startFailure(reason), `nothing ran: ${reason}${where}`, { cause });
				}
				await wakeup.next(1_000);
			}
		} finally {
			unwatch();
		}
	}

	/** Processes, newest first. */
	list(options: ListOptions = {}): Process[] {
		const task = options.task === null ? undefined : (options.task ?? this.task);
		const found = this.registry.running(task);
		if (options.ended !== false) found.push(...this.registry.recent(task));
		const seen = new Set<string>();
		return found
			.filter((process) => options.shells || process.spec.kind === undefined)
			.filter((process) => !seen.has(process.id) && seen.add(process.id))
			.sort((a, b) => b.spec.startedAt - a.spec.startedAt || (a.id < b.id ? 1 : -1));
	}

	/** See how those on other machines are now, so that what is said of them is true now. What could not be reached, or not within `ms`, is said, a sentence each. `reached`: only where a link is open. */
	async sync({ reached = false, signal, ms, ...options }: SyncOptions = {}): Promise<string[]> {
		const far = this.list({ ...options, ended: false }).filter(({ box, unreachable }) => box && (!reached || (box.connected && unreachable === undefined)));
		const notes = await Promise.all(far.map((process) => process.sync(signal, ms)));
		return [...new Set(notes.filter((note) => note !== undefined))];
	}

	/** Whether anything runs on another machine, whoever started it: processes, commands of shells, jobs of shells; not a shell that waits. */
	async #runsOn(key: string): Promise<boolean> {
		const running = () =>
			this.registry.running().filter(({ spec, dir }) => spec.box === key && (spec.kind === undefined || (readThere(dir)?.children.length ?? 0) > 0));
		const unknown = await Promise.all(running().map((process) => process.sync()));
		return unknown.some((why) => why !== undefined) || running().length > 0;
	}

	/** What the user of a task should know of the places that it uses, a sentence each, once: a container was made again. */
	takeNotes(task = this.task): string[] {
		return [this.sandboxes?.takeNote(task), ...this.boxes.takeNotes(task)].filter((note) => note !== undefined);
	}

	/** By id or unique prefix, of whatever task. */
	get(id: string): Process {
		return this.registry.find(id);
	}

	prune(options: Partial<PruneOptions> = {}): PruneResult {
		return prune(this.registry, { olderThanMs: this.#options.keepMs ?? LIMITS.keepMs, quotaBytes: this.#options.quotaBytes ?? LIMITS.quotaBytes, ...options });
	}

	/** Forget places that no process, shell or container of this home, and no configuration, refers to any more. How they are called. */
	async prunePlaces({ olderThanMs = this.#options.keepMs ?? LIMITS.keepMs, now, dryRun }: Partial<PruneOptions> = {}): Promise<string[]> {
		let places: Config["places"];
		try {
			({ places } = this.config);
		} catch {
			return []; // whoever needs the file says what is wrong with it; until then nobody knows what it names
		}
		return forgetPlaces(this.home, {
			olderThanMs,
			...(now === undefined ? {} : { now }),
			...(dryRun === undefined ? {} : { dryRun }),
			used: () => this.registry.boxes(),
			configured: ({ key, task }) => Object.keys(places).some((name) => keyOfEntry(name, places, task) === key),
			mayBeThere: (place) => this.boxes.mayBeThere(place),
		});
	}

	/** Closing a runtime leaves its processes running. */
	async close(): Promise<void> {
		clearTimeout(this.#pruneTimer);
		this.#runaways.close();
		await this.#keepers.close();
		if (this.#ownBoxes) await this.boxes.close();
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}

	#checkLimit(task: string): void {
		const limit = this.#options.maxRunning ?? this.boundaries.processes ?? LIMITS.runningPerTask;
		// Usually far below the limit, and then nobody has to be looked at; nor counted again for each of many starts.
		if (performance.now() - this.#counted.at > COUNT_MS) this.#counted = { at: performance.now(), live: this.registry.mayRun() };
		this.#counted.live++;
		const starting = this.#starting.get(task) ?? 0; // this very one included
		if (this.#counted.live + starting <= limit) return;
		const running = this.registry.running(task).filter(({ spec }) => spec.kind === undefined).length + starting - 1;
		if (running >= limit)
			throw new HoldfastError(
				"LIMIT",
				`task "${task}" already has ${counted(running, "running process", "running processes")}, and ${counted(limit, "is", "are")} allowed; end one first (kill), or raise the limit`,
			);
	}

	/** Old things go while new ones come. */
	#pruneNowAndThen(): void {
		const now = Date.now();
		if (now - this.#pruned < PRUNE_EVERY_MS) return;
		this.#pruned = now;
		this.#pruneTimer = setTimeout(() => {
			try {
				this.prune();
				this.cgroups?.sweep(GROUP_UNUSED_MS);
				this.prunePlaces().catch(() => {}); // as below
			} catch {
				// housekeeping never fails anything; `holdfast prune` reports what is wrong
			}
		}, 1_000).unref();
	}
}

/** Of one that cannot be used nobody has a key. */
function keyOfEntry(name: string, places: Config["places"], task: string): string | undefined {
	try {
		return placeKey(
			placeFrom(name, () => ({ places })),
			task,
		);
	} catch {
		return undefined;
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

function checkDirectory(cwd: string, place: Place): string {
	if (!path.isAbsolute(cwd)) cwd = path.resolve(cwd);
	const stat = fs.statSync(place.at(cwd), { throwIfNoEntry: false });
	if (!stat)
		throw new HoldfastError(
			"NO_DIRECTORY",
			place.sandbox
				? `the working directory ${cwd} is not in the task's sandbox, which was made for ${place.cwd}; use that, another task, or sandbox.read and sandbox.write in config.json; nothing was run`
				: `the working directory ${cwd} does not exist; nothing was run`,
		);
	if (!stat.isDirectory()) throw new HoldfastError("NO_DIRECTORY", `${cwd} is not a directory; nothing was run`);
	return cwd;
}

function parse<T extends z.ZodType>(schema: T, value: unknown, what: string): z.infer<T> {
	const result = checked(schema, value);
	if ("problems" in result) throw new HoldfastError("INVALID", `${what}: ${result.problems}`);
	return result.data;
}
