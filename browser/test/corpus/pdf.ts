import { constants, deflateRawSync } from "node:zlib";

/** A PDF of our own making: pages of text in Helvetica, uncompressed. */
export function makePdf(title: string, pages: readonly (readonly string[])[]): Buffer {
	const objects: string[] = [];
	const kids = pages.map((_, at) => `${4 + at * 2} 0 R`).join(" ");
	objects.push(
		"<< /Type /Catalog /Pages 2 0 R >>",
		`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	);
	for (const [at, lines] of pages.entries()) {
		const content = `BT /F1 11 Tf 50 780 Td 14 TL\n${lines.map((line) => `(${line.replace(/[\\()]/g, "\\$&")}) Tj T*`).join("\n")}\nET`;
		objects.push(
			`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + at * 2} 0 R >>`,
			`<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
		);
	}
	objects.push(`<< /Title (${title}) >>`);
	let body = "%PDF-1.4\n";
	const offsets = objects.map((object, at) => {
		const offset = body.length;
		body += `${at + 1} 0 obj\n${object}\nendobj\n`;
		return offset;
	});
	const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
	body += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${objects.length} 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
	return Buffer.from(body, "latin1");
}

/** A PDF of one page, whose content is that many MB of spaces when it is unpacked. */
export function pdfBomb(megabytes: number): Buffer {
	const one = deflateRawSync(Buffer.alloc(1024 * 1024, " "), { finishFlush: constants.Z_SYNC_FLUSH });
	const content = Buffer.concat([Buffer.from("7801", "hex"), ...Array<Buffer>(megabytes).fill(one), Buffer.from("0300", "hex")]);
	const head = `%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Kids [3 0 R] /Count 1 >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>
endobj
4 0 obj
<< /Length ${content.length} /Filter /FlateDecode >>
stream
`;
	return Buffer.concat([Buffer.from(head), content, Buffer.from("\nendstream\nendobj\ntrailer << /Root 1 0 R /Size 5 >>\n%%EOF\n")]);
}
