import path from "node:path";
import {
	type Config,
	fromSystem,
	HoldfastError,
	type Home,
	type Identity,
	knowOwnSecrets,
	loadConfig,
	openHome,
	ownDirectory,
	ownEnvironment,
	readIfThere,
	readStat,
	showLife,
	taskKey,
} from "../base/index.js";
import { type Berth, type Cgroups, findCgroups, Keepers, type Plan, type Spec, type Tools } from "../keeper/index.js";
import {
	asUser,
	type Boundary,
	Boxes,
	boundaryOf,
	checkDirectory,
	LocalMachine,
	type Machine,
	machineKey,
	NO_BOUNDARY,
	type Place,
	type PlaceAsked,
	type PlaceWish,
	placeFrom,
	placeKey,
	placeName,
	sandboxNeeded,
	sightOf,
	startDirectory,
} from "../places/index.js";
import { Boundaries } from "./boundaries.js";
import { Housekeeping } from "./housekeeping.js";
import { LIMITS, type RuntimeOptions, type RuntimeSettings, type SpawnOptions, type StartRequest, settled, wantedOf } from "./options.js";
import type { Process } from "./process.js";
import { type PruneOptions, type PruneResult, prune } from "./prune.js";
import { Registry } from "./registry.js";
import { checkRestart } from "./restart.js";
import { Runaways } from "./runaway.js";
import { RunningLimit } from "./running-limit.js";
import { Sandboxes } from "./sandboxes.js";
import { type OwnSpawn, orderOf, untilStarted } from "./start.js";
import type { TaskSettings } from "./task-settings.js";

export interface ListOptions {
	/** Only this task; default: the runtime's own. `null`: every task. */
	readonly task?: string | null;
	/** Includes those that ended in the last half hour. Default true. */
	readonly ended?: boolean;
	/** Includes the persistent shells of tasks. Default false. */
	readonly shells?: boolean;
}

export interface SyncOptions extends Pick<ListOptions, "task" | "shells"> {
	readonly reached?: boolean;
	readonly signal?: AbortSignal;
	readonly ms?: number;
}

export async function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
	return openSettled(settled(options));
}

/** Opens a runtime with options that the caller has checked: loading the schema of all options would cost a short command 10 ms. */
export async function openSettled(options: RuntimeSettings): Promise<Runtime> {
	return new Runtime(await homeFor(options), options);
}

export async function homeFor({ home: dir }: RuntimeSettings): Promise<Home> {
	const home = openHome(dir === undefined ? undefined : path.resolve(dir));
	await home.watch.probe(home.root);
	return home;
}

export class Runtime implements AsyncDisposable {
	readonly home: Home;
	readonly task: string;
	readonly registry: Registry;
	readonly #keepers: Keepers;
	readonly local: Machine;
	/** Remote machines of this home's processes. */
	readonly boxes: Boxes;
	readonly #ownBoxes: boolean;
	readonly #options: RuntimeSettings;
	#boundaries: Boundaries | undefined;
	/** The place where the commands of its tasks run. */
	readonly wish: PlaceWish;
	readonly #runaways: Runaways;
	/** This program. */
	readonly self: Identity = readStat(process.pid) ?? { pid: process.pid, start: "0" };
	readonly #hideLife: () => void;
	#config: Config | undefined;
	#masks: boolean | undefined;
	readonly #housekeeping = new Housekeeping(this);
	readonly #runningLimit: RunningLimit;
	readonly sandboxes: Sandboxes | undefined;
	/** Settings of tasks that were opened with their own. */
	readonly settings: Map<string, TaskSettings>;
	readonly #taskBoundaries = new Map<string, Boundaries>();

	/** `main`: the runtime of another place on the same home. `main` owns what the two share, and closes it. */
	constructor(home: Home, options: RuntimeSettings, main?: Runtime) {
		this.home = home;
		this.task = options.task ?? "default";
		this.#options = options;
		this.wish = asUser(this.wishFor(options.place ?? "local"), options.user);
		const directory = startDirectory(this.wish);
		if (directory !== undefined) checkDirectory(directory);
		if (options.mask === false && !main) this.checkUnmasked();
		this.settings = main?.settings ?? new Map();
		const cgroups = options.cgroup === "off" ? undefined : findCgroups();
		this.boxes = main?.boxes ?? new Boxes(home, (key) => this.#runsOn(key));
		this.#ownBoxes = main === undefined;
		this.registry = new Registry(home, cgroups, (spec) => this.boxes.of(spec, this.local));
		this.#runningLimit = new RunningLimit(this.registry);
		this.#runaways = new Runaways(cgroups);
		this.registry.onEnd = (id) => this.#runaways.ended(id);
		this.#hideLife = showLife(home);
		this.#keepers = new Keepers(home, options.tools, cgroups, {
			warm: options.warm ?? 2,
			task: this.task,
			group: (task, id) => this.boundariesOf(task).group(taskKey(`${home.root}\0${task}`), id),
		});
		this.local = new LocalMachine(home, this.#keepers);
		this.#keepers.warmUp();
		knowOwnSecrets(home.secrets, ownEnvironment());
		home.secrets.know((readIfThere(path.join(home.root, "token")) ?? "").trim(), { sure: true }); // the token opens the HTTP door
		const sandboxed = sandboxNeeded(this.wish, () => this.config);
		if (sandboxed) this.sandboxes = new Sandboxes(this, sandboxed);
	}

	/** Returns the place that a caller names, with this runtime's sandbox settings. Throws if the place is invalid. */
	wishFor(place: PlaceAsked): PlaceWish {
		return placeFrom(place, () => this.config, { sandbox: this.#options.sandbox });
	}

	/** True if the runtime prepares for further commands. */
	get ahead(): boolean {
		return !this.#options.once;
	}

	get placeName(): string {
		return placeName(this.wish);
	}

	/** How well its commands are isolated from this machine. */
	get boundary(): Boundary {
		try {
			return boundaryOf(this.wish, () => this.config);
		} catch {
			return NO_BOUNDARY; // the program that needs config.json reports its problem
		}
	}

	/** Returns true if secrets in the results of a task are masked. */
	masks(task: string): boolean {
		const { mask } = this.settings.get(task) ?? {};
		if (mask !== undefined) return mask || !this.boundary.hides;
		this.#masks ??= !this.boundary.hides || (this.#options.mask ?? this.#configuredMask());
		return this.#masks;
	}

	/** Throws if secrets of this place may be secrets of this machine. */
	checkUnmasked(): void {
		if (boundaryOf(this.wish, () => this.config).hides) return;
		throw new HoldfastError(
			"INVALID",
			`mask: false is for a place that keeps its secrets from this machine's: local+sandbox, or a container without directories of this machine; ${this.placeName} is neither, so leave it out`,
		);
	}

	#configuredMask(): boolean {
		try {
			return this.config.mask;
		} catch {
			return true; // the program that needs config.json reports its problem
		}
	}

	/** Returns the key of the place for a task, used in file names. */
	placeKey(task: string): string {
		return placeKey(this.wish, task);
	}

	/** The directory in which a new shell on this machine starts. */
	get directory(): string {
		return startDirectory(this.wish) ?? ownDirectory();
	}

	/** Returns the directory in which the first shell of a task starts on this machine. */
	directoryOf(task: string): string {
		return this.settings.get(task)?.cwd ?? this.directory;
	}

	/**
	 * Returns the place where the commands of a task run. Creates a sandbox if needed. Throws if the place is unavailable; never falls back to another
	 * place.
	 */
	async place(task: string): Promise<Place> {
		return this.sandboxes ? this.sandboxes.of(task) : this.machine(task).place(this.settings.get(task)?.cwd, () => this.directory);
	}

	/** Returns the machine that the commands of a task run on. */
	machine(task: string): Machine {
		return this.boxes.forTask(this.wish, task, this.local);
	}

	get tools(): Tools {
		return this.#keepers.tools;
	}

	/** The user's settings. Read on first use: processes can be listed even if the file is invalid. */
	get config(): Config {
		this.#config ??= loadConfig();
		return this.#config;
	}

	/** Resource limits of processes and tasks. */
	get boundaries(): Boundaries {
		this.#boundaries ??= new Boundaries(this.#options.resourceLimits ?? this.config.limits, this.cgroups);
		return this.#boundaries;
	}

	/** Returns the resource limits of one task, which may have its own. */
	boundariesOf(task: string): Boundaries {
		const asked = this.settings.get(task)?.resourceLimits;
		if (!asked) return this.boundaries;
		const known = this.#taskBoundaries.get(task) ?? new Boundaries(asked, this.cgroups);
		this.#taskBoundaries.set(task, known);
		return known;
	}

	get cgroups(): Cgroups | undefined {
		return this.#keepers.cgroups;
	}

	/** Starts a process that outlives this program. Resolves once it runs; throws if nothing ran. */
	async spawn(options: SpawnOptions, own: OwnSpawn = {}): Promise<Process> {
		const wanted = wantedOf(options);
		const task = wanted.task ?? this.task;
		const place = await (own.kind === "sandbox" ? this.local.place("/", ownDirectory) : this.place(task));
		const { machine } = place;
		if (wanted.restart) checkRestart(machine === this.local && !place.sandbox);
		const cwd = place.directory(wanted.cwd);
		const { tools } = await machine.ready();
		if (wanted.terminal && !tools.pty)
			throw new HoldfastError(
				"NO_TERMINAL",
				`${machine.name} cannot make a terminal: it has neither perl, python3 nor script(1) of util-linux (and stty); install one, or start it without a terminal`,
			);
		const known = this.#runningLimit.begin(task);
		try {
			if (own.kind === undefined) this.#runningLimit.check(task, this.#mostRunning(task));
			const start = () => this.#start(wanted, { cwd, place }, task, known, own);
			return await machine.keepers.start(start);
		} catch (error) {
			throw fromSystem(error, "cannot start a process");
		} finally {
			known();
		}
	}

	/** Watches a shell that another runtime has started, and kills its runaways. */
	watchFor(process: Process): void {
		this.#runaways.watch(process);
	}

	/** Starts a process. Calls `known` when the registry has it. */
	async #start(wanted: StartRequest, { cwd, place }: { cwd: string; place: Place }, task: string, known: () => void, own: OwnSpawn): Promise<Process> {
		const order = orderOf(this, { wanted, own, task, cwd, place, equipment: await place.machine.ready() });
		let spec: Spec | undefined;
		const prepare = (berth: Berth): Plan => {
			const placed = order(berth);
			({ spec } = placed);
			return placed.plan;
		};
		const launch = await place.machine.keepers.launch(prepare, { task, kind: own.kind });
		known();
		const started = this.registry.process(spec as Spec);
		await untilStarted(this, started, launch.keeperGone);
		launch.started();
		this.#runaways.watch(started);
		this.#keepers.warmUp();
		this.#housekeeping.nowAndThen();
		return started;
	}

	/** Returns processes, newest first. */
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

	/**
	 * Refreshes the state of remote processes. Returns a sentence for each machine that could not be reached, or not within `ms`. `reached`: only over
	 * open links.
	 */
	async sync({ reached = false, signal, ms, task = this.task, shells = false }: SyncOptions = {}): Promise<string[]> {
		const live = this.registry
			.running(task ?? undefined, { shells })
			.filter(({ machine, unreachable }) => !reached || (machine.connected && unreachable === undefined));
		const notes = await Promise.all(live.map((process) => process.sync(signal, ms)));
		return [...new Set(notes.filter((note) => note !== undefined))];
	}

	/**
	 * Returns true if any program has something running on a remote machine: processes, commands of shells, jobs of shells; an idle shell does not
	 * count. Unreachable counts as running.
	 */
	async #runsOn(key: string): Promise<boolean> {
		const running = () =>
			this.registry
				.running()
				.filter(({ machine, spec, dir }) => machineKey(machine.key ?? "") === key && (spec.kind === undefined || sightOf(dir, spec).hasChildren()));
		const unknown = await Promise.all(running().map((process) => process.sync()));
		return unknown.some((why) => why !== undefined) || running().length > 0;
	}

	/** Returns notes for the user of a task on its places, one sentence each, each once: for example, that a container was recreated. */
	takeNotes(task = this.task): string[] {
		return [this.sandboxes?.takeNote(task), ...this.boxes.takeNotes(task)].filter((note) => note !== undefined);
	}

	/** Finds a process by its id or a unique prefix, in any task. Throws NOT_FOUND. */
	get(id: string): Process {
		return this.registry.find(id);
	}

	/** How long ended processes are kept. */
	get keepMs(): number {
		return this.#options.keepMs ?? LIMITS.keepMs;
	}

	prune(options: Partial<PruneOptions> = {}): PruneResult {
		return prune(this.registry, { olderThanMs: this.keepMs, quotaBytes: this.#options.quotaBytes ?? LIMITS.quotaBytes, ...options });
	}

	/** Forgets places that nothing refers to. Returns their names. */
	prunePlaces(options: Partial<PruneOptions> = {}): Promise<string[]> {
		return this.#housekeeping.prunePlaces(options);
	}

	/** Further cleanup, registered by rooms that this room does not import. */
	get chores(): (() => void)[] {
		return this.#housekeeping.chores;
	}

	/** Returns a directory of programs to put first in the PATH of the tasks' shells. Called when a shell starts. */
	programs(): string | undefined {
		return undefined;
	}

	/**
	 * Frees this program's resources for a task: descriptors, watches, prepared logs, memory. Processes keep running; the next call for the task reopens
	 * it.
	 */
	async forget(task: string): Promise<void> {
		this.#taskBoundaries.delete(task);
		this.home.secrets.forget(task);
		this.sandboxes?.forget(task);
		if (this.#ownBoxes) await this.boxes.forget(task);
	}

	/** True while a process is being started here, or one runs on this place. */
	get inUse(): boolean {
		return this.#runningLimit.isStarting || this.registry.running().some(({ spec }) => spec.place === this.placeName);
	}

	/** Closes the runtime. Its processes keep running. */
	async close(): Promise<void> {
		this.#housekeeping.close();
		this.#runaways.close();
		await this.#keepers.close();
		this.#hideLife();
		if (this.#ownBoxes) await this.boxes.close();
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}

	#mostRunning(task: string): number {
		return this.settings.get(task)?.resourceLimits?.task.processes ?? this.#options.maxRunning ?? this.boundaries.processes ?? LIMITS.runningPerTask;
	}
}
