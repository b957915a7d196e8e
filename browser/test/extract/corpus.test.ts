import { afterAll, expect, it } from "vitest";
import { endExtraction, extractIn, findIn, outlineOf, partOf, shownOutline } from "../../src/extract/index.js";
import { addressFilter, Rates } from "../../src/net/index.js";
import { readUrl } from "../../src/web/read.js";
import { CORPUS } from "../corpus/pages.js";
import { pdfBomb } from "../corpus/pdf.js";
import { testSite } from "../support/site.js";

const site = testSite((request, response) => {
	const page = CORPUS.find(({ name }) => `/${name}` === request.url);
	if (request.url === "/moved")
		return response.writeHead(200, { "content-type": "text/html" }).end(`<meta http-equiv="refresh" content="0; url='en/latest/'">`);
	const [, binary] = /^\/binary\?(.*)/.exec(request.url ?? "") ?? [];
	if (binary !== undefined) response.writeHead(200, { "content-type": binary }).end(Buffer.from([0, 1, 2, 3]));
	else if (!page) response.writeHead(404).end("no such page");
	else response.writeHead(200, { "content-type": page.type }).end(page.body);
});
const reader = { filter: addressFilter({ allow: ["127.0.0.0/8"] }), rates: new Rates(0) };
const read = (name: string) => readUrl(`${site.url}/${name}`, reader, new AbortController().signal);

afterAll(endExtraction);

it("has 30 pages", () => expect(CORPUS).toHaveLength(30));

it("finds the content of every page, and not what is around it", async () => {
	for (const { name, wanted, unwanted = [] } of CORPUS) {
		const { text } = await read(name);
		for (const one of wanted) expect(text, name).toContain(one);
		for (const one of unwanted) expect(text, name).not.toContain(one);
	}
});

it("says what it noticed: charsets, pages of a PDF, a page that needs its scripts", async () => {
	expect((await read("charset-latin")).notes).toEqual(["read as windows-1252, although it says utf-8"]);
	expect((await read("charset-label")).notes).toEqual(["read as utf-8, although it says windows-1252"]);
	expect(await read("book.pdf")).toMatchObject({ title: "The long report", notes: ["PDF of 200 pages"] });
	expect((await read("empty-app")).notes).toEqual(["the page has little text without its scripts: browser_navigate shows what they make"]);
	expect((await read("moved")).notes).toEqual([`the page leads on to ${site.url}/en/latest/: give this address`]);
	expect(outlineOf((await read("huge")).text)).toHaveLength(401);
});

it("says what a binary is, whatever its label says", async () => {
	for (const type of ["application/octet-stream", "text/html", "text/plain"])
		expect((await read(`binary?${type}`)).text).toBe(
			`A file of the type ${type}, 4 bytes. It is no text; download it with terminal (curl -LO) if you need it.`,
		);
});

it("tells what a server answers that has no page", async () => {
	await expect(read("nothing")).rejects.toThrow(/answered 404 \(not found\):\n\[Untrusted content of .*\nno such page\n/);
});

it("gives up on a page that takes too much time or memory, and reads the next one", async () => {
	const deep = { kind: "html", html: `${"<b>".repeat(20_000)}x`, url: site.url } as const;
	await expect(extractIn({ kind: "pdf", bytes: Buffer.from("%PDF-1.4 broken") })).rejects.toThrow(/the PDF cannot be read: /);
	await expect(extractIn({ ...deep, html: "<table><tr><td>".repeat(100_000) }, undefined, { memoryMb: 24 })).rejects.toThrow("takes more than 24 MB to read");
	await expect(extractIn({ kind: "pdf", bytes: pdfBomb(1_000) }, undefined, { memoryMb: 64 })).rejects.toThrow("the PDF takes more than 64 MB to read");
	await expect(extractIn(deep, undefined, { ms: 1 })).rejects.toThrow("takes more than 0.001 s to read");
	await expect(extractIn(deep, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
	expect((await extractIn({ kind: "html", html: "<p>fine</p>", url: site.url })).markdown).toBe("fine");
});

it("cuts text at paragraphs, finds passages, and shortens an outline by its deeper levels", () => {
	const text = `${"a".repeat(80)}\n\n${"b".repeat(80)}\n\n# not in code\n\n\`\`\`\n# comment\n\`\`\``;
	expect(partOf(text, 0, 100)).toEqual({ text: "a".repeat(80), end: 80 });
	expect(partOf(text, 0, 10_000).end).toBe(text.length);
	expect(partOf("\u{1F600}".repeat(10), 0, 3)).toEqual({ text: "\u{1F600}", end: 2 });
	expect(outlineOf(text)).toEqual([{ level: 1, text: "not in code", offset: 164 }]);
	expect(outlineOf(`# [a](b) ${"[".repeat(300_000)}`)).toMatchObject([{ text: expect.stringMatching(/^a \[+$/) }]);
	expect(findIn("One  Two\nthree one two", "one two")).toMatchObject({ count: 2, passages: [{ offset: 0 }] });
	expect(findIn("a.b axb", "a.b").count).toBe(1);
	const many = Array.from({ length: 90 }, (_, at) => ({ level: at % 3 === 0 ? 1 : 2, text: `h${at}`, offset: at }));
	expect(shownOutline(many).split("\n")).toHaveLength(31);
});
