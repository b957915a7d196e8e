/** The connection to one terminal: opens with a ticket, hands on what comes, and connects again by itself. */
import { signal } from "@preact/signals";
import type { ClientMessage, ServerMessage } from "../../../src/doors/http/messages.js";
import { terminalTicket } from "../api/calls.js";
import { ApiError, mounted } from "../api/client.js";

export type SocketState = { readonly phase: "connecting" | "live" | "lost" } | { readonly phase: "over"; readonly why: string };

export interface Hears {
	/** Connected: say from where to go on. */
	connected(): void;
	message(message: ServerMessage): void;
	frame(offset: number, end: number, bytes: Uint8Array): void;
}

const HEAD = 16; // offset and end of the log, 8 bytes each
const SILENCE_MS = 40_000;
const RETRY_MS = [100, 300, 1_000, 2_000, 4_000];
/** Closed with these there is nothing to come back to. */
const FINAL: Record<number, string> = {
	4401: "This link has expired. Ask for a new one.",
	4404: "This process and its log were removed; logs are kept for seven days.",
};

export class TerminalSocket {
	readonly state = signal<SocketState>({ phase: "connecting" });
	#socket: WebSocket | undefined;
	#failures = 0;
	#retry = 0;
	#silence = 0;
	#closed = false;

	constructor(
		readonly id: string,
		readonly hears: Hears,
	) {
		void this.#connect();
	}

	/** false: not connected, and nothing was sent. */
	send(message: ClientMessage): boolean {
		if (this.#socket?.readyState !== WebSocket.OPEN) return false;
		this.#socket.send(JSON.stringify(message));
		return true;
	}

	close(): void {
		this.#closed = true;
		clearTimeout(this.#retry);
		clearTimeout(this.#silence);
		this.#socket?.close();
	}

	async #connect(): Promise<void> {
		let url: string;
		try {
			url = (await terminalTicket(this.id)).url;
		} catch (error) {
			if (error instanceof ApiError && (error.status === 404 || error.status === 401 || error.status === 403)) this.#over(error.message);
			else this.#again();
			return;
		}
		if (this.#closed) return;
		const socket = new WebSocket(new URL(mounted(url), location.href.replace(/^http/, "ws")));
		this.#socket = socket;
		socket.binaryType = "arraybuffer";
		socket.onopen = () => {
			this.#failures = 0;
			this.#heard(socket);
			this.state.value = { phase: "live" };
			this.hears.connected();
		};
		socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
			this.#heard(socket);
			if (typeof data === "string") this.hears.message(JSON.parse(data) as ServerMessage);
			else {
				const head = new DataView(data);
				this.hears.frame(Number(head.getBigUint64(0)), Number(head.getBigUint64(8)), new Uint8Array(data, HEAD));
			}
		};
		socket.onclose = ({ code }) => {
			clearTimeout(this.#silence);
			if (this.#socket !== socket || this.#closed) return;
			const final = FINAL[code];
			if (final) this.#over(final);
			else this.#again();
		};
	}

	/** A dead connection may look open for minutes. */
	#heard(socket: WebSocket): void {
		clearTimeout(this.#silence);
		this.#silence = setTimeout(() => socket.close(), SILENCE_MS);
	}

	#again(): void {
		if (this.#closed) return;
		this.state.value = { phase: "lost" };
		this.#retry = setTimeout(() => void this.#connect(), RETRY_MS[Math.min(this.#failures++, RETRY_MS.length - 1)]);
	}

	#over(why: string): void {
		this.state.value = { phase: "over", why };
	}
}
