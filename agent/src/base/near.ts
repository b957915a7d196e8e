/** Returns the known names that are a typing mistake or a beginning away from `name`, nearest first; at most three. */
export function nearNames(name: string, known: readonly string[]): string[] {
	const wanted = name.toLowerCase().slice(0, LONGEST);
	const most = wanted.length <= 4 ? 1 : wanted.length <= 8 ? 2 : 3;
	return known
		.map((other) => ({ other, distance: other.toLowerCase().startsWith(wanted) && wanted.length >= 3 ? 1 : mistakes(wanted, other.toLowerCase()) }))
		.filter(({ distance }) => distance <= most)
		.sort((a, b) => a.distance - b.distance)
		.slice(0, 3)
		.map(({ other }) => other);
}

const LONGEST = 100; // the time grows with the square of it

/** How many letters were added, left out, changed or swapped with their neighbour. */
function mistakes(one: string, other: string): number {
	const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)];
	for (let row = 1; row <= one.length; row++) {
		const [last, next] = [rows[row - 1] ?? [], [row]];
		for (let at = 1; at <= other.length; at++) {
			const same = one[row - 1] === other[at - 1];
			let least = Math.min((last[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + (same ? 0 : 1));
			if (one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1]) least = Math.min(least, (rows[row - 2]?.[at - 2] ?? least) + 1);
			next[at] = least;
		}
		rows.push(next);
	}
	return rows[one.length]?.[other.length] ?? 0;
}
