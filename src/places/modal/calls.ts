/**
 * Calls to Modal. gRPC keeps a program alive for as long as a call is open, even one that only waits for output, and the library offers no way to
 * change that or to cancel a call. So this records the sockets that it opens, and passes every call the caller's signal.
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

/**
 * Runs work with the library and keeps this program alive until it is done. When the signal aborts, calls in flight are cancelled on this side; what
 * they have begun at Modal continues.
 */
export async function asked<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
	hold(true);
	try {
		return await noted(work, signal);
	} finally {
		hold(false);
	}
}

/** The same for work that may wait long, and does not keep this program alive. */
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

/** Sets whether open calls keep this program alive; each `true` is followed by a `false`. */
export function hold(on: boolean): void {
	holders += on ? 1 : -1;
	if (holders === (on ? 1 : 0)) for (const socket of sockets) on ? socket.ref() : socket.unref();
}

type Middleware = NonNullable<ModalClientParams["grpcMiddleware"]>[number];

/** Gives each call the caller's signal. */
export const giveUp: Middleware = async function* giveUp(call, options) {
	const own = asking.getStore()?.signal;
	const signal = own && options.signal ? AbortSignal.any([own, options.signal]) : (own ?? options.signal);
	return yield* call.next(call.request, { ...options, ...(signal ? { signal } : {}) });
};
