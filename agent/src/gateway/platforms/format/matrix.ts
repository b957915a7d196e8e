/** A Matrix message: plain text, and HTML beside it. */
import { flatten, type TextSpan } from "./flatten.js";
import { styledText } from "./plain.js";
import { weave } from "./weave.js";

const TAGS = { bold: "strong", italic: "em", strike: "del", code: "code", quote: "blockquote" } as const;
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

export interface MatrixText {
	readonly body: string;
	readonly format?: "org.matrix.custom.html";
	readonly formatted_body?: string;
}

export function matrixText(markdown: string): MatrixText {
	const flat = flatten(markdown);
	const body = styledText(markdown);
	if (flat.spans.length === 0) return { body };
	const around = (span: TextSpan, open: boolean): string => {
		if (span.kind === "pre") return open ? `<pre><code${span.lang ? ` class="language-${escaped(span.lang)}"` : ""}>` : "</code></pre>";
		if (span.kind === "link") return open ? `<a href="${escaped(isWeb(span.href) ? (span.href ?? "") : "")}">` : "</a>";
		return open ? `<${TAGS[span.kind]}>` : `</${TAGS[span.kind]}>`;
	};
	const text = (part: string, code: unknown): string => (code ? escaped(part) : escaped(part).replaceAll("\n", "<br>"));
	return {
		body,
		format: "org.matrix.custom.html",
		formatted_body: weave(flat, { open: (span) => around(span, true), close: (span) => around(span, false), text }),
	};
}

const isWeb = (href: string | undefined): boolean => /^(?:https?|mailto|matrix):/i.test(href ?? "");
