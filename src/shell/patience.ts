/** How long somebody waits for a shell to be born. */
import { HoldfastError } from "../base/errors.js";

export interface Patience {
	readonly signal?: AbortSignal | undefined;
	/** By performance.now(). */
	readonly deadline: number;
	/** Why the machine that it is born on cannot be reached, if that is so. */
	readonly trouble?: () => string | undefined;
}

export const interrupted = (signal: AbortSignal | undefined): HoldfastError =>
	new HoldfastError("ABORTED", "interrupted before it started; nothing ran", { cause: signal?.reason });

const tooLate = (trouble: string | undefined): HoldfastError =>
	new HoldfastError(
		"START_FAILED",
		trouble === undefined
			? "nothing ran: the time was up while the shell of this task was still starting (it reads the profile files, up to 10 s); it goes on starting, so send the command again"
			: `nothing ran: ${trouble}. The next call tries again`,
	);

/** A failure before anything was sent. */
export function neverBegan(error: unknown): never {
	if (!(error instanceof HoldfastError) || error.code !== "UNREACHABLE") throw error;
	throw new HoldfastError("START_FAILED", `nothing ran: ${error.message}`, { cause: error });
}

/** The work goes on, whoever stops waiting for it. */
export async function patiently<T>(work: Promise<T>, { signal, deadline, trouble }: Patience): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	let stop: (() => void) | undefined;
	try {
		return await new Promise<T>((resolve, reject) => {
			work.then(resolve, reject);
			stop = () => reject(interrupted(signal));
			if (signal?.aborted) stop();
			signal?.addEventListener("abort", stop, { once: true });
			if (Number.isFinite(deadline)) timer = setTimeout(() => reject(tooLate(trouble?.())), Math.max(0, Math.min(deadline - performance.now(), 2 ** 31 - 1)));
		});
	} finally {
		clearTimeout(timer);
		if (stop) signal?.removeEventListener("abort", stop);
	}
}
