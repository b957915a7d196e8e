/** Waits for a server. A sandbox has its own network, on which a separate program loads this file: so it imports nothing of ours. */
import net from "node:net";

const CONNECT_MS = 1_000;

/** Waits until the port accepts connections. There is no event for that, so it polls, slowing down to every 250 ms. */
export async function portOpens(port: number, signal: AbortSignal): Promise<void> {
	await retry(signal, () => Promise.any(["127.0.0.1", "::1"].map((host) => connect(host, port))));
}

/** Waits until the URL answers with this status, or with any of 200 to 399. */
export async function httpAnswers(url: string, status: number | undefined, signal: AbortSignal): Promise<void> {
	await retry(signal, async () => {
		const limit = AbortSignal.timeout(10_000);
		const response = await fetch(url, { redirect: "manual", signal: AbortSignal.any([signal, limit]) });
		await response.body?.cancel();
		limit.throwIfAborted(); // referenced until here: a collected signal never fires
		const good = status === undefined ? response.status >= 200 && response.status < 400 : response.status === status;
		if (!good) throw new Error(`status ${response.status}`);
	});
}

export async function retry(signal: AbortSignal, attempt: () => Promise<unknown>): Promise<void> {
	for (let pause = 10; ; pause = Math.min(pause * 1.5, 250)) {
		signal.throwIfAborted();
		try {
			await attempt();
			return;
		} catch (error) {
			if ((error as { code?: unknown } | null)?.code === "UNSUPPORTED") throw error; // the request can never succeed
			// not yet; the caller's deadline ends this
		}
		await new Promise<void>((resolve) => {
			const timer = setTimeout(done, pause);
			function done() {
				clearTimeout(timer);
				signal.removeEventListener("abort", done);
				resolve();
			}
			signal.addEventListener("abort", done, { once: true });
		});
	}
}

function connect(host: string, port: number): Promise<void> {
	return new Promise((resolve, reject) => {
		const socket = net.connect({ host, port, timeout: CONNECT_MS });
		socket.once("connect", () => {
			socket.destroy();
			resolve();
		});
		socket.once("timeout", () => socket.destroy(new Error("no answer")));
		socket.once("error", reject);
	});
}
