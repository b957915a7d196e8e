/** The difference between two texts, line by line, as `diff -u` shows it. */

const CONTEXT = 3;
const MAX_CELLS = 1_000_000; // of the table that finds what two stretches have in common

interface Line {
	readonly sign: " " | "-" | "+";
	readonly text: string;
}

/** `show` may change what is shown of a line. */
export function diffLines(before: string, after: string, show: (line: string) => string = (line) => line): string[] {
	const lines = compare(split(before), split(after));
	const near = new Set<number>();
	lines.forEach(({ sign }, at) => {
		if (sign !== " ") for (let line = at - CONTEXT; line <= at + CONTEXT; line++) near.add(line);
	});
	const shown: string[] = [];
	const passed = { old: 0, fresh: 0 };
	for (let at = 0; at < lines.length; ) {
		const start = at;
		while (at < lines.length && near.has(at) === near.has(start)) at++;
		const stretch = lines.slice(start, at);
		const old = stretch.filter(({ sign }) => sign !== "+").length;
		const fresh = stretch.filter(({ sign }) => sign !== "-").length;
		if (near.has(start)) {
			shown.push(`@@ -${passed.old + Math.min(old, 1)},${old} +${passed.fresh + Math.min(fresh, 1)},${fresh} @@`);
			shown.push(...stretch.map(({ sign, text }) => `${sign}${show(text)}`));
		}
		passed.old += old;
		passed.fresh += fresh;
	}
	return shown;
}

const split = (text: string): string[] => (text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/));

function compare(one: readonly string[], two: readonly string[]): Line[] {
	let start = 0;
	while (start < one.length && start < two.length && one[start] === two[start]) start++;
	let end = 0;
	while (end < Math.min(one.length, two.length) - start && one.at(-1 - end) === two.at(-1 - end)) end++;
	const same = (text: string): Line => ({ sign: " ", text });
	return [
		...one.slice(0, start).map(same),
		...compareMiddle(one.slice(start, one.length - end), two.slice(start, two.length - end)),
		...one.slice(one.length - end).map(same),
	];
}

/** The longest common subsequence; too long for that: all of the one, then all of the other. */
function compareMiddle(one: readonly string[], two: readonly string[]): Line[] {
	const lines: Line[] = [];
	const width = two.length + 1;
	const small = (one.length + 1) * width <= MAX_CELLS;
	const common = new Uint32Array(small ? (one.length + 1) * width : 0);
	const at = (i: number, j: number): number => common[i * width + j] ?? 0;
	if (small)
		for (let i = one.length - 1; i >= 0; i--)
			for (let j = two.length - 1; j >= 0; j--) common[i * width + j] = one[i] === two[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
	for (let [i, j] = [0, 0]; i < one.length || j < two.length; ) {
		const [left, right] = [one[i], two[j]];
		if (small && left !== undefined && left === right) {
			lines.push({ sign: " ", text: left });
			i++;
			j++;
		} else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
			lines.push({ sign: "-", text: left });
			i++;
		} else {
			lines.push({ sign: "+", text: right as string });
			j++;
		}
	}
	return lines;
}
