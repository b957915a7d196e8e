/** A file with a secret in it: refused if another user could have read or written it. */
import fs from "node:fs";
import { errno, fromSystem, HoldfastError } from "./errors.js";

const MOST = 64 * 1024;

export function readPrivate(file: string, what: string): string {
	let fd: number;
	try {
		fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
	} catch (error) {
		if (errno(error) === "ENOENT") throw new HoldfastError("INVALID", `there is no file ${file}, in which ${what} should be`, { cause: error });
		if (errno(error) === "ELOOP") throw new HoldfastError("HOME", `${file} is a symbolic link; ${what} must be in a file of its own`, { cause: error });
		throw fromSystem(error, `cannot read ${file}`);
	}
	try {
		const stat = fs.fstatSync(fd);
		if (!stat.isFile() || stat.size > MOST) throw new HoldfastError("HOME", `${file} is not a file with ${what} in it`);
		if (stat.uid !== process.getuid?.()) throw new HoldfastError("HOME", `${file} belongs to another user; ${what} must be in a file of your own`);
		if (stat.mode & 0o077) throw new HoldfastError("HOME", `other users may have read ${file}; \`chmod 600\` it if you are sure that none has`);
		return fs.readFileSync(fd, "utf8");
	} finally {
		fs.closeSync(fd);
	}
}
