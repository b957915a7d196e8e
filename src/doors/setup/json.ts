/**
 * Put a property into a JSON text, or take it out, and leave every other byte as it is: comments, order, indentation,
 * trailing commas. (jsonc-parser's own `modify` lays whole lines out anew, and takes a neighbour's comment along.)
 */
import { findNodeAtLocation, type Node, parseTree } from "jsonc-parser";

/** With what lies above it, if need be. A text without any value becomes an object. */
export function setJson(text: string, path: readonly string[], value: unknown): string {
	const root = parseTree(text);
	if (!root) return `${text.trim() === "" ? "" : `${text.trimEnd()}\n`}${JSON.stringify(nest(path, value), null, 2)}\n`;
	for (let depth = path.length; ; depth--) {
		const node = findNodeAtLocation(root, path.slice(0, depth));
		if (!node) continue; // the root, at depth 0, is there
		if (depth === path.length) return splice(text, node.offset, endOf(node), print(text, value, indentAt(text, node.offset)));
		return insert(text, node, path[depth] as string, nest(path.slice(depth + 1), value));
	}
}

export function removeJson(text: string, path: readonly string[]): string {
	const root = parseTree(text);
	const property = root && findNodeAtLocation(root, [...path])?.parent;
	const object = property?.parent;
	if (!property || !object?.children) return text;
	const previous = object.children[object.children.indexOf(property) - 1];
	const comma = commaAfter(text, endOf(property));
	const before = previous && comma === undefined ? commaAfter(text, endOf(previous)) : undefined; // it would be left over
	let from = property.offset;
	let to = comma === undefined ? endOf(property) : comma + 1;
	const line = text.lastIndexOf("\n", from) + 1;
	const lineEnd = to + restOfLine(text, to);
	// Lines of its own go as a whole, with a comment behind it; else the blanks between it and its neighbour.
	if (line > 0 && text.slice(line, from).trim() === "" && /^\r?\n/.test(text.slice(lineEnd, lineEnd + 2))) {
		from = text[line - 2] === "\r" ? line - 2 : line - 1;
		to = lineEnd;
	} else if (before !== undefined && text.slice(before + 1, from).trim() === "") from = before;
	else while (comma !== undefined && text[to] === " ") to++;
	const without = splice(text, from, to, "");
	if (before !== undefined && before < from) return splice(without, before, before + 1, "");
	const inside = without.slice(object.offset + 1, endOf(object) - 1 - (to - from));
	return object.children.length === 1 && inside.trim() === "" ? splice(without, object.offset + 1, object.offset + 1 + inside.length, "") : without;
}

/** At the end of an object, in the way it is written: on lines of their own, or one after the other. */
function insert(text: string, object: Node, key: string, value: unknown): string {
	const eol = eolOf(text);
	const last = object.children?.at(-1);
	const close = endOf(object) - 1;
	const around = last ? text.slice(object.offset, close) : text.trim();
	if (!around.includes("\n") && (last || object.parent)) {
		const property = `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
		return last ? splice(text, endOf(last), endOf(last), `, ${property}`) : splice(text, close, close, property);
	}
	const outer = indentAt(text, last?.offset ?? object.offset);
	const indent = last ? outer : outer + unitOf(text);
	const property = `${eol}${indent}${JSON.stringify(key)}: ${print(text, value, indent)}`;
	if (!last) {
		const end = object.offset + 1 + text.slice(object.offset + 1, close).trimEnd().length; // behind a comment, if there is one
		return splice(text, end, close, `${property}${eol}${outer}`);
	}
	const comma = commaAfter(text, endOf(last));
	const behind = comma === undefined ? endOf(last) : comma + 1;
	const end = behind + restOfLine(text, behind); // a comment on its line stays its own
	const inserted = splice(text, end, end, property + (comma === undefined ? "" : ","));
	return comma === undefined ? splice(inserted, endOf(last), endOf(last), ",") : inserted;
}

const nest = (path: readonly string[], value: unknown): unknown => path.reduceRight((inner, key) => ({ [key]: inner }), value);
const splice = (text: string, from: number, to: number, by: string): string => text.slice(0, from) + by + text.slice(to);
const endOf = (node: Node): number => node.offset + node.length;
const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");
const unitOf = (text: string): string => /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
const indentAt = (text: string, offset: number): string => /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset) + 1))?.[0] ?? "";

/** On one line if the whole text is. */
const print = (text: string, value: unknown, indent: string): string =>
	/\n|^\{\s*\}$/.test(text.trim()) ? JSON.stringify(value, null, unitOf(text)).replaceAll("\n", `${eolOf(text)}${indent}`) : JSON.stringify(value);

/** Returns the position of a comma that follows, if one does. */
function commaAfter(text: string, offset: number): number | undefined {
	const found = /^(?:\s|\/\/[^\r\n]*(?=[\r\n])|\/\*(?:(?!\*\/)[\s\S])*\*\/)*,/.exec(text.slice(offset));
	return found ? offset + found[0].length - 1 : undefined;
}

/** How far spaces and comments reach on this line. */
const restOfLine = (text: string, offset: number): number =>
	/^(?:[ \t]+|\/\*(?:(?!\*\/)[^\r\n])*\*\/)*(?:\/\/[^\r\n]*)?/.exec(text.slice(offset))?.[0].length ?? 0;
