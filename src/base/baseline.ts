/**
 * WebAssembly that V8's baseline compiler alone compiles.
 *
 * By default V8 optimizes functions that are called often. For the grammar of bash that takes a second of CPU and 30 MB in the background of every
 * program, right after its first command, and saves less than a millisecond for each command after it. V8 has no option for one module, only flags.
 */
import fs from "node:fs";
import v8 from "node:v8";

const CHOSEN = /--(?:no-)?(?:liftoff|wasm-(?:tier|dynamic|lazy))/;
const HEEDED_BEFORE = 13; // newer versions of V8 do not look at these flags any more once they run
const set = (...flags: string[]) => {
	for (const flag of flags) v8.setFlagsFromString(flag);
};

let everywhere = false;

/** Sets this for the whole program, which must be ours: a command line that ends soon. Functions are compiled when they are first called. */
export function compileEverythingBaseline(): void {
	everywhere = true;
	set("--no-wasm-tier-up", "--no-wasm-dynamic-tiering");
}

/**
 * Compiles files in a program that may have other WebAssembly: the flags are changed for this call, which does not wait. V8 finds the code again by the
 * bytes of the file, as long as a module of it exists: hold what this returns until the files have been instantiated. (As `object`: an importer may have no types of WebAssembly.)
 */
export function compileBaseline(files: readonly string[]): object[] {
	if (everywhere || isChosen() || Number.parseInt(process.versions.v8, 10) >= HEEDED_BEFORE) return [];
	set("--liftoff-only", "--no-wasm-lazy-compilation"); // not lazily: a function that is compiled later has the flags of that moment
	try {
		return files.map((file) => new WebAssembly.Module(fs.readFileSync(file)));
	} finally {
		set("--no-liftoff-only", "--wasm-tier-up", "--wasm-dynamic-tiering", "--wasm-lazy-compilation");
	}
}

/** Whether the user has set these flags: they stay. */
const isChosen = (): boolean => CHOSEN.test(`${process.execArgv.join(" ")} ${process.env.NODE_OPTIONS ?? ""}`.replaceAll("_", "-"));
