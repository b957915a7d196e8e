/** The last events that this program has told of a home, numbered, for a consumer that comes back or is slow. */
import { randomBytes } from "node:crypto";
import type { Home } from "../base/index.js";
import type { Happening, HoldfastEvent } from "./event.js";
import { type EventId, idText } from "./id.js";

const KEPT = 1_000;

export class EventRing {
	readonly #home: Home;
	readonly #epoch = randomBytes(4).toString("hex");
	readonly #events: HoldfastEvent[] = [];
	/** The number of the next event. */
	next = 1;

	constructor(home: Home) {
		this.#home = home;
	}

	/** The number of the first event that is kept. */
	get first(): number {
		return this.next - this.#events.length;
	}

	at(number: number): HoldfastEvent | undefined {
		return this.#events[number - this.first];
	}

	/** The number behind an event that was told here; undefined when it, or one after it, is no longer kept. */
	behind({ epoch, number }: EventId): number | undefined {
		return epoch === this.#epoch && number + 1 >= this.first && number < this.next ? number + 1 : undefined;
	}

	/** The id behind which the event of a number comes. */
	idBefore(number: number, time: number): string {
		return idText(this.#home, { time, epoch: this.#epoch, number: number - 1 });
	}

	add({ time = Date.now(), ...happening }: Happening): HoldfastEvent {
		const id = idText(this.#home, { time: Date.now(), epoch: this.#epoch, number: this.next++ });
		const event = { id, at: new Date(time).toISOString(), ...happening } as HoldfastEvent;
		this.#events.push(event);
		if (this.#events.length > KEPT) this.#events.shift();
		return event;
	}

	/** Nothing is watched from now on: what happens until then is found on disk, and has no number. */
	clear(): void {
		this.#events.length = 0;
		this.next++;
	}
}
