/** A certificate authority, and what it has signed for a server at 127.0.0.1 and a client of it, with Docker's names of the files. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

export function makeCertificates(dir: string): void {
	const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: dir, stdio: ["ignore", "ignore", "pipe"] });
	const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
	openssl("req", "-x509", ...key, "-days", "2", "-keyout", "ca-key.pem", "-out", "ca.pem", "-subj", "/CN=test ca");
	fs.writeFileSync(path.join(dir, "names"), "subjectAltName=IP:127.0.0.1");
	for (const prefix of ["server-", ""]) {
		openssl("req", ...key, "-keyout", `${prefix}key.pem`, "-out", "request", "-subj", `/CN=${prefix}test`);
		const signed = ["-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-days", "2", "-extfile", "names"];
		openssl("x509", "-req", "-in", "request", ...signed, "-out", `${prefix}cert.pem`);
	}
}
