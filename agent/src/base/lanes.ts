/** Acts on each, at most `most` at a time. After a failure no more are begun; rejects with the first one, once those under way are over. */
export async function inLanes<T>(all: readonly T[], most: number, act: (one: T) => Promise<void>): Promise<void> {
	const rest = all.values();
	let failed = false;
	const lane = async () => {
		for (const one of rest) {
			if (failed) return;
			try {
				await act(one);
			} catch (error) {
				failed = true;
				throw error;
			}
		}
	};
	const ends = await Promise.allSettled(Array.from({ length: Math.min(most, all.length) }, lane));
	for (const end of ends) if (end.status === "rejected") throw end.reason;
}
