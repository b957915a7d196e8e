/** Shell text as a tree, from tree-sitter's grammar of bash, within limits that hold for any text. */
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Parser as TreeSitter } from "web-tree-sitter";
import { asset, compileBaseline } from "../base/index.js";
import { plainTree } from "./plain.js";

/** A plain copy of a node: the parser's own memory is freed before the tree is read. */
export interface Node {
	readonly type: string;
	readonly named: boolean;
	/** The role of the node in its parent: "name", "argument", "redirect", … */
	readonly field: string | null;
	readonly start: number;
	readonly end: number;
	readonly children: Node[];
}

export type Parsed = { readonly root: Node /** The first thing the grammar could not read. */; readonly broken: Node | null } | { readonly tooMuch: true };

export const LIMITS = { length: 1024 * 1024, nodes: 60_000, depth: 400, ms: 600 } as const;

let parser: TreeSitter | undefined;
let loading: Promise<void> | undefined;
let lives = 0;
const MOST_LIVES = 16; // each leaves some megabytes; then everything is asked about until the program is started again
/** Never collected: what the collector would do for them fails in a broken memory. */
const lost: TreeSitter[] = [];

/** Once in a program, about 30 ms; everything after it is synchronous. Again after `parse` has lost it. Without it only plain commands can be read. */
export function loadParser(): Promise<void> {
	if (parser || lives >= MOST_LIVES) return Promise.resolve();
	loading ??= load().finally(() => {
		loading = undefined;
	});
	return loading;
}

/**
 * Each life has a module, and so a memory, of its own: one whose stack has overflowed cannot be trusted any more. A program may have several copies of
 * this file (the bundle of the command line, and the library that a part of the page imports), so the name of the module is no mere count.
 */
async function load(): Promise<void> {
	const library = parserFile();
	const compiled = compileBaseline([fileURLToPath(library).replace(/\.m?js$/, ".wasm"), grammarFile()]);
	lives++;
	const { Language, Parser } = (await import(`${library}?life=${randomUUID()}`)) as typeof import("web-tree-sitter");
	await Parser.init();
	const bash = await Language.load(fs.readFileSync(grammarFile()));
	parser = new Parser().setLanguage(bash);
	compiled.length = 0; // the instances hold the code now
}

const parserFile = (): URL => pathToFileURL(built("web-tree-sitter.mjs") ?? path.join(path.dirname(installed("web-tree-sitter")), "web-tree-sitter.js"));
const grammarFile = (): string => built("tree-sitter-bash.wasm") ?? installed("tree-sitter-bash/tree-sitter-bash.wasm");

/** Beside this file after a build; run from the sources, in the package it comes from. */
function built(name: string): string | undefined {
	const beside = asset(`policy/${name}`);
	return fs.existsSync(beside) ? beside : undefined;
}

const installed = (name: string): string => createRequire(import.meta.url).resolve(name);

/** Not by the clock: on a busy machine the same text must be decided the same. To ask for the CPU time takes longer than to parse a short command, which never calls this. */
function lateness(): () => boolean {
	let deadline: number | undefined;
	return () => {
		const { user, system } = process.cpuUsage();
		const ms = (user + system) / 1000;
		deadline ??= ms + LIMITS.ms;
		return ms > deadline;
	};
}

/** Thrown by `parse`: `loadParser()` comes first. */
export class ParserMissing extends Error {
	constructor() {
		super("loadParser() comes first");
	}
}

export function parse(text: string): Parsed {
	const plain = plainTree(text);
	return plain ? { root: plain, broken: null } : parseByGrammar(text);
}

export function parseByGrammar(text: string): Parsed {
	if (!parser && lives === 0) throw new ParserMissing();
	if (!parser) return { tooMuch: true }; // it is being loaded again
	if (text.length > LIMITS.length) return { tooMuch: true };
	const isLate = lateness();
	try {
		const tree = parser.parse(text, null, { progressCallback: isLate });
		if (!tree) {
			parser.reset();
			return { tooMuch: true };
		}
		try {
			return copy(tree.walk(), text);
		} finally {
			tree.delete();
		}
	} catch (error) {
		if (!(error instanceof WebAssembly.RuntimeError)) throw error;
		lost.push(parser);
		parser = undefined; // its stack has an end: what it cannot read is asked about, and it has to begin anew
		void loadParser();
		return { tooMuch: true };
	}
}

function copy(cursor: ReturnType<NonNullable<ReturnType<TreeSitter["parse"]>>["walk"]>, text: string): Parsed {
	let broken: Node | null = null;
	let nodes = 0;
	const take = (): Node => {
		nodes++;
		const node: Node = {
			type: cursor.nodeType,
			named: cursor.nodeIsNamed,
			field: cursor.currentFieldName,
			start: cursor.startIndex,
			end: cursor.endIndex,
			children: [],
		};
		if (node.type === "ERROR" || cursor.nodeIsMissing) broken ??= node;
		return node;
	};
	try {
		const root = take();
		const parents: Node[] = [root];
		for (let down = cursor.gotoFirstChild(); ; ) {
			if (down) {
				const node = take();
				const parent = parents.at(-1) as Node;
				parent.children.push(node);
				// The grammar loses some variables in the middle of a word: `a$B-c$D/`.
				if (node.type === "$" && WORDS.has(parent.type) && /\w/.test(text[node.end] ?? "")) broken ??= node;
				if (nodes > LIMITS.nodes) return { tooMuch: true };
				if (parents.length > LIMITS.depth) return { tooMuch: true };
				if (cursor.gotoFirstChild()) {
					parents.push(node);
					continue;
				}
			}
			down = cursor.gotoNextSibling();
			if (down) continue;
			if (parents.length === 1) return { root, broken };
			parents.pop();
			cursor.gotoParent();
		}
	} finally {
		cursor.delete();
	}
}

const WORDS = new Set(["command", "command_name", "concatenation"]);
