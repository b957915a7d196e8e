/** A seed that is printed, and taken from SEED when that is set: a red run can be repeated. */
export function seedOf(name: string): number {
	const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
	console.log(`${name}: SEED=${seed}`);
	return seed;
}

/** Numbers from 0 up to, and without, 1; the same for the same seed. */
export function randomFrom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
