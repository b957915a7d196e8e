/** The secret that opens the HTTP door: a file that only its owner can read, made once for a home and then kept. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { errno, fromSystem, HoldfastError } from "../../base/index.js";

const LEAST_CHARS = 32;

/** The token in the file; the file is made if need be. Two servers that start at once get the same one. */
export function ensureToken(file: string): string {
	try {
		if (!fs.existsSync(file)) create(file);
	} catch (error) {
		throw fromSystem(error, `cannot make the token file ${file}`);
	}
	return readToken(file);
}

/** A link either appears with its whole content or not at all, and never replaces anything. */
function create(file: string): void {
	const draft = path.join(path.dirname(file), `.token-${randomBytes(6).toString("hex")}`);
	fs.writeFileSync(draft, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
	try {
		fs.linkSync(draft, file);
	} catch (error) {
		if (errno(error) !== "EEXIST") throw error; // another server was first: its token counts
	} finally {
		fs.unlinkSync(draft);
	}
}

/** Refuses a file that another user could have read or written. */
export function readToken(file: string): string {
	let fd: number;
	try {
		fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
	} catch (error) {
		if (errno(error) === "ENOENT") throw new HoldfastError("INVALID", `there is no token file ${file}`, { cause: error });
		if (errno(error) === "ELOOP") throw new HoldfastError("HOME", `${file} is a symbolic link; the token must be in a file of its own`, { cause: error });
		throw fromSystem(error, `cannot read the token file ${file}`);
	}
	try {
		const stat = fs.fstatSync(fd);
		if (!stat.isFile()) throw new HoldfastError("HOME", `${file} is not a file; remove it, and a new token is made`);
		if (stat.uid !== process.getuid?.()) throw new HoldfastError("HOME", `${file} belongs to another user; remove it, and a new token is made`);
		if (stat.mode & 0o077) throw new HoldfastError("HOME", `other users may have read ${file}; remove it for a new token, or \`chmod 600\` it if you are sure`);
		const token = fs.readFileSync(fd, "utf8").trim();
		if (!/^[\x21-\x7e]+$/.test(token) || token.length < LEAST_CHARS)
			throw new HoldfastError(
				"INVALID",
				`the token in ${file} must be one word of at least ${LEAST_CHARS} characters, such as \`openssl rand -hex 32\` prints`,
			);
		return token;
	} finally {
		fs.closeSync(fd);
	}
}

/** Digests are of one length, so that nothing about the token can be told from how long this takes. */
export function sameToken(given: string, token: string): boolean {
	const digest = (text: string) => createHash("sha256").update(text).digest();
	return timingSafeEqual(digest(given), digest(token));
}
