/** Text with entities for Telegram: nothing to escape, nothing that cannot be parsed. */
import type { MessageEntity } from "grammy/types";
import { flatten, type TextSpan } from "./flatten.js";

const MOST_ENTITIES = 100; // more are ignored by Telegram

export function telegramText(markdown: string): { text: string; entities: MessageEntity[] } {
	const { text, spans } = flatten(markdown);
	const links = spans.filter(({ kind }) => kind === "link");
	const within = (outer: readonly TextSpan[], { start, end }: TextSpan): boolean => outer.some((one) => one.start <= start && end <= one.end);
	const code = spans.filter((span) => span.kind === "pre" || (span.kind === "code" && !within(links, span)));
	const quotes = spans.filter(({ kind }) => kind === "quote");
	const entities = spans.flatMap((span): MessageEntity[] => {
		if (span.kind === "code" || span.kind === "pre") return code.includes(span) ? [entity(span, span.start, span.end)] : [];
		if (span.kind === "link") return within(code, span) || !isWebLink(span.href) ? [] : [entity(span, span.start, span.end)];
		if (
			span.kind === "quote" &&
			within(
				quotes.filter((one) => one !== span),
				span,
			)
		)
			return []; // quotes do not nest
		return around(span, code, text).map(([start, end]) => entity(span, start, end));
	});
	return { text, entities: entities.sort((a, b) => a.offset - b.offset || b.length - a.length).slice(0, MOST_ENTITIES) };
}

/** The parts of a span beside code, which may be in no other entity. */
function around({ start, end }: TextSpan, code: readonly TextSpan[], text: string): [number, number][] {
	const parts: [number, number][] = [];
	let at = start;
	for (const hole of code.filter((one) => one.start < end && one.end > start)) {
		parts.push([at, hole.start]);
		at = hole.end;
	}
	parts.push([at, end]);
	return parts.filter(([from, to]) => text.slice(from, to).trim() !== "");
}

function entity(span: TextSpan, start: number, end: number): MessageEntity {
	const where = { offset: start, length: end - start };
	switch (span.kind) {
		case "bold":
		case "italic":
		case "code":
			return { type: span.kind, ...where };
		case "strike":
			return { type: "strikethrough", ...where };
		case "quote":
			return { type: "blockquote", ...where };
		case "pre":
			return span.lang === undefined ? { type: "pre", ...where } : { type: "pre", ...where, language: span.lang };
		case "link":
			return { type: "text_link", ...where, url: span.href ?? "" };
	}
}

const isWebLink = (href: string | undefined): boolean => /^(?:https?|tg|mailto):/i.test(href ?? "");
