/** How much of a paragraph that is still arriving means the same, whatever comes next: up to a space at which no mark is open. */

const HELD = /[*_`[\]<~\\]/;

/** Returns the length of that prefix; 0 if there is none. */
export function settledLength(text: string): number {
	if (!HELD.test(text)) return Math.max(text.lastIndexOf(" "), text.lastIndexOf("\n"), 0);
	let settled = 0;
	const open = { "*": 0, _: 0, "~": 0 };
	let brackets = 0;
	for (let at = 0; at < text.length; at++) {
		const char = text[at] as string;
		if (char === "\\") at++;
		else if (char === "`") {
			const end = codeEnds(text, at);
			if (end < 0) return settled;
			at = end - 1;
		} else if (char === "<" && /[a-z/!]/i.test(text[at + 1] ?? "a")) {
			const end = text.indexOf(">", at);
			if (end < 0) return settled;
			at = end;
		} else if (char === "[") brackets++;
		else if (char === "]") {
			brackets = Math.max(0, brackets - 1);
			if (text[at + 1] !== "(") continue;
			const end = text.indexOf(")", at);
			if (end < 0) return settled;
			at = end;
		} else if (char === "*" || char === "_" || char === "~") {
			const run = runAt(text, at);
			if (marks(text, at, run, char)) open[char] ^= run;
			at += run - 1;
		} else if ((char === " " || char === "\n") && brackets === 0 && open["*"] === 0 && open._ === 0 && open["~"] === 0) settled = at;
	}
	return settled;
}

/** The position behind the code span that begins there; -1 while it has no end. */
function codeEnds(text: string, at: number): number {
	const run = runAt(text, at);
	for (let next = text.indexOf("`", at + run); next >= 0; next = text.indexOf("`", next + runAt(text, next))) if (runAt(text, next) === run) return next + run;
	return -1;
}

function runAt(text: string, at: number): number {
	let end = at;
	while (text[end] === text[at]) end++;
	return end - at;
}

/** Not a lone sign between spaces, nor an underscore inside of a name. */
function marks(text: string, at: number, run: number, char: string): boolean {
	const [before, after] = [text[at - 1] ?? " ", text[at + run] ?? "a"];
	if (/\s/.test(before) && /\s/.test(after)) return false;
	return !(char === "_" && /\w/.test(before) && /\w/.test(after));
}
