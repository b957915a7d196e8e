import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

const KEPT = 100;
/** Sessions are many, and last for a day: of more than this only the newest stream is kept whole. */
const KEPT_CHARS = 2 * 1024 * 1024;

/** The last events sent to a session, so that a client whose stream broke in the middle of a call can ask for the rest. */
export class RecentEvents implements EventStore {
	readonly #events: { id: string; stream: string; text: string }[] = [];
	#count = 0;
	#chars = 0;

	async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
		const id = String(++this.#count);
		const text = JSON.stringify(message);
		this.#events.push({ id, stream, text });
		this.#chars += text.length;
		if (this.#events.length > KEPT) this.#drop(0);
		while (this.#chars > KEPT_CHARS && this.#drop(this.#events.findIndex((event) => event.stream !== stream)));
		return id;
	}

	#drop(at: number): boolean {
		if (at === -1) return false;
		this.#chars -= this.#events.splice(at, 1)[0]?.text.length ?? 0;
		return true;
	}

	async getStreamIdForEventId(id: string): Promise<string | undefined> {
		return this.#events.find((event) => event.id === id)?.stream;
	}

	async replayEventsAfter(id: string, { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> }): Promise<string> {
		const at = this.#events.findIndex((event) => event.id === id);
		const { stream } = this.#events[at] as { stream: string }; // the SDK has asked for it before
		for (const event of this.#events.slice(at + 1)) if (event.stream === stream) await send(event.id, JSON.parse(event.text) as JSONRPCMessage);
		return stream;
	}
}
