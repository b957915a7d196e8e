/** Statements that start processes without end, by their form. */
import type { Node } from "./tree.js";

/** `while :; do x & done`: a loop without end that waits for nothing it starts. */
export function startsForever({ children }: Node, text: string): boolean {
	if (!/^(?:while\s+(?::|true|\[\s*1\s*\]|\(\(\s*1\s*\)\))|until\s+false|for\s*\(\(\s*;\s*;\s*\)\))\s*[;\n]/.test(text)) return false;
	const body = children.find(({ type }) => type === "do_group")?.children ?? [];
	const own = body.filter(({ named, type }) => named && type !== "comment");
	return own.length > 0 && own.every((child) => body[body.indexOf(child) + 1]?.type === "&");
}

/** A function that starts itself more than once, or in the background, doubles until nothing is left. */
export function feedsItself(body: Node, name: string, text: string): boolean {
	let calls = 0;
	let behind = false;
	const visit = (node: Node): void => {
		if (node.type === "&" || node.type === "pipeline") behind = true;
		if (node.type === "command_name" && text.slice(node.start, node.end) === name) calls++;
		for (const child of node.children) visit(child);
	};
	visit(body);
	return calls > 0 && behind;
}
