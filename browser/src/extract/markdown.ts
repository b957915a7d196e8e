/** A part of a page as markdown. Where it is too deep to be walked by a function that calls itself, as plain text. */
import Turndown from "turndown";

export function toMarkdown(root: Element): string {
	try {
		return tidy(service().turndown(root as unknown as HTMLElement));
	} catch (error) {
		if (!(error instanceof RangeError)) throw error;
		return tidy(plainText(root));
	}
}

function service(): Turndown {
	const turndown = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-", emDelimiter: "*", hr: "---" });
	turndown.addRule("code block", { filter: (node) => node.nodeName === "PRE", replacement: (_content, node) => codeBlock(node as HTMLElement) });
	turndown.addRule("table", {
		filter: (node) => node.nodeName === "TABLE" && isData(node as HTMLElement),
		replacement: (_content, node) => table(node as HTMLElement, turndown),
	});
	turndown.addRule("image", {
		filter: "img",
		replacement: (_content, node) => {
			const alt = ((node as HTMLElement).getAttribute("alt") ?? "").replace(/\s+/g, " ").trim();
			const src = (node as HTMLElement).getAttribute("src") ?? "";
			return alt === "" ? "" : src === "" ? `[image: ${alt}]` : `![${alt}](${src})`;
		},
	});
	turndown.addRule("link", {
		filter: (node) => node.nodeName === "A",
		replacement: (content, node) => {
			const href = (node as HTMLElement).getAttribute("href") ?? "";
			const text = content.replace(/\s+/g, " ").trim();
			if (text === "") return "";
			return href === "" || href.startsWith("#")
				? text
				: `[${text}](${href.replace(/[()\s]/g, (sign) => encodeURIComponent(sign).replace("(", "%28").replace(")", "%29"))})`;
		},
	});
	turndown.addRule("struck", { filter: ["del", "s"], replacement: (content) => (content.trim() === "" ? "" : `~~${content}~~`) });
	return turndown;
}

function codeBlock(node: HTMLElement): string {
	const code = (node.textContent ?? "").replace(/\n+$/, "");
	const classes = `${node.getAttribute("class") ?? ""} ${node.querySelector("code")?.getAttribute("class") ?? ""} ${node.parentElement?.getAttribute("class") ?? ""}`;
	const language = /(?:lang(?:uage)?|highlight-source|brush:?)[-\s]([\w+#-]+)/.exec(classes)?.[1] ?? "";
	const fence = "`".repeat(Math.max(3, ...[...code.matchAll(/`{3,}/g)].map(([run]) => run.length + 1)));
	return `\n\n${fence}${language}\n${code}\n${fence}\n\n`;
}

/** A table that only places things on the page has no header and tables in it, or a single column. */
const isData = (node: HTMLElement): boolean => {
	const rows = [...node.querySelectorAll("tr")];
	return !node.querySelector("table") && rows.length > 0 && Math.max(...rows.slice(0, 50).map((row) => row.children.length)) > 1;
};

function table(node: HTMLElement, turndown: Turndown): string {
	const cells = (row: Element) =>
		[...row.children].flatMap((cell) => {
			const text = turndown
				.turndown(cell as HTMLElement)
				.replace(/\s*\n\s*/g, " ")
				.replaceAll("|", "\\|")
				.trim();
			return [text, ...Array(Math.min(50, Math.max(1, Number(cell.getAttribute("colspan")) || 1)) - 1).fill("")] as string[];
		});
	const rows = [...node.querySelectorAll("tr")].map(cells).filter((row) => row.some((text) => text !== ""));
	const width = Math.max(0, ...rows.map((row) => row.length));
	const [head, ...rest] = rows;
	if (!head) return "";
	const line = (row: string[]) => `| ${[...row, ...Array(width - row.length).fill("")].join(" | ")} |`;
	const caption = node.querySelector("caption")?.textContent?.trim();
	return `\n\n${caption ? `${caption}\n\n` : ""}${[line(head), `|${" --- |".repeat(width)}`, ...rest.map(line)].join("\n")}\n\n`;
}

const BLOCKS = new Set(["P", "DIV", "LI", "TR", "H1", "H2", "H3", "H4", "H5", "H6", "PRE", "SECTION", "ARTICLE", "BLOCKQUOTE", "TABLE", "BR"]);

/** Walks without recursion. */
export function plainText(root: Node): string {
	const parts: string[] = [];
	const stack: (Node | string)[] = [root];
	for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
		if (typeof node === "string") parts.push(node);
		else if (node.nodeType === 3) parts.push((node.nodeValue ?? "").replace(/\s+/g, " "));
		else {
			const block = BLOCKS.has(node.nodeName);
			if (block) parts.push("\n");
			if (block) stack.push("\n");
			const below: Node[] = [];
			for (let child = node.firstChild; child; child = child.nextSibling) below.push(child);
			for (const child of below.reverse()) stack.push(child);
		}
	}
	return parts.join("");
}

export const tidy = (text: string): string =>
	text
		.replace(/[\u00ad\u200b\ufeff]/g, "")
		.replace(/\u00a0/g, " ")
		.replace(/[ \t]+\n/g, "\n")
		.replace(/\n{3,}/g, "\n\n")
		.trim();
