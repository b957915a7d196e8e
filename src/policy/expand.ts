/** The shell's expansions on one node of the tree, as far as they can be known before it runs. */
import type { Scope } from "./scope.js";
import type { Node } from "./tree.js";
import { decodeEscapes, fromVariable, plain, quote, SOME, UNKNOWN, unescapeInQuotes, unescapeWord, type Word, word, words } from "./word.js";

export interface Source {
	readonly text: string;
	readonly scope: Scope;
	/** What `$(…)` prints, if that is known. */
	output(substitution: Node): string;
}

export function expandWords(node: Node, source: Source): Word[] {
	// `"$@"` alone keeps its words apart.
	const all = source.text.slice(node.start, node.end) === '"$@"' ? source.scope.positional : null;
	return all ? all.map(word) : words(encode(node, source, false), source.scope.world.home);
}

/** As one string: the value of an assignment, of a here-string. */
export const expandText = (node: Node, source: Source): string => plain(encode(node, source, true));

/** An unquoted heredoc: variables and substitutions count in it, quotes do not. */
export function expandHeredoc(node: Node, source: Source): string {
	return unescapeInQuotes(withGaps(node, source, (child) => plain(encode(child, source, true))));
}

function encode(node: Node, source: Source, quoted: boolean): string {
	const text = source.text.slice(node.start, node.end);
	switch (node.type) {
		case "raw_string":
			return quote(text.slice(1, -1));
		case "ansi_c_string":
			return quote(decodeEscapes(text.slice(2, -1)));
		case "string":
			return quote(
				withGaps(node, source, (child) => (child.type === '"' ? "" : child.type === "string_content" ? content(child, source) : inQuotes(child, source))),
			);
		case "translated_string":
			return node.children.map((child) => (child.type === "$" ? "" : encode(child, source, quoted))).join("");
		case "command_name":
		case "concatenation":
			return node.children.map((child) => encode(child, source, quoted)).join("");
		case "simple_expansion":
		case "expansion":
			return value(variable(node, source), quoted);
		case "command_substitution":
			return value(source.output(node), quoted);
		case "process_substitution":
			source.output(node); // for what runs in it
			return quote(`/dev/fd/${UNKNOWN}`);
		case "arithmetic_expansion":
			runWithin(node, source);
			return SOME;
		case "ERROR":
			return UNKNOWN;
		default:
			return unescapeWord(text);
	}
}

/** Substitutions run wherever they stand, also where only a number comes out. */
function runWithin(node: Node, source: Source): void {
	if (node.type === "command_substitution") source.output(node);
	else for (const child of node.children) runWithin(child, source);
}

const value = (text: string, quoted: boolean): string => (quoted ? quote(text) : fromVariable(text));

const content = (node: Node, source: Source): string => unescapeInQuotes(source.text.slice(node.start, node.end));
const inQuotes = (node: Node, source: Source): string => (node.named ? plain(encode(node, source, true)) : source.text.slice(node.start, node.end));

/** The grammar leaves some blanks and pieces of text to no node at all. */
function withGaps(node: Node, source: Source, part: (child: Node) => string): string {
	let result = "";
	let at = node.start;
	for (const child of node.children) {
		result +=
			source.text.slice(at, child.start) +
			(/^\s*/.exec(source.text.slice(child.start, child.end))?.[0] ?? "").repeat(
				child.named && child.type !== "heredoc_content" && child.type !== "string_content" ? 1 : 0,
			);
		result += part(child);
		at = child.end;
	}
	return result + source.text.slice(at, node.end);
}

/** `$x`, `${x}` and the few operators whose result is certain. */
function variable(node: Node, source: Source): string {
	const [first, ...rest] = node.children.filter((child) => !["$", "${", "}"].includes(child.type));
	if (!first) return UNKNOWN;
	if (first.field === "operator") return source.text.slice(first.start, first.end) === "#" ? SOME : UNKNOWN;
	if (first.type === "subscript") return UNKNOWN;
	const known = source.scope.get(source.text.slice(first.start, first.end));
	for (const child of rest) runWithin(child, source);
	const operator = rest[0];
	if (!operator) return known;
	const isDefault = [":-", "-", ":?", "?", ":="].includes(source.text.slice(operator.start, operator.end));
	return isDefault && known !== "" ? known : UNKNOWN;
}
