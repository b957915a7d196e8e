import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

const KEPT = 100;

/** What a session was sent last, so that a client whose stream broke in the middle of a call can ask for the rest. */
export class RecentEvents implements EventStore {
	readonly #events: { id: string; stream: string; message: JSONRPCMessage }[] = [];
	#count = 0;

	async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
		const id = String(++this.#count);
		this.#events.push({ id, stream, message });
		if (this.#events.length > KEPT) this.#events.shift();
		return id;
	}

	async getStreamIdForEventId(id: string): Promise<string | undefined> {
		return this.#events.find((event) => event.id === id)?.stream;
	}

	async replayEventsAfter(id: string, { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> }): Promise<string> {
		const at = this.#events.findIndex((event) => event.id === id);
		const { stream } = this.#events[at] as { stream: string }; // the SDK has asked for it before
		for (const event of this.#events.slice(at + 1)) if (event.stream === stream) await send(event.id, event.message);
		return stream;
	}
}
