/** The machines that processes of this home are on, besides this one: each is reached when it is needed, and by one link. */
import { createHash } from "node:crypto";
import { HoldfastError } from "../base/errors.js";
import type { Home } from "../base/home.js";
import { hostIdentity } from "../base/proc.js";
import { placeName, type RemoteWish } from "./address.js";
import { dockerSettings } from "./docker/options.js";
import { Box } from "./far/box.js";
import type { Host, Over, Started, Stream } from "./host.js";
import { hostOf } from "./hosts.js";
import { Lifetimes, type Lived } from "./lifetimes.js";
import { forgetLife, IDLE, lastLife, rememberLife } from "./lives.js";
import { isRemembered, type Remembered, recallPlace, rememberPlace } from "./remember.js";

interface Known {
	readonly box: Box;
	readonly host: Host;
	readonly task: string;
	/** Of a container: how long it stays, and how it ends. */
	readonly lived?: Lived;
}

export class Boxes {
	readonly #home: Home;
	readonly #known = new Map<string, Known>();
	#last: { readonly wish: RemoteWish; readonly task: string; readonly key: string } | undefined;
	readonly #lifetimes: Lifetimes;
	readonly #busy: (key: string) => Promise<boolean>;

	/** `busy`: whether anything runs in a box, whoever started it. */
	constructor(home: Home, busy: (key: string) => Promise<boolean>) {
		this.#home = home;
		this.#busy = busy;
		this.#lifetimes = new Lifetimes(home);
	}

	/** Where the commands of a task are to run. */
	forTask(wish: RemoteWish, task: string): Box {
		const before = this.#last; // nearly always the same one again
		if (before?.wish === wish && before.task === task && isRemembered(this.#home, before.key)) return this.#get(before.key, wish, task).box;
		const key = rememberPlace(this.#home, wish, task);
		this.#last = { wish, task, key };
		return this.#get(key, wish, task).box;
	}

	/** Where a process is that somebody has started there before. One of which nobody knows where it is can never be reached, and that keeps nobody from looking at the others. */
	of({ box: key, place }: { readonly box?: string; readonly place: string }): Box | undefined {
		if (key === undefined) return undefined;
		const known = this.#known.get(key);
		if (known) return known.box;
		let remembered: ReturnType<typeof recallPlace>;
		let reason = `places/${key}.json is gone from the home, so nobody knows how to reach what runs there`;
		try {
			remembered = recallPlace(this.#home, key);
		} catch (error) {
			reason = (error as Error).message;
		}
		if (remembered) return this.#get(key, remembered.wish, remembered.task).box;
		const nowhere = new LaterHost(place, () => Promise.reject(new HoldfastError("UNREACHABLE", reason)));
		return new Box(nowhere, this.#home, { key, name: place, owner: ownerOf(this.#home) });
	}

	/** What the user of a task should know of the places that it uses, once. */
	takeNotes(task: string): string[] {
		return [...this.#known.values()].filter((one) => !one.lived || one.task === task).flatMap(({ box }) => box.takeNotes());
	}

	/** End the container of a task now. What was stopped, a sentence each; nothing when there is none, or somebody else is at it. */
	async end({ key, wish, task }: Remembered): Promise<readonly string[]> {
		const { lived } = this.#get(key, wish, task);
		if (!lived || !this.#lifetimes.mayBeThere(key)) return [];
		const stopped = await this.#lifetimes.end(lived);
		forgetLife(this.#home, key);
		return stopped;
	}

	/** The task is not open here any more: closes the way to those of its containers that are gone, and lets the others end when their time is up. */
	async forget(task: string): Promise<void> {
		const own = [...this.#known].filter(([, known]) => known.task === task && known.lived);
		for (const [key] of own) this.#lifetimes.leave(key);
		const gone = own.filter(([key]) => !this.#lifetimes.mayBeThere(key));
		for (const [key] of gone) {
			this.#known.delete(key);
			this.#lifetimes.forget(key);
			if (this.#last?.key === key) this.#last = undefined;
		}
		await Promise.all(gone.map(([, { box }]) => box.close()));
	}

	/** Whether the container of a task is there, as far as is known. Starts nothing. */
	async mayBeThere({ key, wish, task }: Remembered): Promise<boolean> {
		const { host, lived } = this.#get(key, wish, task);
		if (!lived || !this.#lifetimes.mayBeThere(key)) return false;
		const over = await host.over?.().catch(() => undefined); // no engine: nobody knows
		return over === undefined || over.kept;
	}

	async close(): Promise<void> {
		const ended = this.#lifetimes.close();
		await Promise.all([...this.#known.values()].map(({ box }) => box.close()));
		this.#known.clear();
		await ended;
	}

	#get(key: string, wish: RemoteWish, task: string): Known {
		const known = this.#known.get(key);
		if (known) return known;
		const home = this.#home;
		const host = new LaterHost(placeName(wish), () => hostOf(wish, { task }, home, { last: () => lastLife(home, key) }));
		let lived: Lived | undefined;
		const box = new Box(host, home, {
			key,
			name: placeName(wish),
			owner: ownerOf(home),
			container: wish.kind === "docker",
			enter: async (how) => (lived ? this.#lifetimes.use(lived, how) : () => {}),
			onLife: (life) => {
				if (lived) rememberLife(home, key, life);
			},
		});
		if (wish.kind === "docker") {
			const seconds = dockerSettings(wish.options).lifetime;
			const stop = async (): Promise<readonly string[]> => {
				const stopped = await box.restDuring(() => host.stop());
				if (stopped.length > 0) rememberLife(home, key, `${IDLE} ${seconds}`);
				return stopped;
			};
			lived = { key, seconds, busy: () => this.#busy(key), stop };
		}
		const made: Known = { box, host, task, ...(lived ? { lived } : {}) };
		this.#known.set(key, made);
		return made;
	}
}

/** What homes call themselves on other machines, where several may meet. */
const ownerOf = (home: Home): string => createHash("sha256").update(`${hostIdentity().host}\n${home.root}`).digest("hex").slice(0, 16);

/** What a kind of place needs is loaded when it is used, not when one is mentioned. */
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
