/** Numbers with how sure they are. Random draws are the same in every report of the same run. */

export interface Interval {
	readonly value: number;
	/** Bounds of 95 %. */
	readonly low: number;
	readonly high: number;
}

const Z95 = 1.959964;
const DRAWS = 10_000;

/** The interval in which the true rate is with 95 % certainty, after Wilson. */
export function wilson(hits: number, of: number): Interval {
	const value = hits / of;
	const middle = (value + (Z95 * Z95) / (2 * of)) / (1 + (Z95 * Z95) / of);
	const half = (Z95 * Math.sqrt((value * (1 - value)) / of + (Z95 * Z95) / (4 * of * of))) / (1 + (Z95 * Z95) / of);
	return { value, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** Returns the mean with bounds from 10,000 samples that are drawn with replacement; undefined without values. */
export function bootstrap(values: readonly number[]): Interval | undefined {
	if (values.length === 0) return undefined;
	const random = numbersFrom(values.length);
	const means = new Float64Array(DRAWS);
	for (let draw = 0; draw < DRAWS; draw++) {
		let sum = 0;
		for (let at = 0; at < values.length; at++) sum += values[Math.floor(random() * values.length)] as number;
		means[draw] = sum / values.length;
	}
	means.sort();
	return { value: meanOf(values) as number, low: means[Math.floor(DRAWS * 0.025)] as number, high: means[Math.ceil(DRAWS * 0.975) - 1] as number };
}

/** The chance that at least one of k attempts solves it, if c of n did: 1 - C(n-c, k) / C(n, k), which is unbiased. */
export function passAtK(n: number, c: number, k: number): number {
	if (n - c < k) return 1;
	let misses = 1;
	for (let at = 0; at < k; at++) misses *= (n - c - at) / (n - at);
	return 1 - misses;
}

/** The probability that two programs which are equally good differ at least this much: McNemar's exact test, two-sided. */
export function mcnemar(onlyFirst: number, onlySecond: number): number {
	const n = onlyFirst + onlySecond;
	const fewer = Math.min(onlyFirst, onlySecond);
	let tail = 0;
	for (let hits = 0, log = -n * Math.LN2; hits <= fewer; log += Math.log((n - hits) / (hits + 1)), hits++) tail += Math.exp(log);
	return Math.min(1, 2 * tail);
}

/** The value that a share of all are at most; null without values. */
export function percentile(values: readonly number[], share: number): number | null {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

export const sumOf = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
export const meanOf = (values: readonly number[]): number | null => (values.length === 0 ? null : sumOf(values) / values.length);

/** Returns a generator of numbers from 0 to 1 (mulberry32): the same for the same seed. */
function numbersFrom(seed: number): () => number {
	let state = seed | 0;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
