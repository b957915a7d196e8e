/** The remote machines that processes of this home run on. Each is reached on demand, over one link. */
import { createHash } from "node:crypto";
import { HoldfastError, type Home, hostIdentity } from "../base/index.js";
import { isRemote, lifeOf, machineKey, type PlaceWish, placeKey, placeName } from "./address.js";
import { Ends } from "./ends.js";
import type { BoxIdentity, Host, Over, Started, Stream } from "./host.js";
import { hostOf } from "./hosts.js";
import { Lifetimes, type Lived } from "./lifetimes.js";
import { forgetLife, IDLE, lastLife, rememberLife } from "./lives.js";
import type { Machine } from "./machine.js";
import { isRemembered, type Remembered, recallPlace, rememberPlace } from "./remember.js";
import { RemoteMachine } from "./remote/machine.js";

interface Known {
	readonly machine: RemoteMachine;
	readonly host: Host;
	readonly task: string;
	/** For a container: its lifetime and how to end it. */
	readonly lived?: Lived;
}

export class Boxes {
	readonly #home: Home;
	readonly #known = new Map<string, Known>();
	#last: { readonly wish: PlaceWish; readonly task: string; readonly key: string } | undefined;
	readonly #lifetimes: Lifetimes;
	readonly #busy: (key: string) => Promise<boolean>;
	readonly #ends: Ends;
	/** Receives what a start waits for, one line at a time. */
	onProgress: ((place: string, line: string) => void) | undefined;

	/** `busy` returns whether any process runs in a box, for any starter and any user. */
	constructor(home: Home, busy: (key: string) => Promise<boolean>) {
		this.#home = home;
		this.#busy = busy;
		this.#lifetimes = new Lifetimes(home);
		this.#ends = new Ends(home);
	}

	/** Returns the machine that runs a task's commands. */
	forTask(wish: PlaceWish, task: string, local: Machine): Machine {
		if (!isRemote(wish)) return local;
		const before = this.#last; // almost always the same as last time
		if (before?.wish === wish && before.task === task && isRemembered(this.#home, before.key)) return this.#get(before.key, wish, task).machine;
		const key = rememberPlace(this.#home, wish, task);
		this.#last = { wish, task, key };
		return this.#get(key, wish, task).machine;
	}

	/**
	 * Returns the machine of a process that any program started earlier. A process without a known machine is unreachable; it does not block listing the
	 * others.
	 */
	of({ box: key, place }: { readonly box?: string; readonly place: string }, local: Machine): Machine {
		if (key === undefined) return local;
		const known = this.#known.get(key);
		if (known) return known.machine;
		let remembered: ReturnType<typeof recallPlace>;
		let reason = `places/${key}.json is gone from the home, so it is not known how to reach that machine`;
		try {
			remembered = recallPlace(this.#home, key);
		} catch (error) {
			reason = (error as Error).message;
		}
		if (remembered) return this.#get(key, remembered.wish, remembered.task).machine;
		const nowhere = new LaterHost(place, () => Promise.reject(new HoldfastError("UNREACHABLE", reason)));
		return new RemoteMachine(nowhere, this.#home, { key, name: place, owner: ownerOf(this.#home) });
	}

	/** Returns true if any link is open. */
	get connected(): boolean {
		return [...this.#known.values()].some(({ machine }) => machine.connected);
	}

	/** Returns the identity of a task's container; undefined if the place is no container or was not used yet. */
	boxOf(wish: PlaceWish, task: string): BoxIdentity | undefined {
		return this.#knownOf(wish, task)?.machine.box;
	}

	/** Returns what a task's machine is waiting for while it is queued or being created. */
	pendingOf(wish: PlaceWish, task: string): string | undefined {
		return this.#knownOf(wish, task)?.machine.reach.pending;
	}

	#knownOf(wish: PlaceWish, task: string): Known | undefined {
		if (!isRemote(wish) || typeof task !== "string") return undefined;
		const last = this.#last;
		return this.#known.get(last?.wish === wish && last.task === task ? last.key : placeKey(wish, task));
	}

	/** Returns notes about the places of a task, each note once. */
	takeNotes(task: string): string[] {
		const own = [...this.#known].filter(([, one]) => !one.lived || one.task === task);
		return own.flatMap(([key, { machine }]) => [...machine.reach.takeNotes(), ...this.#ends.take(machineKey(key), machine.name)]);
	}

	/** Ends the container of a task now. Returns what was stopped, a sentence each; empty if there is none, or another program is ending it. */
	async end({ key, wish, task }: Remembered): Promise<readonly string[]> {
		const { lived } = this.#get(key, wish, task);
		if (!lived || !this.#lifetimes.mayBeThere(lived.key)) return [];
		const stopped = await this.#lifetimes.end(lived);
		forgetLife(this.#home, lived.key);
		this.#ends.forget(lived.key);
		return stopped;
	}

	/** Cancels the starts that a task waits for, because the task is ending. */
	giveUp(task: string): void {
		for (const one of this.#known.values()) if (one.lived && one.task === task) one.machine.reach.giveUp();
	}

	/** Marks the task as closed in this program: closes the links to its containers that are gone, and lets the others expire. */
	async forget(task: string): Promise<void> {
		const own = [...this.#known].filter(([, known]) => known.task === task && known.lived);
		for (const [key] of own) this.#lifetimes.leave(machineKey(key));
		const gone = own.filter(([key]) => !this.#lifetimes.mayBeThere(machineKey(key)));
		for (const [key] of gone) {
			this.#known.delete(key);
			this.#lifetimes.forget(machineKey(key));
			if (this.#last?.key === key) this.#last = undefined;
		}
		await Promise.all(gone.map(([, { machine }]) => machine.reach.close()));
	}

	/** Returns whether the container of a task may exist, as far as known. Starts nothing. */
	async mayBeThere({ key, wish, task }: Remembered): Promise<boolean> {
		const { host, lived } = this.#get(key, wish, task);
		if (!lived || !this.#lifetimes.mayBeThere(lived.key)) return false;
		const over = await host.over?.().catch(() => undefined); // no engine: unknown
		return over === undefined || over.kept;
	}

	async close(): Promise<void> {
		const ended = this.#lifetimes.close();
		await Promise.all([...this.#known.values()].map(({ machine }) => machine.reach.close()));
		this.#known.clear();
		await ended;
	}

	#get(key: string, wish: PlaceWish, task: string): Known {
		const known = this.#known.get(key);
		if (known) return known;
		const home = this.#home;
		const own = machineKey(key); // of the container: all its users share one life
		const progress = (line: string) => {
			if (machine.reach.pending === line) return;
			machine.reach.pending = line;
			this.onProgress?.(placeName(wish), line);
		};
		const host = new LaterHost(placeName(wish), () => hostOf(wish, { task }, home, { last: () => lastLife(home, own), progress }));
		const life = lifeOf(wish);
		let lived: Lived | undefined;
		const machine = new RemoteMachine(host, home, {
			key,
			name: placeName(wish),
			owner: ownerOf(home),
			container: life !== undefined,
			enter: async (how) => (lived ? this.#lifetimes.use(lived, how) : () => {}),
			onLife: (life, ends) => {
				this.#ends.learn(own, life, ends);
				if (lived) rememberLife(home, own, life);
			},
		});
		if (life) {
			const { idleSeconds: seconds, rests } = life;
			const unlinked = <T>(act: () => Promise<T>): Promise<T> => {
				const links = [...this.#known].filter(([other]) => machineKey(other) === own).map(([, { machine }]) => machine.reach);
				return links.reduce((end, reach) => () => reach.restDuring(end), act)();
			};
			const stop = async (): Promise<readonly string[]> => {
				const stopped = await unlinked(() => host.stop());
				this.#ends.forget(own);
				if (stopped.length > 0) rememberLife(home, own, `${IDLE} ${seconds}`);
				return stopped;
			};
			lived = { key: own, seconds, busy: () => this.#busy(own), stop, ...(rests ? { rest: () => unlinked(() => host.rest()) } : {}) };
		}
		const made: Known = { machine, host, task, ...(lived ? { lived } : {}) };
		this.#known.set(key, made);
		return made;
	}
}

/** Returns the name of a home on remote machines, where several homes may meet. */
const ownerOf = (home: Home): string => createHash("sha256").update(`${hostIdentity().host}\n${home.root}`).digest("hex").slice(0, 16);

/** Loads the code of a kind of place on first use, not on first mention. */
class LaterHost implements Host {
	readonly address: string;
	readonly #make: () => Promise<Host>;
	#host: Promise<Host> | undefined;

	constructor(address: string, make: () => Promise<Host>) {
		this.address = address;
		this.#make = make;
	}

	async start(signal?: AbortSignal): Promise<Started> {
		return (await this.#get()).start(signal);
	}

	async open(command: string, signal?: AbortSignal): Promise<Stream> {
		return (await this.#get()).open(command, signal);
	}

	async over(signal?: AbortSignal): Promise<Over | undefined> {
		return (await this.#get()).over?.(signal);
	}

	async whySilent(): Promise<string | undefined> {
		return (await this.#get()).whySilent?.();
	}

	async rest(): Promise<void> {
		await (await this.#get()).rest?.();
	}

	async stop(): Promise<readonly string[]> {
		return (await this.#get()).stop();
	}

	#get(): Promise<Host> {
		this.#host ??= this.#make();
		this.#host.catch(() => {
			this.#host = undefined;
		});
		return this.#host;
	}
}
