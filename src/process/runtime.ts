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

export async function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
	return openSettled(settled(options));
}

/** Opens a runtime with options that the caller has checked: the schema of all options takes a short command 10 ms. */
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
	/** Remote machines that processes of this home are on. */
	readonly boxes: Boxes;
	readonly #ownBoxes: boolean;
	readonly #options: RuntimeSettings;
	#boundaries: Boundaries | undefined;
	/** Where the commands of its tasks run. */
	readonly wish: PlaceWish;
	readonly #runaways: Runaways;
	/** This very program. */
	readonly self: Identity = readStat(process.pid) ?? { pid: process.pid, start: "0" };
	readonly #hideLife: () => void;
	#config: Config | undefined;
	#masks: boolean | undefined;
	readonly #housekeeping = new Housekeeping(this);
	readonly #runningLimit: RunningLimit;
	readonly sandboxes: Sandboxes | undefined;
	/** Of tasks that were opened with settings of their own. */
	readonly settings: Map<string, TaskSettings>;
	readonly #taskBoundaries = new Map<string, Boundaries>();

	/** `main`: the runtime of another place on the same home. It owns what the two share, and closes it. */
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
		home.secrets.know((readIfThere(path.join(home.root, "token")) ?? "").trim(), { sure: true }); // it opens the HTTP door
		const sandboxed = sandboxNeeded(this.wish, () => this.config);
		if (sandboxed) this.sandboxes = new Sandboxes(this, sandboxed);
	}

	/** Returns the place that a caller means, with this runtime's settings for sandboxes. Throws if it cannot be understood. */
	wishFor(place: PlaceAsked): PlaceWish {
		return placeFrom(place, () => this.config, { sandbox: this.#options.sandbox });
	}

	/** Whether things are prepared for commands that may come. */
	get ahead(): boolean {
		return !this.#options.once;
	}

	get placeName(): string {
		return placeName(this.wish);
	}

	/** How far its commands are kept from this machine. */
	get boundary(): Boundary {
		try {
			return boundaryOf(this.wish, () => this.config);
		} catch {
			return NO_BOUNDARY; // as below
		}
	}

	/** Whether secrets in results of a task are masked. */
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
			return true; // whatever needs the file says what is wrong with it
		}
	}

	/** What files about a task's use of the place have in their names. */
	placeKey(task: string): string {
		return placeKey(this.wish, task);
	}

	/** Where a new shell of this machine starts. */
	get directory(): string {
		return startDirectory(this.wish) ?? ownDirectory();
	}

	/** Where the first shell of a task starts on the local machine. */
	directoryOf(task: string): string {
		return this.settings.get(task)?.cwd ?? this.directory;
	}

	/** Where the commands of a task run. A sandbox is made if need be; what cannot be had is an error, never another place. */
	async place(task: string): Promise<Place> {
		return this.sandboxes ? this.sandboxes.of(task) : this.machine(task).place(this.settings.get(task)?.cwd, () => this.directory);
	}

	/** The machine that the commands of a task run on. */
	machine(task: string): Machine {
		return this.boxes.forTask(this.wish, task, this.local);
	}

	get tools(): Tools {
		return this.#keepers.tools;
	}

	/** The user's settings. Read when first needed: processes can be listed even if the file is wrong. */
	get config(): Config {
		this.#config ??= loadConfig();
		return this.#config;
	}

	/** What processes and tasks may use of the machine. */
	get boundaries(): Boundaries {
		this.#boundaries ??= new Boundaries(this.#options.resourceLimits ?? this.config.limits, this.cgroups);
		return this.#boundaries;
	}

	/** The same for one task, which may have limits of its own. */
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

	/** Start a process that outlives this program. Resolves once it runs; throws if nothing ran. */
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

	/** See to it that what it starts without end is ended. For a shell that another runtime has started. */
	watchFor(process: Process): void {
		this.#runaways.watch(process);
	}

	/** Calls `known` when the registry has it. */
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
		const live = this.list({ ...options, ended: false }).filter(({ machine, unreachable }) => !reached || (machine.connected && unreachable === undefined));
		const notes = await Promise.all(live.map((process) => process.sync(signal, ms)));
		return [...new Set(notes.filter((note) => note !== undefined))];
	}

	/** Whether anything runs on a remote machine, of any program: processes, commands of shells, jobs of shells; not a shell that waits. */
	async #runsOn(key: string): Promise<boolean> {
		const running = () =>
			this.registry
				.running()
				.filter(({ machine, spec, dir }) => machineKey(machine.key ?? "") === key && (spec.kind === undefined || sightOf(dir, spec).hasChildren()));
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

	/** How long what has ended is kept. */
	get keepMs(): number {
		return this.#options.keepMs ?? LIMITS.keepMs;
	}

	prune(options: Partial<PruneOptions> = {}): PruneResult {
		return prune(this.registry, { olderThanMs: this.keepMs, quotaBytes: this.#options.quotaBytes ?? LIMITS.quotaBytes, ...options });
	}

	/** Forgets places that nothing refers to any more. Returns how they are called. */
	prunePlaces(options: Partial<PruneOptions> = {}): Promise<string[]> {
		return this.#housekeeping.prunePlaces(options);
	}

	/** What else is to be done when old things go, for rooms that this one does not know. */
	get chores(): (() => void)[] {
		return this.#housekeeping.chores;
	}

	/** A directory with programs for the shells of tasks, first in their PATH. Asked when one is born. */
	programs(): string | undefined {
		return undefined;
	}

	/** Frees what this program holds for a task: descriptors, watches, prepared logs, memory. What runs goes on; the next call for the task opens it again. */
	async forget(task: string): Promise<void> {
		this.#taskBoundaries.delete(task);
		this.home.secrets.forget(task);
		this.sandboxes?.forget(task);
		if (this.#ownBoxes) await this.boxes.forget(task);
	}

	/** A process is being started here, or one that was runs on this place. */
	get inUse(): boolean {
		return this.#runningLimit.isStarting || this.registry.running().some(({ spec }) => spec.place === this.placeName);
	}

	/** Closing a runtime leaves its processes running. */
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
