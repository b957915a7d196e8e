/** The machines that processes of this home are on, besides this one: each is reached when it is needed, and by one link. */
import { createHash } from "node:crypto";
import { HoldfastError } from "../base/errors.js";
import type { Home } from "../base/home.js";
import { hostIdentity } from "../base/proc.js";
import { placeName, type RemoteWish } from "./address.js";
import { Box } from "./far/box.js";
import type { Host, Started, Stream } from "./host.js";
import { hostOf } from "./hosts.js";
import { recallPlace, rememberPlace } from "./remember.js";

export class Boxes {
	readonly #home: Home;
	readonly #known = new Map<string, Box>();

	constructor(home: Home) {
		this.#home = home;
	}

	/** Where the commands of a task are to run. */
	forTask(wish: RemoteWish, task: string): Box {
		return this.#box(rememberPlace(this.#home, wish, task), wish, task);
	}

	/** Where a process is that somebody has started there before. */
	of({ box: key }: { readonly box?: string }): Box | undefined {
		if (key === undefined) return undefined;
		const known = this.#known.get(key);
		if (known) return known;
		const place = recallPlace(this.#home, key);
		if (!place) throw new HoldfastError("UNREACHABLE", `places/${key}.json is gone from the home, so nobody knows how to reach what runs there`);
		return this.#box(key, place.wish, place.task);
	}

	async close(): Promise<void> {
		await Promise.all([...this.#known.values()].map((box) => box.close()));
		this.#known.clear();
	}

	#box(key: string, wish: RemoteWish, task: string): Box {
		const known = this.#known.get(key);
		if (known) return known;
		const box = new Box(new LaterHost(placeName(wish), () => hostOf(wish, { task }, this.#home)), this.#home, {
			key,
			name: placeName(wish),
			owner: ownerOf(this.#home),
		});
		this.#known.set(key, box);
		return box;
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
