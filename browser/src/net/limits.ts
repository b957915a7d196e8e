export const NET_LIMITS = {
	/** Bytes of a body, after decompression. */
	bytes: 20 * 1024 * 1024,
	/** For all of it, redirects and retries included. */
	totalMs: 45_000,
	connectMs: 10_000,
	/** Until the headers are there; between two pieces of the body. */
	idleMs: 15_000,
	redirects: 8,
	retries: 2,
	headerBytes: 32 * 1024,
};
export type NetLimits = Readonly<typeof NET_LIMITS>;
