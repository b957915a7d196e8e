/** Assignments to variables and arrays: their values, the commands that a value comes from, and the text that a value makes the shell run. */
import { expandText, expandWords, type Source } from "./expand.js";
import { type Flow, NOWHERE, type Span } from "./flow.js";
import type { FoundCommand } from "./found.js";
import { hidden } from "./inner.js";
import type { Reader } from "./reader.js";
import type { Scope } from "./scope.js";
import type { Node } from "./tree.js";
import { valueRuns } from "./variables.js";
import { asText, isKnown, UNKNOWN } from "./word.js";

/** The page that has the assignment. */
export interface AssigningPage {
	readonly source: Source & { readonly scope: Scope };
	readonly reader: Reader;
	/** Returns the commands whose output is used while `inside` runs. */
	collect(inside: () => void): FoundCommand[];
	/** Text that the shell evaluates once more. */
	evaluate(text: string): void;
	statement(node: Node, flow: Flow): FoundCommand[];
	span(at: Span): Span;
}

/** Carries out one assignment. `passing`: it stands before a command and counts for that command alone. `counts`: the variable holds a number. */
export function assign(page: AssigningPage, node: Node, options: { passing?: true; counts?: true } = {}): void {
	const { scope, text } = page.source;
	const [target, operator, value] = node.children;
	if (!target) return;
	const name = text.slice(target.start, target.end);
	if (target.type !== "variable_name" || value?.type === "array") {
		assignElement(page, node);
		return;
	}
	let now = "";
	const fed = page.collect(() => {
		now = value ? expandText(value, page.source) : "";
	});
	if (fed.length > 0 && /[\0\x01]/.test(now)) scope.origins.set(name, fed.slice(0, 32));
	else scope.origins.delete(name);
	if (options.passing && name === "IFS") return;
	const next = operator?.type === "+=" ? scope.get(name) + now : now;
	if (options.passing) scope.variables.set(name, scope.unsure.has(name) ? UNKNOWN : next);
	else scope.set(name, next);
	if (options.counts) page.evaluate(isKnown(now) ? now : "");
	if (name === "PATH" && !options.passing) return; // a search path of one's own is everyday; one for a single command is to have another program in its place
	for (const one of hidden(valueRuns(name, now, (other) => scope.get(other)))) {
		if (one === "unknown-script") page.reader.mark(one, page.span(node), scope);
		else if ("script" in one) page.reader.script(asText(one.script), scope.fork(), page.span(node));
	}
}

/** `a=(b c)` and `a[0]=b`. */
function assignElement(page: AssigningPage, node: Node): void {
	const { scope } = page.source;
	const [target, operator, value] = node.children;
	const name = nameOf(page, node);
	if (target) page.statement(target, NOWHERE);
	const array = value?.type === "array" ? value.children.filter((child) => child.named).flatMap((child) => expandWords(child, page.source)) : null;
	if (!array && value) page.statement(value, NOWHERE);
	scope.set(name, UNKNOWN);
	if (array && operator?.type === "=" && !scope.unsure.has(name) && array.length <= 64) scope.arrays.set(name, array);
	else scope.arrays.delete(name);
	const key = target ? /^BASH_(?:CMDS|ALIASES)\[["']?([^\]"']+)["']?\]$/.exec(page.source.text.slice(target.start, target.end))?.[1] : undefined;
	if (key !== undefined && value) scope.aliases.set(key, expandText(value, page.source));
}

/** Returns the name of the variable, without an index. */
export function nameOf({ source: { text } }: AssigningPage, { children: [target] }: Node): string {
	return target ? text.slice(target.start, target.end).replace(/\[.*/s, "") : "";
}
