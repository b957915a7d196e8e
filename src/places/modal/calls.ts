/**
 * Calls to Modal. gRPC keeps a program alive for as long as a call is open, also one that only waits for output, and the library offers neither a way to
 * say otherwise nor one to give up a call. So the sockets that it opens are noted as they are made, and every call takes the signal of whoever asked.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import diagnostics from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { ModalClientParams } from "modal";

interface Asking {
	readonly signal?: AbortSignal | undefined;
}

const asking = new AsyncLocalStorage<Asking>();
const sockets = new Set<Socket>();
let holders = 0;
let watching = false;

/** Does something with the library: this program stays alive until it is done. Calls that are under way when the signal is aborted are given up on this side, and what they have begun at Modal goes on. */
export async function asked<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
	hold(true);
	try {
		return await noted(work, signal);
	} finally {
		hold(false);
	}
}

/** The same for what may wait for long, and does not keep this program alive by itself. */
export function noted<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
	if (!watching) {
		watching = true;
		diagnostics.subscribe("net.client.socket", (message) => {
			if (asking.getStore() === undefined) return;
			const { socket } = message as { readonly socket: Socket };
			sockets.add(socket);
			socket.once("close", () => sockets.delete(socket));
		});
	}
	return asking.run({ signal }, work);
}

/** Whether this program is to stay alive for open calls; each `true` is followed by a `false`. */
export function hold(on: boolean): void {
	holders += on ? 1 : -1;
	if (holders === (on ? 1 : 0)) for (const socket of sockets) on ? socket.ref() : socket.unref();
}

type Middleware = NonNullable<ModalClientParams["grpcMiddleware"]>[number];

/** Gives each call the signal of whoever asked. */
export const giveUp: Middleware = async function* giveUp(call, options) {
	const own = asking.getStore()?.signal;
	const signal = own && options.signal ? AbortSignal.any([own, options.signal]) : (own ?? options.signal);
	return yield* call.next(call.request, { ...options, ...(signal ? { signal } : {}) });
};
