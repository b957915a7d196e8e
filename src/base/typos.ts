/** Returns how many letters were added, left out, changed or swapped with their neighbour. */
export function typos(one: string, other: string): number {
	let before: number[] = [];
	let last = Array.from({ length: other.length + 1 }, (_, at) => at);
	for (let row = 1; row <= one.length; row++) {
		const next = [row];
		for (let at = 1; at <= other.length; at++) {
			const same = one[row - 1] === other[at - 1];
			next[at] = Math.min((last[at] as number) + 1, (next[at - 1] as number) + 1, (last[at - 1] as number) + (same ? 0 : 1));
			if (row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1])
				next[at] = Math.min(next[at] as number, (before[at - 2] as number) + 1);
		}
		[before, last] = [last, next];
	}
	return last[other.length] as number;
}
