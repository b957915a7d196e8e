/** Random choices that a red run can repeat: the seed is printed, and taken from SEED when that is set. */
export function seeded(name: string): () => number {
	const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
	console.log(`${name}: SEED=${seed}`);
	return mulberry32(seed);
}

/** A small generator with a period of 2³²: numbers from 0 up to, and without, 1. */
function mulberry32(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** Cases of a long table: every so many in `npm test`, all of them in `npm run soak`. */
export const everyFew = <Case>(cases: readonly Case[], step: number): Case[] => cases.filter((_, at) => process.env.SOAK === "1" || at % step === 0);

/** How often a loop goes round: a few times in `npm test`, more often in `npm run soak`. */
export const rounds = (few: number, many: number): number => (process.env.SOAK === "1" ? many : few);
