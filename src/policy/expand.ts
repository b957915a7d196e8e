/** The shell's expansions on one node of the tree, as far as they can be known before it runs. */
import type { FoundCommand } from "./found.js";
import type { Scope } from "./scope.js";
import type { Node } from "./tree.js";
import { decodeEscapes, fromVariable, plain, quote, SOME, tilde, UNKNOWN, unescapeInQuotes, unescapeWord, type Word, word, words } from "./word.js";

export interface Source {
	readonly text: string;
	readonly scope: Scope;
	/** Returns the output of `$(…)`, if that is known. */
	output(substitution: Node): string;
	/** `>(…)`: it reads what the command prints that is given it. */
	sink(substitution: Node): void;
	/** Text that the shell evaluates once more, with the substitutions in it. */
	evaluate(text: string): void;
	/** Runs what is between backquotes in text that the grammar has left as it is. */
	backquotes(text: string): void;
	/** Told the commands whose output is the unknown value of a variable. */
	comesFrom(commands: readonly FoundCommand[]): void;
}

export function expandWords(node: Node, source: Source): Word[] {
	// `"$@"` alone keeps its words apart.
	const all = source.text.slice(node.start, node.end) === '"$@"' ? source.scope.positional : null;
	const array = /^"?\$\{(\w+)\[[@*]\]\}"?$/.exec(source.text.slice(node.start, node.end))?.[1];
	const items = array === undefined ? undefined : source.scope.arrays.get(array);
	if (items) return [...items];
	return all ? all.map(word) : words(encode(node, source, false), source.scope);
}

/** Returns the expansion as one string: the value of an assignment, of a here-string. */
export const expandText = (node: Node, source: Source): string => plain(tilde(encode(node, source, true), source.scope));

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
			if (text.trimStart().startsWith(">")) source.sink(node);
			else source.output(node); // for what runs in it
			return quote(`/dev/fd/${UNKNOWN}`);
		case "arithmetic_expansion":
			runWithin(node, source);
			evaluateNames(text, source);
			return SOME;
		case "``":
			return ""; // a substitution of nothing
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

const RUNS = /\$\(|`/;

/** In arithmetic the value of a variable is evaluated too: `x='a[$(reboot)]'; ((x))`. */
export function evaluateNames(text: string, source: Source): void {
	for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) {
		const held = source.scope.variables.get(name);
		if (held !== undefined && RUNS.test(held)) source.evaluate(held);
	}
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
	if (source.text.slice(node.start, node.end).includes("`")) source.backquotes(source.text.slice(first.start, node.end));
	if (first.type === "subscript") {
		runWithin(first, source);
		return UNKNOWN;
	}
	const name = source.text.slice(first.start, first.end);
	const known = source.scope.get(name);
	source.comesFrom(source.scope.origins.get(name) ?? []);
	for (const child of rest) runWithin(child, source);
	const operator = rest[0];
	if (!operator) return known;
	if (/^@P/.test(source.text.slice(operator.start, node.end))) source.evaluate(known);
	const isDefault = [":-", "-", ":?", "?", ":="].includes(source.text.slice(operator.start, operator.end));
	return isDefault && known !== "" ? known : UNKNOWN;
}
