/** Slack's mrkdwn. Only `&`, `<` and `>` can be escaped in it. */
import { flatten, type TextSpan } from "./flatten.js";
import { weave } from "./weave.js";

const MARKS = { bold: "*", italic: "_", strike: "~", code: "`" } as const;
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

export function slackText(markdown: string): string {
	const around = (span: TextSpan, open: boolean): string => {
		if (span.kind === "pre") return open ? "```\n" : "\n```";
		if (span.kind === "link") return open ? `<${escaped(span.href ?? "").replaceAll("|", "%7C")}|` : ">";
		return span.kind === "quote" ? "" : MARKS[span.kind];
	};
	return weave(flatten(markdown), {
		open: (span) => around(span, true),
		close: (span) => around(span, false),
		text: escaped,
		quote: "> ",
	});
}

/** Returns a person's message as plain text. */
export function fromSlack(text: string, bot: string): string {
	return text
		.replace(/<([^<>|]+)(?:\|([^<>]*))?>/g, (_, target: string, label?: string) => {
			if (target === `@${bot}`) return "";
			if (target.startsWith("#") || target.startsWith("!")) return label ? `#${label.replace(/^#/, "")}` : target;
			return target;
		})
		.replaceAll("&lt;", "<")
		.replaceAll("&gt;", ">")
		.replaceAll("&amp;", "&")
		.trim();
}
