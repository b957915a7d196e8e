/** The lines typed before: a file with one JSON string a line, for its owner alone. Lines that begin with a space are not kept. */
import fs from "node:fs";

const KEPT = 1_000;
/** The file is written anew when it has this many lines. */
const MOST = 2 * KEPT;
/** Characters. What is longer is not written to the file, and only the last such text is kept. */
const LONGEST = 10_000;

export class InputHistory {
	readonly #file: string | undefined;
	readonly #redact: (text: string) => string;
	#lines: string[];
	/** 0: the draft; 1: the last line, and so on. */
	#back = 0;
	#draft = "";

	/** Without a file it lasts as long as the program. Every line passes `redact` before it is written. */
	constructor(file?: string, redact: (text: string) => string = (text) => text) {
		this.#file = file;
		this.#redact = redact;
		this.#lines = file === undefined ? [] : readHistory(file);
	}

	add(text: string): void {
		this.#back = 0;
		if (text.trim() === "" || text.startsWith(" ") || text === this.#lines.at(-1)) return;
		const long = text.length > LONGEST;
		if (long) this.#lines = this.#lines.filter((line) => line.length <= LONGEST);
		this.#lines.push(text);
		if (this.#lines.length > KEPT) this.#lines.splice(0, this.#lines.length - KEPT);
		if (this.#file === undefined || long) return;
		try {
			fs.appendFileSync(this.#file, `${JSON.stringify(this.#redact(text))}\n`, { mode: 0o600 });
		} catch {
			// a full disk: the history is the least of what is missing then
		}
	}

	/** The line before (-1) or after (1) the one that is shown; undefined if there is none. `draft`: what is in the line now. */
	go(by: -1 | 1, draft: string): string | undefined {
		const back = this.#back - by;
		if (back < 0 || back > this.#lines.length) return undefined;
		if (this.#back === 0) this.#draft = draft;
		this.#back = back;
		return back === 0 ? this.#draft : this.#lines.at(-back);
	}

	/** The newest line with this text in it, before the `skip`th one. */
	search(text: string, skip = 0): string | undefined {
		if (text === "") return undefined;
		return this.#lines.filter((line) => line.includes(text)).at(-1 - skip);
	}

	/** The draft was changed or sent: the next step back begins at the end. */
	reset(): void {
		this.#back = 0;
	}
}

function readHistory(file: string): string[] {
	let text: string;
	try {
		text = fs.readFileSync(file, "utf8");
	} catch {
		return []; // none yet, or it cannot be read: then there is none
	}
	const lines = text.split("\n").flatMap((line): string[] => {
		try {
			const value: unknown = JSON.parse(line);
			return typeof value === "string" ? [value] : [];
		} catch {
			return []; // half a line of a program that was killed
		}
	});
	const kept = lines.slice(-KEPT);
	if (lines.length > MOST) rewrite(file, kept);
	return kept;
}

function rewrite(file: string, lines: readonly string[]): void {
	const temp = `${file}.${process.pid}.new`;
	try {
		fs.writeFileSync(temp, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });
		fs.renameSync(temp, file);
	} catch {
		fs.rmSync(temp, { force: true }); // it stays long
	}
}
