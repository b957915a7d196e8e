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
