/** The statements of one text, in the order in which the shell would come to them: where each one's input comes from, and where it runs. */
import { assign, nameOf } from "./assign.js";
import { missing } from "./changes.js";
import { evaluateNames, expandHeredoc, expandText, expandWords, type Source } from "./expand.js";
import { type Flow, NOWHERE, piped, redirected, type Span } from "./flow.js";
import { feedsItself, startsForever } from "./fork-bombs.js";
import type { FoundCommand } from "./found.js";
import { outputOf } from "./output.js";
import type { Reader } from "./reader.js";
import type { Scope } from "./scope.js";
import type { Node } from "./tree.js";
import { asText, SOME, UNKNOWN, type Word, word } from "./word.js";

export class Page {
	readonly source: Source & { scope: Scope };
	readonly reader: Reader;
	readonly #at: Span | null;
	readonly #offsets: readonly number[] | undefined;
	/** `>(…)` of the statement at hand: they run with what it prints. */
	#sinks: Node[] = [];
	/** The commands of each substitution in the statement at hand, for what they feed. */
	#fed: FoundCommand[] = [];

	/** `offsets`: where each character of `text` is in the text that was given, if that was spelled otherwise. */
	constructor(reader: Reader, text: string, scope: Scope, at: Span | null, offsets?: readonly number[]) {
		this.reader = reader;
		this.#at = at;
		this.#offsets = offsets;
		this.source = {
			text,
			scope,
			output: (node) => this.#substitution(node),
			sink: (node) => this.#sinks.push(node),
			evaluate: (again) => this.evaluate(again),
			backquotes: (inside) => this.#backquotes(inside),
			comesFrom: (commands) => this.#fed.push(...commands),
		};
	}

	/** Gives the commands whose output is the statement's. */
	statement(node: Node, flow: Flow): FoundCommand[] {
		const { scope } = this.source;
		if (!this.reader.goesOn(this.span(node), scope)) return [];
		switch (node.type) {
			case "command":
				return this.#command(node, flow);
			case "pipeline":
			case "list":
				return this.#chain(node, flow, flow);
			case "redirected_statement":
				return this.#redirected(node, flow);
			case "subshell":
				return this.#apart(() => this.#each(node.children, flow));
			case "variable_assignment":
				assign(this, node);
				return [];
			case "declaration_command": {
				const counts = node.children.some((child) => child.type === "word" && /^-\w*i/.test(this.#text(child)));
				const refers = node.children.some((child) => child.type === "word" && /^-\w*n/.test(this.#text(child)));
				for (const child of node.children)
					if (child.type === "variable_assignment") {
						assign(this, child, counts ? { counts: true } : {});
						if (refers) scope.set(nameOf(this, child), UNKNOWN); // another name for a variable
					}
				return [];
			}
			case "test_command":
				this.#evaluateTest(node);
				return this.#each(node.children, flow);
			case "compound_statement":
				if (this.#text(node).startsWith("((")) evaluateNames(this.#text(node), this.source);
				return this.#each(node.children, flow);
			case "unset_command":
				for (const child of node.children) if (child.type === "raw_string") this.evaluate(this.#text(child).slice(1, -1));
				return this.#each(node.children, flow);
			case "function_definition":
				this.#define(node);
				return [];
			case "for_statement":
				return this.#for(node, flow);
			case "if_statement":
			case "while_statement":
			case "case_statement":
			case "c_style_for_statement": {
				const before = scope.cwds;
				if (startsForever(node, this.#text(node))) this.reader.mark("fork-bomb", this.span(node), scope);
				const found = this.#each(node.children, flow);
				scope.join(before);
				return found;
			}
			case "comment":
			case "heredoc_body":
			case "raw_string":
				return [];
			case "command_substitution":
			case "process_substitution":
				this.#substitution(node);
				return [];
			default:
				return this.#each(node.children, flow);
		}
	}

	/** A list or a pipe. What is redirected behind it (`a | b > f`) belongs to its last command: `last`. */
	#chain(node: Node, flow: Flow, last: Flow): FoundCommand[] {
		if (node.type === "pipeline") return this.#pipeline(node.children, flow, last);
		if (node.type !== "list") return this.statement(node, last);
		const { scope } = this.source;
		const passed = new Set(scope.cwds);
		const found = this.#list(node, flow, last, passed);
		scope.join([...passed]);
		return found;
	}

	/** `a && b`: b runs where a has led; `a || b`: where it has not. Behind it, it may have stopped anywhere. */
	#list(node: Node, flow: Flow, last: Flow, passed: Set<string | null>): FoundCommand[] {
		const { scope } = this.source;
		const found: FoundCommand[] = [];
		const end = node.children.findLast((child) => child.named);
		for (const child of node.children) {
			if (child.type === "||") scope.join([...passed]);
			if (!child.named) continue;
			const its = child === end ? last : flow;
			found.push(...(child.type === "list" ? this.#list(child, flow, its, passed) : this.#chain(child, flow, its)));
			for (const dir of scope.cwds) passed.add(dir);
		}
		return found;
	}

	#each(nodes: readonly Node[], flow: Flow): FoundCommand[] {
		const found: FoundCommand[] = [];
		for (const child of nodes) {
			const before = this.source.scope.cwds;
			found.push(...this.statement(child, flow));
			// `cd x; y`: y runs where it was if there is no x.
			if (child.type === "command" && this.source.scope.cwds !== before && this.source.scope.cwds.some((dir) => missing(dir, this.source.scope)))
				this.source.scope.join(before);
		}
		return found;
	}

	/** Runs `inside` with a copy of the scope: changes to variables and directory end with it. */
	#apart<T>(inside: () => T): T {
		const outer = this.source.scope;
		this.source.scope = outer.fork();
		try {
			return inside();
		} finally {
			this.source.scope = outer;
		}
	}

	#pipeline(children: readonly Node[], flow: Flow, last: Flow = flow): FoundCommand[] {
		let current = flow;
		let found: FoundCommand[] = [];
		const stages = children.filter((child) => child.named && child.type !== "comment");
		for (const stage of stages) {
			const its = stage === stages.at(-1) && last !== flow ? redirected(current, last) : current;
			found = this.#apart(() => this.statement(stage, its));
			current = piped(found, flow);
		}
		return found;
	}

	#redirected(node: Node, flow: Flow): FoundCommand[] {
		const body = node.children.find((child) => child.field === "body");
		const redirects = node.children.filter((child) => child.field === "redirect");
		const plain = body?.type === "command" && redirects.every((child) => child.type === "file_redirect");
		const next = { ...this.#flow(redirects, flow), span: plain ? node : null };
		const sinks = this.#takeSinks();
		const found = body ? this.#chain(body, flow, next) : this.reader.run([], this.span(node), this.source.scope, next);
		this.#feed(sinks, found, flow);
		// The rest of a line with a heredoc hangs on the heredoc in this grammar.
		let output = found;
		for (const heredoc of redirects.filter((child) => child.type === "heredoc_redirect")) {
			for (const child of heredoc.children) {
				if (child.type === "pipeline") output = this.#apart(() => this.#pipeline(child.children, piped(output, flow)));
				else if (child.field === "right") output = this.statement(child, flow);
			}
		}
		return output;
	}

	#flow(redirects: readonly Node[], flow: Flow): Flow {
		const reads = [...flow.reads];
		const writes = [...flow.writes];
		const args: Word[] = [...flow.args];
		let { input, upstream } = flow;
		for (const redirect of redirects) {
			if (redirect.type === "heredoc_redirect") {
				const start = redirect.children.find((child) => child.type === "heredoc_start");
				const body = redirect.children.find((child) => child.type === "heredoc_body");
				const literal = start ? /['"\\]/.test(this.source.text.slice(start.start, start.end)) : false;
				if (body && !literal) this.#backquotes(this.#text(body));
				if (body) input = literal ? this.source.text.slice(body.start, body.end) : expandHeredoc(body, this.source);
				else input = "";
				for (const child of redirect.children) if (child.field === "argument") args.push(...expandWords(child, this.source));
				const more = this.#flow(
					redirect.children.filter((child) => child.field === "redirect"),
					NOWHERE,
				);
				reads.push(...more.reads);
				writes.push(...more.writes);
			} else if (redirect.type === "herestring_redirect") {
				const value = redirect.children.find((child) => child.named);
				input = value ? expandText(value, this.source) : UNKNOWN;
			} else {
				const operator = redirect.children.find((child) => !child.named)?.type ?? ">";
				const targets = redirect.children.filter((child) => child.field === "destination");
				const outputs = this.collect(() => {
					for (const target of targets) {
						const files = expandWords(target, this.source);
						if (operator.startsWith("<")) reads.push(...files);
						else writes.push(...files.map((file): Word => (operator.includes(">>") ? { ...file, appends: true } : file)));
					}
				});
				if (operator === "<") {
					const text = reads.length === 1 && outputs.length === 0 ? this.source.scope.written(reads[0] as Word) : undefined;
					input = text ?? null;
					upstream = outputs;
				}
			}
		}
		return { ...flow, input, upstream, reads, writes, args };
	}

	#command(node: Node, flow: Flow): FoundCommand[] {
		const { scope } = this.source;
		const argv: Word[] = [];
		const redirects: Node[] = [];
		let named = false;
		const passing: Node[] = [];
		const before = new Map(scope.variables);
		const fed = this.collect(() => {
			for (const child of node.children) {
				if (child.type === "variable_assignment") passing.push(child);
				else if (child.field === "redirect") redirects.push(child);
				else if (child.named || child.field === "argument") {
					argv.push(...expandWords(child, this.source));
					named = true;
				}
			}
			for (const child of passing) assign(this, child, { passing: true }); // its own words are expanded before
		});
		let next = this.#flow(redirects, flow);
		if (fed.length > 0) next = { ...next, upstream: [...next.upstream, ...fed] };
		const at = this.span(flow.span ?? node);
		next = { ...next, span: null };
		const found = this.reader.run(named && argv.length === 0 ? [{ text: UNKNOWN, glob: false }] : argv, at, scope, next);
		this.#feed(this.#takeSinks(), found, flow);
		for (const child of passing) {
			const name = nameOf(this, child);
			const value = before.get(name);
			if (value === undefined) scope.variables.delete(name);
			else scope.variables.set(name, value);
		}
		return found;
	}

	/** Returns the commands whose output is used while `inside` runs. */
	collect(inside: () => void): FoundCommand[] {
		const outer = this.#fed;
		this.#fed = [];
		inside();
		const found = this.#fed;
		this.#fed = [...outer, ...found];
		return found;
	}

	#substitution(node: Node): string {
		const text = this.source.text.slice(node.start, node.end).trim();
		const escaped = text.startsWith("`") && /\\[`\\$]/.test(text); // backquotes in backquotes
		const files = node.children.filter(({ type }) => type === "file_redirect");
		const found = this.#apart(() =>
			files.length > 0
				? this.reader.run([word("cat")], this.span(node), this.source.scope, this.#flow(files, NOWHERE)) // `$(<file)`
				: escaped
					? this.reader.script(text.slice(1, -1).replace(/\\([`\\$])/g, "$1"), this.source.scope, this.span(node))
					: this.#each(node.children, NOWHERE),
		);
		this.#fed.push(...found.flatMap((one) => [...one.upstream, one]));
		const only = found.length === 1 ? found[0] : undefined;
		const output = only ? outputOf(only) : null;
		if (found.length === 0 && node.children.some(({ type }) => type === "redirected_statement")) return UNKNOWN;
		return output === null ? UNKNOWN : output.replace(/\n+$/, "");
	}

	#takeSinks(): Node[] {
		const sinks = this.#sinks;
		this.#sinks = [];
		return sinks;
	}

	#feed(sinks: readonly Node[], found: readonly FoundCommand[], flow: Flow): void {
		for (const sink of sinks) this.#apart(() => this.#each(sink.children, piped(found, flow)));
	}

	#text({ start, end }: Span): string {
		return this.source.text.slice(start, end);
	}

	/** Values in arithmetic, and prompts: substitutions in them run. What is not known may hold some. */
	evaluate(text: string): void {
		const { scope } = this.source;
		const at = this.#at ?? { start: 0, end: this.source.text.length };
		if (text.includes(UNKNOWN)) this.reader.mark("unknown-script", at, scope);
		else if (/\$\(|`/.test(text)) this.reader.script(`: ${asText(text)}`, scope.fork(), at);
	}

	/** The grammar takes these for text in a here-document. */
	#backquotes(text: string): void {
		const { scope } = this.source;
		for (const [, inner] of text.matchAll(/(?<!\\)`((?:\\[\s\S]|[^`\\])*)`/g))
			this.reader.script((inner ?? "").replace(/\\([`\\$])/g, "$1"), scope.fork(), this.#at ?? { start: 0, end: this.source.text.length });
	}

	/** `[[ 'a[$(x)]' -eq 0 ]]` and `((x))` evaluate text that is quoted or in a variable. */
	#evaluateTest(node: Node): void {
		const text = this.#text(node);
		if (!text.startsWith("[[")) return;
		const visit = (child: Node): void => {
			if (child.type === "raw_string") {
				if (/\[.*(?:\$\(|`)/s.test(this.#text(child))) this.evaluate(this.#text(child).slice(1, -1));
			} else if (child.type === "simple_expansion" || child.type === "expansion") evaluateNames(this.#text(child), this.source);
			else for (const inner of child.children) visit(inner);
		};
		visit(node);
	}

	#define(node: Node): void {
		const { scope, text } = this.source;
		const name = node.children.find((child) => child.field === "name");
		const body = node.children.find((child) => child.field === "body");
		if (!name || !body) return;
		const own = text.slice(name.start, name.end);
		scope.functions.set(own, { body, text, called: false, active: false });
		scope.world.defined.add(text.slice(node.start, node.end));
		if (feedsItself(body, own, text)) this.reader.mark("fork-bomb", this.span(node), scope);
	}

	#for(node: Node, flow: Flow): FoundCommand[] {
		const { scope, text } = this.source;
		const variable = node.children.find((child) => child.field === "variable");
		const body = node.children.find((child) => child.field === "body");
		let values: Word[] = [];
		const fed = this.collect(() => {
			values = node.children.filter((child) => child.field === "value").flatMap((child) => expandWords(child, this.source));
		});
		if (!body) return [];
		const name = variable ? text.slice(variable.start, variable.end) : "";
		// Names that a pattern finds are as if they had been listed.
		const listed = values.some((one) => one.glob && one.text.startsWith("/proc/")) ? [listing(values, this.span(node), scope)] : [];
		if (fed.length + listed.length > 0) scope.origins.set(name, [...fed, ...listed].slice(0, 32));
		else scope.origins.delete(name);
		const before = scope.cwds;
		const found: FoundCommand[] = [];
		const texts = [...new Set(values.map((one) => (one.glob ? one.text.replace(/[*?[\]]+/g, SOME) : one.text)))];
		for (const value of texts.length === 0 || texts.length > 8 ? [UNKNOWN] : texts) {
			scope.variables.set(name, value);
			found.push(...this.statement(body, flow));
		}
		scope.join(before);
		return found;
	}

	span({ start, end }: Span): Span {
		return this.#at ?? { start: this.#offsets?.[start] ?? start, end: this.#offsets?.[end] ?? end };
	}
}

const listing = (args: readonly Word[], { start, end }: Span, { cwds }: Scope): FoundCommand => ({
	...{ names: ["ls"], args, reads: [], writes: [], input: null, prints: null, upstream: [], cwds, links: [], remote: false, trait: null, code: null },
	...{ start, end },
});
