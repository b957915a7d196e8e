/** A link as a QR code for a phone's camera (ISO/IEC 18004): bytes, error correction level L, versions 1 to 9. */

/** Error-correction codewords per block, blocks, and all codewords, by version from 1. The blocks of these versions are of one length. */
const VERSIONS = [
	[7, 1, 26],
	[10, 1, 44],
	[15, 1, 70],
	[20, 1, 100],
	[26, 1, 134],
	[18, 2, 172],
	[20, 2, 196],
	[24, 2, 242],
	[30, 2, 292],
] as const;
/** Rows and columns of the alignment patterns, by version from 1. */
const ALIGNED = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46]] as const;
const QUIET = 4; // modules of free space around it

const MASKS: readonly ((row: number, column: number) => boolean)[] = [
	(r, c) => (r + c) % 2 === 0,
	(r) => r % 2 === 0,
	(_, c) => c % 3 === 0,
	(r, c) => (r + c) % 3 === 0,
	(r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2 === 0,
	(r, c) => ((r * c) % 2) + ((r * c) % 3) === 0,
	(r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0,
	(r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0,
];

/** Returns rows of modules, true for dark ones; undefined if the text is longer than 230 bytes. */
export function qrCode(text: string): boolean[][] | undefined {
	const bytes = Buffer.from(text);
	const version = VERSIONS.findIndex(([check, blocks, all]) => bytes.length + 2 <= all - check * blocks) + 1;
	if (version === 0) return undefined;
	const codewords = interleaved(bytes, VERSIONS[version - 1] as (typeof VERSIONS)[number]);
	const drawn = MASKS.map((_, mask) => draw(version, codewords, mask));
	const penalties = drawn.map(penaltyOf);
	return drawn[penalties.indexOf(Math.min(...penalties))];
}

/** Returns it as lines of text, two rows of modules in each: dark on light whatever the terminal's colours are. */
export function qrLines(modules: readonly (readonly boolean[])[]): string[] {
	const dark = (row: number, column: number) => modules[row]?.[column] ?? false;
	const span = modules.length + 2 * QUIET;
	return Array.from({ length: Math.ceil(span / 2) }, (_, line) => {
		const halves = Array.from({ length: span }, (_, column) => {
			const [upper, lower] = [dark(2 * line - QUIET, column - QUIET), dark(2 * line + 1 - QUIET, column - QUIET)];
			return upper ? (lower ? "█" : "▀") : lower ? "▄" : " ";
		});
		return `\x1b[38;5;16;48;5;231m${halves.join("")}\x1b[0m`;
	});
}

/** The data with its header and padding, in blocks with their error correction, taken in turns. */
function interleaved(bytes: Buffer, [check, blocks, all]: readonly [number, number, number]): number[] {
	const room = all - check * blocks;
	const bits = [0, 1, 0, 0, ...bitsOf(bytes.length, 8), ...[...bytes].flatMap((byte) => bitsOf(byte, 8)), 0, 0, 0, 0].slice(0, room * 8);
	const data = Array.from({ length: Math.ceil(bits.length / 8) }, (_, at) =>
		Number.parseInt(
			bits
				.slice(at * 8, at * 8 + 8)
				.join("")
				.padEnd(8, "0"),
			2,
		),
	);
	for (let pad = 0xec; data.length < room; pad ^= 0xec ^ 0x11) data.push(pad);
	const parts = Array.from({ length: blocks }, (_, block) => data.slice((block * room) / blocks, ((block + 1) * room) / blocks));
	const checks = parts.map((part) => remainder(part, check));
	const turns = (lists: readonly number[][]) => (lists[0] ?? []).flatMap((_, at) => lists.map((list) => list[at] as number));
	return [...turns(parts), ...turns(checks)];
}

const bitsOf = (value: number, count: number): number[] => Array.from({ length: count }, (_, at) => (value >> (count - 1 - at)) & 1);

/** Multiplies in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function times(a: number, b: number): number {
	let product = 0;
	for (let bit = 7; bit >= 0; bit--) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((b >> bit) & 1) * a);
	return product;
}

/** Reed–Solomon: the remainder of the data by (x - 1)(x - 2)(x - 4)… */
function remainder(data: readonly number[], count: number): number[] {
	let divisor = [1];
	for (let at = 0, root = 1; at < count; at++, root = times(root, 2))
		divisor = [...divisor, 0].map((factor, index) => factor ^ (index === 0 ? 0 : times(divisor[index - 1] as number, root)));
	const rest = Array<number>(count).fill(0);
	for (const byte of data) {
		const factor = byte ^ (rest.shift() as number);
		rest.push(0);
		for (let at = 0; at < count; at++) rest[at] = (rest[at] as number) ^ times(divisor[at + 1] as number, factor);
	}
	return rest;
}

function draw(version: number, codewords: readonly number[], mask: number): boolean[][] {
	const size = version * 4 + 17;
	const cells = Array.from({ length: size }, () => Array<boolean | undefined>(size).fill(undefined)); // undefined: for data
	const set = (row: number, column: number, dark: boolean) => {
		if (row >= 0 && row < size && column >= 0 && column < size) (cells[row] as (boolean | undefined)[])[column] = dark;
	};
	/** Rings around a point; those whose distance is in `light` are light. */
	const rings = (row: number, column: number, reach: number, light: readonly number[]) => {
		for (let r = -reach; r <= reach; r++) for (let c = -reach; c <= reach; c++) set(row + r, column + c, !light.includes(Math.max(Math.abs(r), Math.abs(c))));
	};
	for (let at = 0; at < size; at++) {
		set(6, at, at % 2 === 0);
		set(at, 6, at % 2 === 0);
	}
	const aligned: readonly number[] = ALIGNED[version - 1] ?? [];
	const last = aligned.at(-1);
	for (const row of aligned)
		for (const column of aligned) if (!(row === 6 && (column === 6 || column === last)) && !(column === 6 && row === last)) rings(row, column, 2, [1]);
	for (const [row, column] of [
		[3, 3],
		[3, size - 4],
		[size - 4, 3],
	] as const)
		rings(row, column, 4, [2, 4]);
	drawFormat(set, size, mask);
	if (version >= 7) drawVersion(set, size, version);
	fill(cells, codewords, MASKS[mask] as (row: number, column: number) => boolean);
	return cells as boolean[][];
}

type Setter = (row: number, column: number, dark: boolean) => void;

/** Level L and the mask, twice, with a BCH code of their own. */
function drawFormat(set: Setter, size: number, mask: number): void {
	const data = (1 << 3) | mask;
	const bits = ((data << 10) | bch(data, 10, 0x537)) ^ 0x5412;
	const bit = (at: number) => ((bits >> at) & 1) === 1;
	const round = [0, 1, 2, 3, 4, 5, 7, 8]; // past the timing pattern
	for (let at = 0; at < 8; at++) {
		set(round[at] as number, 8, bit(at));
		set(8, size - 1 - at, bit(at));
	}
	for (let at = 8; at < 15; at++) {
		set(8, round[14 - at] as number, bit(at));
		set(size - 15 + at, 8, bit(at));
	}
	set(size - 8, 8, true);
}

function drawVersion(set: Setter, size: number, version: number): void {
	const bits = (version << 12) | bch(version, 12, 0x1f25);
	for (let at = 0; at < 18; at++) {
		const [near, along] = [size - 11 + (at % 3), Math.floor(at / 3)];
		set(near, along, ((bits >> at) & 1) === 1);
		set(along, near, ((bits >> at) & 1) === 1);
	}
}

function bch(data: number, degree: number, polynomial: number): number {
	let rest = data;
	for (let at = 0; at < degree; at++) rest = (rest << 1) ^ ((rest >> (degree - 1)) * polynomial);
	return rest;
}

/** Up and down in columns of two from the right, past the timing pattern. */
function fill(cells: (boolean | undefined)[][], codewords: readonly number[], masked: (row: number, column: number) => boolean): void {
	const size = cells.length;
	let at = 0;
	for (let pair = 0, right = size - 1; right > 0; pair++, right -= right === 8 ? 3 : 2)
		for (let step = 0; step < size; step++)
			for (const column of [right, right - 1]) {
				const row = pair % 2 === 0 ? size - 1 - step : step;
				const line = cells[row] as (boolean | undefined)[];
				if (line[column] !== undefined) continue;
				const bit = (((codewords[at >> 3] ?? 0) >> (7 - (at & 7))) & 1) === 1;
				at++;
				line[column] = bit !== masked(row, column);
			}
}

/** How hard it is to read: long runs, blocks of one colour, what looks like a finder pattern, too much of one colour. */
function penaltyOf(cells: readonly (readonly boolean[])[]): number {
	const size = cells.length;
	const lines = [...cells, ...cells.map((_, column) => cells.map((row) => row[column] as boolean))].map((line) => line.map(Number).join(""));
	let penalty = 0;
	for (const line of lines) {
		for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2;
		penalty += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
	}
	for (let row = 1; row < size; row++)
		for (let column = 1; column < size; column++) {
			const four = [cells[row]?.[column], cells[row - 1]?.[column], cells[row]?.[column - 1], cells[row - 1]?.[column - 1]];
			if (new Set(four).size === 1) penalty += 3;
		}
	const dark = cells.flat().filter(Boolean).length / (size * size);
	return penalty + 10 * Math.floor(Math.abs(dark - 0.5) * 20);
}
