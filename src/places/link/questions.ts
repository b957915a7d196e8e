/** Many small questions in one round trip: files of /proc, targets of links, names in a directory. docs/link.md, `q`. */
import { HoldfastError, shellQuote } from "../../base/index.js";

export type LinkQuestion =
	/** The content of a file, up to 1 MiB; files of /proc too. */
	| { readonly ask: "content"; readonly path: string }
	/** The same for the file `exit` of a process: with what follows the record, if that arrives at once. */
	| { readonly ask: "ending"; readonly path: string }
	/** The target of a symbolic link. */
	| { readonly ask: "link"; readonly path: string }
	/** `DEV RDEV INODE LINKS MODE SIZE MTIME UID` of the target of a path. */
	| { readonly ask: "inode"; readonly path: string }
	/** The names in a directory, each terminated by a NUL. */
	| { readonly ask: "names"; readonly path: string }
	/** `/proc/PID/stat` up to the start time; where there is no perl, all of it. */
	| { readonly ask: "stat"; readonly pid: number }
	/** The same of the dd that copies the output, of which this is the collector. */
	| { readonly ask: "copier"; readonly collector: number }
	/** A piece of a process's memory. */
	| { readonly ask: "memory"; readonly pid: number; readonly address: bigint; readonly length: number };

export function questionLine(question: LinkQuestion): string {
	if (question.ask === "stat") return `p${question.pid}`;
	if (question.ask === "copier") return `c${question.collector}`;
	if (question.ask === "memory") return `m${question.pid} ${question.address} ${question.length}`;
	if (/[\n\0]/.test(question.path)) throw new HoldfastError("INVALID", "a path with a newline in it cannot be asked about");
	return `${{ content: "r", ending: "e", link: "l", inode: "i", names: "d" }[question.ask]}${question.path}`;
}

/** Parses the answers of a remote end with perl: a length, a newline and so many bytes for each question; `-` if there is no answer. */
export function answersOf(bytes: Buffer): (Buffer | undefined)[] {
	const answers: (Buffer | undefined)[] = [];
	for (let at = 0; at < bytes.length; ) {
		const end = bytes.indexOf(10, at);
		const length = bytes.toString("latin1", at, end);
		at = end + 1;
		if (length === "-") answers.push(undefined);
		else {
			answers.push(bytes.subarray(at, at + Number(length)));
			at += Number(length);
		}
	}
	return answers;
}

export interface LookedAt {
	readonly dev: number;
	readonly rdev: number;
	readonly ino: number;
	readonly links: number;
	readonly mode: number;
	readonly size: number;
	readonly mtimeMs: number;
	readonly uid: number;
}

/** Parses the answer to an `inode`. stat(1) prints the two halves of a device number separately, and in hex. */
export function parseInode(answer: Buffer): LookedAt {
	const words = answer.toString("latin1").trim().split(" ");
	const hex = (word: string | undefined) => Number.parseInt(word ?? "", 16);
	if (words.length === 9) {
		const [major, minor] = [hex(words[1]), hex(words[2])];
		words.splice(1, 2, String((major & 0xfff) * 256 + (minor & 0xff) + (minor & 0xfff00) * 4096));
		words[4] = String(hex(words[4]));
	}
	const [dev, rdev, ino, links, mode, size, mtime, uid] = words.map(Number) as [number, number, number, number, number, number, number, number];
	return { dev, rdev, ino, links, mode, size, mtimeMs: Math.round(mtime * 1000), uid };
}

/** Returns the same questions in plain sh: each answer in hex, since a shell cannot count bytes without a copy, ended by a line with a dot. */
export function scriptFor(questions: readonly LinkQuestion[]): string {
	return `look() { if [ -e "$1" ] || [ -L "$1" ]; then shift; { { "$@" 2>/dev/null || echo - >&3; } | od -An -v -tx1; } 3>&1; else echo -; fi; echo .; }\n${questions.map(scriptOf).join("\n")}\ntrue`;
}

function scriptOf(question: LinkQuestion): string {
	if (question.ask === "stat") return `look /proc/${question.pid}/stat head -c 4096 /proc/${question.pid}/stat`;
	if (question.ask === "copier") return `look /proc/${question.collector} eval ${shellQuote(copierScript(question.collector))}`;
	if (question.ask === "memory") return `look /proc/${question.pid}/mem dd if=/proc/${question.pid}/mem bs=1 skip=${question.address} count=${question.length}`;
	const path = shellQuote(question.path);
	switch (question.ask) {
		case "content":
		case "ending":
			return `look ${path} head -c 1048576 ${path}`;
		case "link":
			return `look ${path} readlink -n ${path}`;
		case "inode":
			return `look ${path} stat -Lc '%d %t %T %i %h %f %s %Y %u' ${path}`;
		case "names":
			return `look ${path} find ${path} -mindepth 1 -maxdepth 1 -print0`;
	}
}

/** The collector's child runs dd, whose child is dd. */
const copierScript = (collector: number): string =>
	`for p in $(cat /proc/${collector}/task/${collector}/children); do for q in $(cat /proc/$p/task/$p/children); do read -r s </proc/$q/stat; case $s in *"(dd) "*) echo "$s" ;; esac; done; done; true`;

export function parseScripted(output: Buffer, count: number): (Buffer | undefined)[] {
	const lines = output.toString("latin1").split("\n");
	const answers: (Buffer | undefined)[] = [];
	while (answers.length < count) {
		const end = lines.indexOf(".");
		if (end < 0) throw new HoldfastError("INTERNAL", "the remote end answered with less than was asked for");
		const own = lines.splice(0, end + 1).slice(0, -1);
		answers.push(own.includes("-") ? undefined : fromHex(own)); // refused, or gone meanwhile: the dash may be anywhere
	}
	return answers;
}

const fromHex = (lines: readonly string[]): Buffer => Buffer.from(lines.join("").replaceAll(" ", ""), "hex");
