/** Sentences that are always the same for a seed, so that a page of the corpus never changes. */
const WORDS =
	"harbour lantern granite meadow copper signal orchard ledger timber canvas kettle marble rudder saddle thimble velvet window anchor basket cellar dapple ember feather garden hollow island jacket kernel ladder mirror needle oyster pepper quarry ribbon silver tunnel".split(
		" ",
	);

export function sentences(seed: number, count: number): string {
	let state = seed * 2_654_435_761 + 1;
	const next = (below: number) => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
	return Array.from({ length: count }, () => {
		const words = Array.from({ length: 9 + next(9) }, () => WORDS[next(WORDS.length)] ?? "");
		const text = words.join(" ");
		return `${text[0]?.toUpperCase()}${text.slice(1, 40)}, ${text.slice(40)}.`;
	}).join(" ");
}

export const paragraphs = (seed: number, count: number): string =>
	Array.from({ length: count }, (_, at) => `<p>${sentences(seed * 100 + at, 4)}</p>`).join("\n");
