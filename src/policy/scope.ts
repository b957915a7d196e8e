/** Knowledge at one point of a command: variables, functions, aliases, the directory. */
import fs from "node:fs";
import path from "node:path";
import { shellQuote } from "../base/index.js";
import type { FetchedTree } from "./fetched.js";
import type { FoundCommand, SymbolicLink } from "./found.js";
import type { Looks } from "./looks.js";
import type { Node } from "./tree.js";
import { isKnown, SOME, UNKNOWN, type Word } from "./word.js";

/** The world the command runs in, as far as deciding needs it. */
export interface World {
	readonly cwd: string;
	readonly home: string;
	/** Holdfast's own directories: its home and its configuration. */
	readonly state: string;
	readonly config: string;
	/** Whether paths can be looked up on this machine. */
	readonly local: boolean;
	/** Takes every look at a file: after another one the same command may be decided otherwise. */
	readonly looks: Looks;
	/** Definitions of earlier commands that the shell has, as shell text. */
	readonly earlier: string;
	/** The same of this one, for those that come after it. */
	readonly defined: Set<string>;
}

export class Scope {
	readonly world: World;
	readonly variables: Map<string, string>;
	readonly arrays: Map<string, readonly Word[]>;
	/** By variable with an unknown value: the commands that print the value. */
	readonly origins: Map<string, readonly FoundCommand[]>;
	/** `exec < file`: what later commands read is not what they would have read. */
	input: { changed: boolean };
	/** Names that are assigned in a branch or a loop too: their value depends on what happens. */
	readonly unsure: Set<string>;
	readonly functions: Map<string, { readonly body: Node; readonly text: string; called: boolean; active: boolean }>;
	readonly aliases: Map<string, string>;
	/** The aliases being expanded: in its own text an alias means the program. */
	readonly following: Set<string>;
	/** Files made from programs in the same text (`cp /bin/rm x`), by absolute path. */
	readonly copies: Map<string, string>;
	/** Files written in the same text, where what is in them is known. */
	readonly files: Map<string, string>;
	/** Links made in the same text, by whichever part of it. */
	readonly links: { made: readonly SymbolicLink[] };
	/** Trees from the network, and remotes of git, that the same text has named. */
	readonly fetched: { trees: readonly FetchedTree[] };
	readonly remotes: Map<string, string>;
	/** The possible working directories: more than one after `cd a && b`; null if known only at run time. */
	cwds: readonly (string | null)[];
	/** How much text expansions may still make: `a=$a$a` doubles. */
	readonly budget: { left: number };
	/** `$1`…; null when unknown. */
	positional: readonly string[] | null;

	constructor(world: World, from?: Scope) {
		this.world = world;
		this.variables = new Map(from?.variables);
		this.arrays = new Map(from?.arrays);
		this.origins = new Map(from?.origins);
		this.input = from?.input ?? { changed: false };
		this.unsure = new Set(from?.unsure);
		this.functions = from?.functions ?? new Map();
		this.aliases = from?.aliases ?? new Map();
		this.following = from?.following ?? new Set();
		this.copies = from?.copies ?? new Map();
		this.files = from?.files ?? new Map();
		this.links = from?.links ?? { made: [] };
		this.fetched = from?.fetched ?? { trees: [] };
		this.remotes = from?.remotes ?? new Map();
		this.budget = from?.budget ?? { left: 1024 * 1024 };
		this.cwds = from?.cwds ?? [world.cwd];
		this.positional = from ? from.positional : [];
	}

	/** Returns the scope of a subshell: it sees all of this one, and changes nothing in it. */
	fork(): Scope {
		return new Scope(this.world, this);
	}

	/** Returns the scope of a program that runs in another directory. */
	at({ text }: Word): Scope {
		const scope = this.fork();
		scope.cwds = this.cwds.map((cwd) => (text.includes(UNKNOWN) || (cwd === null && !path.isAbsolute(text)) ? null : path.resolve(cwd ?? "/", text)));
		return scope;
	}

	/** Returns what the same text has written to a file, if that is known. */
	written({ text }: Word): string | undefined {
		if (this.files.size === 0 || text.includes(UNKNOWN)) return undefined;
		return this.cwds
			.map((cwd) => (cwd === null && !path.isAbsolute(text) ? undefined : this.files.get(path.resolve(cwd ?? "/", text))))
			.find((one) => one !== undefined);
	}

	/** Returns whether a file exists now; on another machine that is not asked. */
	isThere(file: string): boolean {
		if (!this.world.local) return false;
		return this.world.looks.at(fs.existsSync, file);
	}

	/** Returns the scope of a command on another machine, which shares nothing with this one. */
	onRemote(): Scope {
		const scope = new Scope({ ...this.world, local: false });
		scope.budget.left = this.budget.left;
		scope.cwds = [null];
		return scope;
	}

	set(name: string, value: string): void {
		const kept = this.unsure.has(name) ? UNKNOWN : value;
		this.variables.set(name, kept);
		if (name === "HOME" || name === "PWD" || FIXED.has(name)) this.world.defined.add(`${name}=${isKnown(kept) ? shellQuote(kept) : '"$_unknown_"'}`);
	}

	get(name: string): string {
		const value = this.#value(name);
		if (name !== "IFS" && this.#splits(value)) return UNKNOWN;
		this.budget.left -= value.length;
		return this.budget.left < 0 ? UNKNOWN : value;
	}

	/** With an `IFS` of its own (`IFS=,; x=rm,-rf,/; $x`) a value becomes other words than it looks like. */
	#splits(value: string): boolean {
		const ifs = this.variables.get("IFS");
		return ifs !== undefined && ifs !== FIXED.get("IFS") && [...value].some((char) => !/\s/.test(char) && (ifs.includes(char) || ifs.includes(UNKNOWN)));
	}

	#value(name: string): string {
		const value = this.variables.get(name);
		if (value !== undefined) return value;
		if (this.unsure.has(name)) return UNKNOWN;
		if (name === "@" || name === "*") return this.positional?.join(" ") ?? UNKNOWN;
		if (/^[1-9]\d*$/.test(name)) return this.positional ? (this.positional[Number(name) - 1] ?? "") : UNKNOWN;
		if (name === "HOME") return this.world.home;
		if (name === "PWD") return this.cwds.length === 1 ? (this.cwds[0] ?? UNKNOWN) : UNKNOWN;
		return FIXED.get(name) ?? UNKNOWN;
	}

	/** A change of directory may have happened or not: keeps the directories from before too. */
	join(before: readonly (string | null)[]): void {
		this.cwds = [...new Set([...before, ...this.cwds])].slice(0, 8);
	}
}

const FIXED = new Map<string, string>([
	["IFS", " \t\n"],
	["TMPDIR", "/tmp"],
	["0", "bash"],
	["PPID", `${SOME}parent`],
	// Unless the same text says otherwise, these are what their names say.
	["SHELL", "bash"],
	...["EDITOR", "VISUAL", "PAGER", "BROWSER"].map((name): [string, string] => [name, name.toLowerCase()]),
	...["?", "#", "$", "!", "-", "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "HOSTNAME", "USER", "LOGNAME", "BASHPID"].map(
		(name): [string, string] => [name, SOME],
	),
]);

/** Names assigned more than once, at least once not in a straight line: what they hold is not constant. */
export function unsureNames(root: Node, text: string): Set<string> {
	const seen = new Map<string, { times: number; nested: boolean }>();
	const visit = (node: Node, nested: boolean): void => {
		if (node.type === "variable_assignment") {
			const name = node.children[0];
			if (name) note(text.slice(name.start, name.end).replace(/\[.*/s, ""), nested);
		}
		const inside = nested || BRANCHES.has(node.type);
		for (const child of node.children) visit(child, inside);
	};
	const note = (name: string, nested: boolean): void => {
		const entry = seen.get(name) ?? { times: 0, nested: false };
		seen.set(name, { times: entry.times + 1, nested: entry.nested || nested });
	};
	visit(root, false);
	return new Set([...seen].filter(([, { times, nested }]) => times > 1 && nested).map(([name]) => name));
}

const BRANCHES = new Set(["if_statement", "while_statement", "for_statement", "c_style_for_statement", "case_statement", "function_definition", "list"]);
