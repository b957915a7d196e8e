/**
 * Splits shell text into simple commands, for hints only: nothing is run, refused or changed because of it. Quotes, comments and here-documents are
 * recognized, so that words inside them do not count as commands. The content of `$(…)` and backquotes is skipped.
 */
export interface Simple {
	/** The command's unquoted words; `quoted` tells which were quoted. */
	readonly words: readonly LexWord[];
	/** The separator after the command: `|`, `&&`, `||`, `;`, `&`, a newline, or nothing at the end of the text. */
	readonly end: "|" | "&&" | "||" | ";" | "&" | "\n" | "";
}

export interface LexWord {
	readonly text: string;
	readonly quoted: boolean;
}

/** Runs in time linear in the length of the text. */
export function lex(source: string): Simple[] {
	const commands: Simple[] = [];
	let words: LexWord[] = [];
	let text: string | undefined; // of the current word
	let quoted = false;
	const delimiters: { readonly word: string; readonly tabs: boolean }[] = []; // of here-documents that start on the next line
	let at = 0;

	const endWord = () => {
		if (text !== undefined) words.push({ text, quoted });
		text = undefined;
		quoted = false;
	};
	const endCommand = (end: Simple["end"]) => {
		endWord();
		const last = commands.at(-1);
		if (words.length > 0) commands.push({ words, end });
		else if (last && (end === "&" || end === "|")) commands[commands.length - 1] = { ...last, end }; // after a closing bracket
		words = [];
	};
	const add = (piece: string) => {
		text = (text ?? "") + piece;
	};

	while (at < source.length) {
		const char = source.charAt(at);
		const two = source.slice(at, at + 2);
		if (char === "\\") {
			if (source[at + 1] !== "\n") {
				add(source.charAt(at + 1));
				quoted = true;
			}
			at += 2;
		} else if (char === "'" || two === "$'") {
			const from = at + (char === "'" ? 1 : 2);
			const to = closing(source, from, "'", char !== "'");
			add(source.slice(from, to));
			quoted = true;
			at = to + 1;
		} else if (char === '"' || char === "`") {
			const to = closing(source, at + 1, char, true);
			add(source.slice(at + 1, to));
			quoted = true;
			at = to + 1;
		} else if (two === "$(" || two === "${") {
			const to = nested(source, at + 1);
			add(source.slice(at, to));
			at = to;
		} else if (char === "#" && text === undefined) {
			const to = source.indexOf("\n", at);
			at = to < 0 ? source.length : to;
		} else if (two === "<<" && source[at + 2] !== "<") {
			endWord();
			const found = delimiter(source, at + 2);
			delimiters.push(found);
			at = found.next;
		} else if (two === "&&" || two === "||") {
			endCommand(two);
			at += 2;
		} else if (two === "&>" || two === ">&" || two === "<&" || two === ">|") {
			endWord();
			words.push({ text: two, quoted: false });
			at += 2;
		} else if (two === "|&") {
			endCommand("|");
			at += 2;
		} else if (char === "&" || char === "|" || char === ";") {
			endCommand(char);
			at++;
		} else if (char === "\n") {
			endCommand("\n");
			at++;
			for (const one of delimiters.splice(0)) at = afterDocument(source, at, one);
		} else if (char === "(" || char === ")" || char === "{" || char === "}") {
			if (text === undefined || char === "(" || char === ")") endCommand(";");
			else add(char);
			at++;
		} else if (char === " " || char === "\t" || char === "\r") {
			endWord();
			at++;
		} else {
			add(char);
			at++;
		}
	}
	endCommand("");
	return commands;
}

/** Returns the position of the closing quote, or the end of the text. */
function closing(source: string, from: number, quote: string, escapes: boolean): number {
	for (let at = from; at < source.length; at++) {
		if (escapes && source[at] === "\\") at++;
		else if (source[at] === quote) return at;
	}
	return source.length;
}

/** Returns the position after the bracket that closes the one at `from`, skipping quotes. */
function nested(source: string, from: number): number {
	const open = source.charAt(from);
	const close = open === "(" ? ")" : "}";
	let depth = 0;
	for (let at = from; at < source.length; at++) {
		const char = source.charAt(at);
		if (char === "\\") at++;
		else if (char === "'" || char === '"') at = closing(source, at + 1, char, char === '"');
		else if (char === open) depth++;
		else if (char === close && --depth === 0) return at + 1;
	}
	return source.length;
}

function delimiter(source: string, from: number): { word: string; tabs: boolean; next: number } {
	const tabs = source[from] === "-";
	const match = /^[ \t]*((?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s;&|<>()'"\\])*)/.exec(source.slice(from + (tabs ? 1 : 0), from + 1_000));
	return { word: (match?.[1] ?? "").replaceAll(/['"\\]/g, ""), tabs, next: from + (tabs ? 1 : 0) + (match?.[0].length ?? 0) };
}

/** Returns the position after the last line of a here-document that starts at `from`. */
function afterDocument(source: string, from: number, { word, tabs }: { word: string; tabs: boolean }): number {
	for (let at = from; at < source.length; ) {
		const end = source.indexOf("\n", at);
		const line = source.slice(at, end < 0 ? source.length : end);
		if ((tabs ? line.replace(/^\t+/, "") : line) === word) return end < 0 ? source.length : end + 1;
		if (end < 0) break;
		at = end + 1;
	}
	return source.length;
}
