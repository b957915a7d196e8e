/** Flat text with spans into a text with marks in it: Slack's, Discord's, HTML, plain. */
import type { FlatText, SpanKind, TextSpan } from "./flatten.js";

export interface Weaving {
	open(span: TextSpan): string;
	close(span: TextSpan): string;
	/** Escapes text outside of code, or inside. */
	text(text: string, within: SpanKind | undefined): string;
	/** In front of each line of a quote, if the marks of a quote are in front of lines. */
	readonly quote?: string;
}

export function weave({ text, spans }: FlatText, how: Weaving): string {
	const open: TextSpan[] = [];
	let [woven, at, next] = ["", 0, 0];
	const inCode = (): SpanKind | undefined => open.find(({ kind }) => kind === "code" || kind === "pre")?.kind;
	const prefix = (): string => (how.quote ?? "").repeat(open.filter(({ kind }) => kind === "quote").length);
	const upTo = (end: number): void => {
		if (end > at) woven += how.text(text.slice(at, end), inCode()).replaceAll("\n", `\n${prefix()}`);
		at = end;
	};
	const closeUpTo = (end: number): void => {
		for (let span = open.at(-1); span && span.end <= end; span = open.at(-1)) {
			upTo(span.end);
			woven += how.close(span);
			open.pop();
		}
	};
	for (; next < spans.length; next++) {
		const span = spans[next] as TextSpan;
		closeUpTo(span.start);
		upTo(span.start);
		if (inCode()) continue; // nothing is marked inside of code
		open.push(span);
		woven += (span.kind === "quote" ? (how.quote ?? "") : "") + how.open(span);
	}
	closeUpTo(text.length);
	upTo(text.length);
	return woven;
}
