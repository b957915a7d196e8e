/**
 * One command of plain words, read without the grammar: `git status`, `npm run build`. Most commands of agents are no more than that, and the
 * parser takes longer to load than they take to run. The tree is the one that the grammar would give (test/policy/plain.test.ts).
 */
import type { Node } from "./tree.js";

/** Nothing in it is quoted, expanded, assigned, redirected or a comment. */
const PLAIN = /^[A-Za-z_./][\w./:@%+-]*(?: [\w./:@%+-]+)*$/;
const LONGEST = 1_000;
const NUMBER = /^-?(?:0x)?\d+$/;

/** First words that the grammar has rules of its own for. */
const OTHER = new Set([
	...["if", "then", "else", "elif", "fi", "for", "while", "until", "select", "do", "done", "case", "esac", "in", "function", "time", "coproc"],
	...["declare", "typeset", "export", "readonly", "local", "unset", "unsetenv"],
]);

export function plainTree(text: string): Node | null {
	if (text.length > LONGEST || !PLAIN.test(text)) return null;
	const words = text.split(" ");
	if (OTHER.has(words[0] as string)) return null;
	const command = node("command", null, 0, text.length);
	let start = 0;
	for (const word of words) {
		const end = start + word.length;
		const type = NUMBER.test(word) ? "number" : "word";
		if (start > 0) command.children.push(node(type, "argument", start, end));
		else command.children.push(node("command_name", "name", start, end, [node(type, null, start, end)]));
		start = end + 1;
	}
	return node("program", null, 0, text.length, [command]);
}

const node = (type: string, field: string | null, start: number, end: number, children: Node[] = []): Node => ({
	type,
	named: true,
	field,
	start,
	end,
	children,
});
