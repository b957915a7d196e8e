/** Discord's markdown: what is no mark is escaped. */
import { flatten, type TextSpan } from "./flatten.js";
import { weave } from "./weave.js";

const MARKS = { bold: "**", italic: "*", strike: "~~", code: "`" } as const;

export function discordText(markdown: string): string {
	const around = (span: TextSpan, open: boolean): string => {
		if (span.kind === "pre") return open ? `\`\`\`${span.lang ?? ""}\n` : "\n```";
		if (span.kind === "link") return open ? "[" : `](<${(span.href ?? "").replace(/[<>\s]/g, "")}>)`;
		return span.kind === "quote" ? "" : MARKS[span.kind];
	};
	return weave(flatten(markdown), {
		open: (span) => around(span, true),
		close: (span) => around(span, false),
		text: (text, code) => (code ? text.replaceAll("```", "`\u200b``") : text.replace(/[\\*_~`|]/g, "\\$&").replace(/^([>#-])/gm, "\\$1")),
		quote: "> ",
	});
}
