/** The text of a PDF, page by page. */
import { extractText, getDocumentProxy } from "unpdf";

const MOST_PAGES = 2_000;

export async function extractPdf(bytes: Uint8Array): Promise<{ title: string; markdown: string; pages: number }> {
	const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
	try {
		if (document.numPages > MOST_PAGES) throw new Error(`the PDF has ${document.numPages} pages; at most ${MOST_PAGES} are read`);
		const { text } = await extractText(document, { mergePages: false });
		const info = (await document.getMetadata().catch(() => undefined))?.info as { Title?: unknown } | undefined;
		const title = typeof info?.Title === "string" ? info.Title.trim() : "";
		const markdown = text.map((page, at) => `## Page ${at + 1}\n\n${page.replace(/[ \t]+/g, " ").trim()}`).join("\n\n");
		return { title, markdown, pages: document.numPages };
	} finally {
		await document.destroy();
	}
}
