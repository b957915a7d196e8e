/** The library's front door: a runtime is one program's view of a home. It holds nothing that matters. */
import fs from "node:fs";
import path from "node:path";
import { type Config, loadConfig } from "../base/config.js";
import { knowOwnSecrets } from "../base/environment.js";
import { fromSystem, HoldfastError } from "../base/errors.js";
import { ownDirectory, readIfThere } from "../base/files.js";
import { type Home, openHome } from "../base/home.js";
import { taskKey } from "../base/ids.js";
import { ownEnvironment } from "../base/own-secrets.js";
import { showLife, sweepPresence } from "../base/presence.js";
import { type Identity, readStat } from "../base/proc.js";
import { counted } from "../base/quantity.js";
import { forgetSecrets, knowSecret } from "../base/secrets/index.js";
import { probeEvents } from "../base/watch.js";
import { tryAgain } from "../keeper/again.js";
import { type Cgroups, findCgroups } from "../keeper/cgroup.js";
import { type Berth, type Held, Keepers } from "../keeper/keepers.js";
import type { Plan } from "../keeper/plan.js";
import { readThere } from "../keeper/there.js";
import type { Tools } from "../keeper/tools.js";
import { isBoundary, isRemote, type PlaceWish, placeFrom, placeKey, placeName } from "../places/address.js";
import { Boxes } from "../places/boxes.js";
import type { Box } from "../places/far/box.js";
import { FarKeepers } from "../places/far/keepers.js";
import { forgetPlaces } from "../places/forget.js";
import { local, type Place } from "../places/place.js";
import { Boundaries } from "./boundaries.js";
import { LIMITS, type RuntimeOptions, type Settled, type SpawnOptions, settled, type Wanted, wantedOf } from "./options.js";
import type { Process } from "./process.js";
import { type PruneOptions, type PruneResult, prune } from "./prune.js";
import { Registry } from "./registry.js";
import { Runaways } from "./runaway.js";
import { Sandboxes } from "./sandboxes.js";
import type { Spec } from "./spec.js";
import { type OwnSpawn, orderOf, untilStarted } from "./start.js";

const COUNT_MS = 200;
const GROUP_UNUSED_MS = 3_600_000; // a warm keeper may have one that is still empty
const PRUNE_EVERY_MS = 5 * 60_000;

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
	return new Runtime(...(await prepareRuntime(options)));
}

/** What a runtime, or one that does more than this one, is made of. */
export async function prepareRuntime(options: RuntimeOptions): Promise<[Home, Settled]> {
	const parsed = settled(options);
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
	readonly #far = new WeakMap<Box, FarKeepers>();
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
	readonly #hideLife: () => void;
	#config: Config | undefined;
	#masks: boolean | undefined;
	#pruned = 0;
	#pruneTimer: NodeJS.Timeout | undefined;
	/** What else is to be done when old things go, for rooms that this one does not know. */
	readonly chores: (() => void)[] = [];
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
		if (options.mask === false && !boxes && !isBoundary(this.wish))
			throw new HoldfastError(
				"INVALID",
				`mask: false is for a place that keeps its secrets from this machine's: local+sandbox, or a container without directories of this machine; ${this.placeName} is neither, so leave it out`,
			);
		const cgroups = options.cgroup === "off" ? undefined : findCgroups();
		this.boxes = boxes ?? new Boxes(home, (key) => this.#runsOn(key));
		this.#ownBoxes = boxes === undefined;
		this.registry = new Registry(home, cgroups, (spec) => this.boxes.of(spec));
		this.#runaways = new Runaways(cgroups);
		this.registry.onEnd = (id) => this.#runaways.ended(id);
		this.#hideLife = showLife(home);
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

	/** Whether secrets in results are masked. */
	get masks(): boolean {
		this.#masks ??= !isBoundary(this.wish) || (this.#options.mask ?? this.#configuredMask());
		return this.#masks;
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
		return (this.wish.kind === "local" ? this.wish.directory : undefined) ?? ownDirectory();
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
		const wanted = wantedOf(options);
		const task = wanted.task ?? this.task;
		const place = own.kind === "sandbox" ? local() : await this.place(task);
		const cwd = place.box ? path.resolve(place.cwd, wanted.cwd ?? ".") : checkDirectory(wanted.cwd ?? this.directory, place);
		const { tools } = await this.#equipment(place);
		if (wanted.terminal && !tools.pty)
			throw new HoldfastError(
				"NO_TERMINAL",
				`${place.box?.name ?? "this box"} cannot make a terminal: it has neither perl, python3 nor script(1) of util-linux (and stty); install one, or start it without a terminal`,
			);
		const count = (by: number) => {
			const starting = (this.#starting.get(task) ?? 0) + by;
			if (starting > 0) this.#starting.set(task, starting);
			else this.#starting.delete(task);
		};
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
		const order = orderOf(this, { wanted, own, task, cwd, place, tools, environment });
		let spec: Spec | undefined;
		const prepare = (berth: Berth): Plan => {
			const placed = order(berth);
			({ spec } = placed);
			return placed.plan;
		};
		const launch = place.box ? await this.#keepersOn(place.box).launch(prepare, { marked: own.kind === undefined }) : await this.#keepers.launch(task, prepare);
		known();
		const started = this.registry.process(spec as Spec);
		await untilStarted(this, started, launch.keeperGone);
		launch.started();
		this.#runaways.watch(started);
		this.#keepers.warmUp();
		this.#pruneNowAndThen();
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

	/** How long what has ended is kept. */
	get keepMs(): number {
		return this.#options.keepMs ?? LIMITS.keepMs;
	}

	prune(options: Partial<PruneOptions> = {}): PruneResult {
		return prune(this.registry, { olderThanMs: this.keepMs, quotaBytes: this.#options.quotaBytes ?? LIMITS.quotaBytes, ...options });
	}

	/** Forget places that no process, shell or container of this home, and no configuration, refers to any more. How they are called. */
	async prunePlaces({ olderThanMs = this.keepMs, now, dryRun }: Partial<PruneOptions> = {}): Promise<string[]> {
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

	/** A directory with programs for the shells of tasks, first in their PATH. Asked when one is born. */
	programs(): string | undefined {
		return undefined;
	}

	/** Frees what this program holds for a task: descriptors, watches, prepared logs, memory. What runs goes on; the next call for the task opens it again. */
	async forget(task: string): Promise<void> {
		forgetSecrets(task);
		this.sandboxes?.forget(task);
		if (this.#ownBoxes) await this.boxes.forget(task);
	}

	/** Closing a runtime leaves its processes running. */
	async close(): Promise<void> {
		clearTimeout(this.#pruneTimer);
		this.#runaways.close();
		await this.#keepers.close();
		this.#hideLife();
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
				sweepPresence(this.home);
				this.cgroups?.sweep(GROUP_UNUSED_MS);
				this.prunePlaces().catch(() => {}); // as below
				for (const chore of this.chores) chore();
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

function checkDirectory(cwd: string, place: Place): string {
	if (!path.isAbsolute(cwd)) cwd = path.resolve(cwd);
	const stat = fs.statSync(place.at(cwd), { throwIfNoEntry: false });
	if (!stat)
		throw new HoldfastError(
			"NO_DIRECTORY",
			place.sandbox
				? `the working directory ${cwd} is not in the task's sandbox, which was made for ${place.cwd}; use that, another task, or sandbox.read and sandbox.write in config.json; nothing was run`
				: `the working directory ${cwd} does not exist; nothing was run, so make it first or give one that exists`,
		);
	if (!stat.isDirectory()) throw new HoldfastError("NO_DIRECTORY", `${cwd} is not a directory; nothing was run, so give one that is`);
	return cwd;
}
