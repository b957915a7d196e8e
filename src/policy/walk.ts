/**
 * Finds every simple command that a shell text would run, however deeply nested. The walk follows the text as the shell would (page.ts), tracking
 * variables and the directory; the text of `sh -c`, `eval` and `ssh` is read in the same way. It never runs anything.
 */
import { effects, printed, written } from "./changes.js";
import { type Flow, NOWHERE, type Span } from "./flow.js";
import type { FoundCommand, Trait } from "./found.js";
import { SHELLS } from "./interpreters.js";
import { Page } from "./page.js";
import { namesOf } from "./program.js";
import type { Reader } from "./reader.js";
import { type Respelled, respell } from "./respell.js";
import { Scope, unsureNames, type World } from "./scope.js";
import { LIMITS, type Node, parse } from "./tree.js";
import { asText, isKnown, UNKNOWN, type Word } from "./word.js";
import { innerOf } from "./wrappers.js";

export function understand(text: string, world: World): FoundCommand[] {
	const walk = new Walk();
	const scope = new Scope(world);
	// No shell text has these, and the marks for what is unknown are made of them.
	if (/[\0\x01]/.test(text) || LONE_SURROGATE.test(text)) walk.mark("unreadable", { start: 0, end: text.length }, scope);
	else {
		if (world.earlier !== "") {
			new Walk().script(world.earlier, scope, null); // decided about when it was defined
			world.defined.clear();
		}
		walk.script(text, scope, null);
	}
	return walk.found;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

const MAX_STEPS = 4_000;
const MAX_STATEMENTS = 200_000;
const MAX_DEPTH = 24;
const MAX_ARGS = 2_000;
/** Limit for all commands together: every rule looks at each word, and one command can stand for thousands that share its words. */
const MAX_WORDS = 20_000;
/** The most symbolic links that one text may make: more is no accident. */
const MAX_LINKS = 64;
/** All texts together, those within others included. */
const MAX_TEXT = 2 * LIMITS.length;

class Walk implements Reader {
	readonly found: FoundCommand[] = [];
	#steps = 0;
	#depth = 0;
	#read = 0;
	#statements = 0;
	#words = 0;

	/** Text within a command has no place of its own: what is found in it is about the part it stands in. */
	script(text: string, scope: Scope, at: Span | null, flow: Flow = NOWHERE): FoundCommand[] {
		const whole = at ?? { start: 0, end: text.length };
		if (!this.#enter(whole, scope)) return [];
		try {
			this.#read += text.length;
			const read = this.#read > MAX_TEXT ? { tooMuch: true as const } : parse(text);
			if ("tooMuch" in read) return [this.mark("unreadable", whole, scope)];
			const other = read.broken ? readAgain(text) : null;
			if (other) return this.#page(other.text, other.root, scope, at, flow, other.offsets);
			const found = this.#page(text, read.root, scope, at, flow);
			return read.broken ? [...found, this.mark("unreadable", at ?? read.broken, scope)] : found;
		} finally {
			this.#depth--;
		}
	}

	#page(text: string, root: Node, scope: Scope, at: Span | null, flow: Flow, offsets?: readonly number[]): FoundCommand[] {
		const page = new Page(this, text, scope, at, offsets);
		for (const name of unsureNames(root, text)) scope.unsure.add(name);
		const from = this.found.length;
		page.statement(root, flow);
		for (const one of [...scope.functions.values()]) {
			if (one.called || one.text !== text) continue;
			one.called = true; // a function that is not called here may be called later
			const inner = new Page(this, text, scope.fork(), at ?? page.span(one.body));
			inner.source.scope.positional = null;
			inner.statement(one.body, NOWHERE);
		}
		return this.found.slice(from);
	}

	/** Reads one simple command, and what it runs in turn. Returns the commands that print what it prints. */
	run(argv: readonly Word[], at: Span, scope: Scope, flow: Flow, options: { external?: boolean } = {}): FoundCommand[] {
		if (!this.#enter(at, scope)) return [];
		try {
			return this.#run(argv, at, scope, flow, options.external === true);
		} finally {
			this.#depth--;
		}
	}

	#run([program, ...args]: readonly Word[], at: Span, scope: Scope, flow: Flow, external: boolean): FoundCommand[] {
		const names = program ? namesOf(program, scope) : [];
		const unknown = program !== undefined && names.length === 0 && !isDirectory(program);
		const all = [...args, ...flow.args].slice(0, MAX_ARGS);
		this.#words += all.length;
		if (this.#words > MAX_WORDS) this.#steps = MAX_STEPS + 1; // nothing more is followed
		if (args.length > MAX_ARGS || this.#words > MAX_WORDS) this.mark("unreadable", at, scope);
		if (this.#words > MAX_WORDS) return [];
		let code: string | null = null;
		let trait: Trait | null = unknown ? "unknown-program" : null;
		const common = {
			names,
			args: all,
			reads: flow.reads,
			writes: flow.writes,
			input: flow.input,
			prints: null,
			upstream: flow.upstream,
			cwds: scope.cwds,
			links: scope.links.made,
			remote: flow.remote,
		};
		const draft: FoundCommand = { ...common, trait, code, start: at.start, end: at.end };
		const own = names[0] ?? "";
		const definition = external ? undefined : scope.functions.get(own);
		if (definition) {
			if (definition.active) return [];
			definition.called = true;
			definition.active = true;
			const inner = new Page(this, definition.text, scope, at);
			const before = scope.positional;
			scope.positional = args.map(({ text }) => text);
			const result = inner.statement(definition.body, flow);
			scope.positional = before;
			definition.active = false;
			return result;
		}
		const alias = external ? undefined : scope.aliases.get(own);
		if (alias !== undefined && !scope.following.has(own)) {
			scope.following.add(own);
			const next = /\s$/.test(alias) ? scope.aliases.get(args[0]?.text ?? "") : undefined; // behind a blank the next word is looked up too
			const rest = next === undefined ? args.map(asWord) : [asText(next), ...args.slice(1).map(asWord)];
			this.script([asText(alias), ...rest].join(" "), scope.fork(), at, flow);
			scope.following.delete(own);
		}
		const inner = [...innerOf(draft), ...written(draft, program, scope)];
		const codes = inner.flatMap((one) => (typeof one === "object" && "code" in one ? [one.code] : []));
		if (codes.length > 0) code = codes.join("\n");
		if (own === "exec" && args.length === 0 && flow.reads.length > 0) scope.input.changed = true;
		const readsOn = scope.input.changed && inner.length === 0 && SHELLS.has(own) && args.every(({ text }) => text.startsWith("-"));
		if (readsOn || codes.some((text) => text.trim() === UNKNOWN)) trait = "unknown-script";
		if (inner.includes("unknown-script") || inner.some((one) => typeof one === "object" && "script" in one && one.script.trim() === UNKNOWN))
			trait = "unknown-script";
		const result: FoundCommand = { ...draft, trait, code, prints: printed(draft, scope) };
		this.found.push(result);
		effects(result, scope);
		if (scope.links.made.length > MAX_LINKS) {
			this.mark("unreadable", at, scope);
			scope.links.made = [];
		}
		const outputs: FoundCommand[] = [];
		for (const one of inner) {
			if (one === "unknown-script" || "code" in one) continue;
			const remote = flow.remote || one.remote === true;
			const inside = one.remote ? scope.onRemote() : "cwd" in one && one.cwd ? scope.at(one.cwd) : scope;
			const next: Flow = { ...flow, args: [], remote, writes: [], reads: [], ...("fed" in one ? { input: null, upstream: [result] } : {}) };
			if ("argv" in one) outputs.push(...this.run(one.argv, at, inside, next, { external: one.keyword !== true }));
			else if (one.script.trim() !== UNKNOWN) {
				const child = names.at(-1) === "eval" ? inside : inside.fork();
				if (one.zero !== undefined) child.variables.set("0", one.zero);
				if (one.positional) child.positional = one.positional;
				outputs.push(...this.script(asText(one.script), child, at, next));
			}
		}
		return outputs.length > 0 ? outputs : [result];
	}

	/** Loops in loops multiply. */
	goesOn(at: Span, scope: Scope): boolean {
		if (++this.#statements === MAX_STATEMENTS) this.mark("unreadable", at, scope);
		return this.#statements < MAX_STATEMENTS && this.#steps <= MAX_STEPS;
	}

	#enter(at: Span, scope: Scope): boolean {
		this.#steps++;
		if (this.#steps > MAX_STEPS || this.#depth >= MAX_DEPTH) {
			if (this.#steps <= MAX_STEPS + 1 || this.#depth >= MAX_DEPTH) this.mark("unreadable", at, scope);
			return false;
		}
		this.#depth++;
		return true;
	}

	mark(trait: Trait, { start, end }: Span, scope: Scope): FoundCommand {
		const mark: FoundCommand = {
			names: [],
			args: [],
			reads: [],
			writes: [],
			input: null,
			prints: null,
			upstream: [],
			cwds: scope.cwds,
			links: scope.links.made,
			remote: false,
			trait,
			code: null,
			start,
			end,
		};
		if (this.found.length < MAX_STEPS * 2) this.found.push(mark);
		return mark;
	}
}

/** Text that the grammar cannot read as it stands, in another spelling that it can. */
function readAgain(text: string): (Respelled & { readonly root: Node }) | null {
	const other = respell(text);
	if (!other) return null;
	const read = parse(other.text);
	return "tooMuch" in read || read.broken ? null : { ...other, root: read.root };
}

/** `/` or `src/` as a command: nothing runs. */
const isDirectory = ({ text, glob }: Word): boolean => !glob && isKnown(text) && text.endsWith("/");

/** A word as it was, in text that is read again. */
const asWord = ({ text, glob }: Word): string => asText(glob ? text : `"${text.replace(/["\\$`]/g, "\\$&")}"`);
