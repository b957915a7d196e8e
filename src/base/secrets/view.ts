/** Text without its escape sequences, with the original positions: a colour may begin in the middle of a secret. */
import { SEQUENCE } from "../ansi.js";

export type MaskedSpan = readonly [from: number, to: number];

export interface MaskView {
	readonly text: string;
	/** Returns the position in the text of a position in the view. */
	place(at: number): number;
	/** Returns the spans in the text of spans in the view. */
	places(ranges: readonly MaskedSpan[]): Iterable<MaskedSpan>;
	/** Sequences that have text of their own in them: titles, links. Where they are, and what they are. */
	readonly titles: readonly { readonly from: number; readonly text: string }[];
}

/** A stretch between sequences: where it was, and where it is. */
interface Part {
	readonly from: number;
	readonly at: number;
	readonly length: number;
}

/** A sequence that takes any text, and has some. */
const TITLE = /^\x1b[\]PX^_][\s\S]{6}/;

export function viewOf(text: string): MaskView {
	if (!text.includes("\x1b") && !text.includes("\x9b")) return { text, place: (at) => at, places: (ranges) => ranges, titles: [] };
	const parts: Part[] = [];
	const kept: string[] = [];
	const titles: { from: number; text: string }[] = [];
	let length = 0;
	let from = 0;
	const keep = (to: number) => {
		if (to > from) {
			parts.push({ from, at: length, length: to - from });
			kept.push(text.slice(from, to));
			length += to - from;
		}
	};
	for (const match of text.matchAll(SEQUENCE)) {
		keep(match.index);
		from = match.index + match[0].length;
		if (TITLE.test(match[0])) titles.push({ from: match.index, text: match[0] });
	}
	keep(text.length);
	return {
		text: kept.join(""),
		titles,
		place(at) {
			const part = parts.findLast((candidate) => candidate.at <= at);
			return part ? part.from + at - part.at : at;
		},
		*places(ranges) {
			let index = 0;
			for (const [start, end] of ranges) {
				for (let part = parts[index]; part && part.at + part.length <= start; part = parts[index]) index++;
				for (let next = index; next < parts.length; next++) {
					const part = parts[next] as Part;
					if (part.at >= end) break;
					yield [part.from + Math.max(0, start - part.at), part.from + Math.min(part.length, end - part.at)];
				}
			}
		},
	};
}
