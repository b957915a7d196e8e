/**
 * Loads the chunks of a bundle of CommonJS, as Node would, and keeps what V8 has compiled of them for the next start: reading the source anew
 * takes longer than most commands.
 *
 * The compiled code is in a directory beside the chunks, so a user who can change it could change the program as well. Where that directory cannot be
 * written to, nothing is kept. V8 looks at the version and at the length of the source, but trusts the rest, and a damaged file would crash it: each
 * file therefore begins with a sum of the source and of what follows.
 */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";

/** The arguments of a chunk's code beside its own exports. The bundler has replaced each `import(…)` of an external module by `importModule(…)`. */
interface Outside {
	require(name: string): unknown;
	importModule(name: string): Promise<unknown>;
}
type Wrapper = (
	exports: object,
	require: (name: string) => unknown,
	module: { exports: object },
	file: string,
	dir: string,
	importModule: Outside["importModule"],
) => void;

const SUM_BYTES = 32;
/** More files than one version of Node needs for all chunks, with and without flags; old ones of other versions are then removed. */
const MOST_FILES = 300;

export class Chunks {
	readonly #dir: string;
	readonly #compiled: string;
	readonly #outside: Outside;
	readonly #modules = new Map<string, { exports: object }>();
	/** Compiled in this program, by the file to keep them in. */
	readonly #fresh = new Map<string, { script: Script; source: Buffer }>();

	constructor(dir: string, outside: Outside) {
		this.#dir = dir;
		this.#compiled = path.join(dir, ".compiled");
		this.#outside = outside;
	}

	load(name: string): object {
		const loaded = this.#modules.get(name);
		if (loaded) return loaded.exports;
		const module = { exports: {} };
		this.#modules.set(name, module); // before it runs: chunks may need each other
		const file = path.join(this.#dir, name);
		const run = this.#script(file).runInThisContext() as Wrapper;
		const require = (wanted: string) => (wanted.startsWith("./") ? this.load(wanted.slice(2)) : this.#outside.require(wanted));
		run(module.exports, require, module, file, this.#dir, this.#outside.importModule);
		return module.exports;
	}

	/** Writes down what this program had to compile. Called at its end, when the functions that it used are compiled as well. */
	keep(): void {
		if (this.#fresh.size === 0) return;
		try {
			fs.mkdirSync(this.#compiled, { recursive: true });
			if (fs.readdirSync(this.#compiled).length > MOST_FILES) fs.rmSync(this.#compiled, { recursive: true });
			fs.mkdirSync(this.#compiled, { recursive: true });
			for (const [file, { script, source }] of this.#fresh) {
				const code = script.createCachedData();
				fs.writeFileSync(`${file}.${process.pid}`, Buffer.concat([sumOf(source, code), code]));
				fs.renameSync(`${file}.${process.pid}`, file);
			}
		} catch {
			// an installation that this user cannot write to, or a full disk
		}
	}

	#script(filename: string): Script {
		const bytes = fs.readFileSync(filename); // its sum is quicker made of these than of the text
		const file = path.join(this.#compiled, `${path.basename(filename)}.${cachedDataVersionTag()}`);
		const cachedData = keptIn(file, bytes);
		const script = new Script(`(function (exports, require, module, __filename, __dirname, importModule) {${bytes.toString()}\n})`, { filename, cachedData });
		if (cachedData === undefined || script.cachedDataRejected) this.#fresh.set(file, { script, source: bytes });
		return script;
	}
}

function keptIn(file: string, source: Buffer): Buffer | undefined {
	try {
		const bytes = fs.readFileSync(file);
		const code = bytes.subarray(SUM_BYTES);
		return bytes.subarray(0, SUM_BYTES).equals(sumOf(source, code)) ? code : undefined;
	} catch {
		return undefined;
	}
}

const sumOf = (source: Buffer, code: Buffer): Buffer => createHash("sha256").update(source).update(code).digest();
