/** How long a caller waits for a place to be made and for a shell to be born in it. */
import { HoldfastError } from "../base/index.js";
import { notYet } from "../places/index.js";

const READY_MS = 180_000; // an image may have to be fetched

export interface Patience {
	readonly signal?: AbortSignal | undefined;
	/** The time by performance.now(). */
	readonly deadline: number;
	/** The place of the birth. */
	readonly place?: string;
	/** Why that cannot be reached, if it cannot. */
	readonly trouble?: () => string | undefined;
	/** Returns what a place that is not up yet waits for. */
	readonly pending?: () => string | undefined;
}

/** `answerBy`: the caller waits no longer than that, by performance.now(). */
export const patienceOf = ({
	answerBy = Number.POSITIVE_INFINITY,
	...rest
}: Omit<Patience, "deadline"> & { readonly answerBy?: number | undefined }): Patience => ({
	...rest,
	deadline: Math.min(performance.now() + READY_MS, answerBy),
});

export const interrupted = (signal: AbortSignal | undefined): HoldfastError =>
	new HoldfastError("ABORTED", "interrupted before it started; nothing ran", { cause: signal?.reason });

export const closed = (): HoldfastError => new HoldfastError("ABORTED", "nothing ran: the runtime was closed while the shell was starting");

const tooLate = ({ place, trouble, pending }: Patience): HoldfastError => {
	const awaited = pending?.();
	if (awaited !== undefined) return notYet(place ?? "the place", awaited);
	const why = trouble?.();
	const what = place === undefined || place === "local" ? "the shell of this task was" : `${place}, or the shell of this task there, was`;
	return new HoldfastError(
		"START_FAILED",
		why === undefined
			? `nothing ran: the time was up while ${what} still starting (a shell reads the profile files, up to 10 s); it goes on starting, so send the command again`
			: `nothing ran: ${why}. The next call tries again`,
	);
};

/** A failure before anything was sent. */
export function neverBegan(error: unknown): never {
	if (!(error instanceof HoldfastError) || error.code !== "UNREACHABLE") throw error;
	throw new HoldfastError("START_FAILED", `nothing ran: ${error.message}`, { cause: error });
}

/** The work goes on when a caller stops waiting for it. */
export async function patiently<T>(work: Promise<T>, patience: Patience): Promise<T> {
	const { signal, deadline } = patience;
	let timer: NodeJS.Timeout | undefined;
	let stop: (() => void) | undefined;
	try {
		return await new Promise<T>((resolve, reject) => {
			work.then(resolve, reject);
			stop = () => reject(interrupted(signal));
			if (signal?.aborted) stop();
			signal?.addEventListener("abort", stop, { once: true });
			if (Number.isFinite(deadline)) timer = setTimeout(() => reject(tooLate(patience)), Math.max(0, Math.min(deadline - performance.now(), 2 ** 31 - 1)));
		});
	} finally {
		clearTimeout(timer);
		if (stop) signal?.removeEventListener("abort", stop);
	}
}
