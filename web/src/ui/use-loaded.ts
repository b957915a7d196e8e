/** Something from the server, for a component: nothing yet, there, or failed. What is out of date when it arrives is dropped. */
import { type Inputs, useEffect, useState } from "preact/hooks";
import { ApiError } from "../api/client.js";

const RETRY_MS = 1_000;

export interface Loaded<T> {
	readonly value?: T;
	readonly error?: unknown;
}

export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: Inputs): Loaded<T> {
	const [loaded, setLoaded] = useState<Loaded<T>>({});
	useEffect(() => {
		const controller = new AbortController();
		setLoaded({});
		const attempt = (): void => {
			load(controller.signal).then(
				(value) => controller.signal.aborted || setLoaded({ value }),
				(error: unknown) => {
					if (controller.signal.aborted) return;
					// Without a server there is nothing to say but what the banner says; with it, all is well again.
					if (error instanceof ApiError && error.code === "UNREACHABLE") setTimeout(attempt, RETRY_MS);
					else setLoaded({ error });
				},
			);
		};
		attempt();
		return () => controller.abort();
	}, inputs);
	return loaded;
}
