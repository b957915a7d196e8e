/** How this installation is called, by a person or by another program. */
import fs from "node:fs";
import path from "node:path";
import { asset } from "./asset.js";
import { defaultHome } from "./home.js";

const MAIN = asset("../dist/bin/holdfast.js");

/** Returns the words that start this program: by its name where that means this installation, else by path. */
export function ownProgram(env: NodeJS.ProcessEnv = process.env): readonly string[] {
	const named = findProgram("holdfast", env);
	return named !== undefined && isThis(named) ? ["holdfast"] : [process.execPath, MAIN];
}

/** Returns how a person calls this program. */
export const ownName = (): string => (findProgram("holdfast", process.env) === undefined ? "npx holdfast" : "holdfast");

/** Returns its path, for programs with another PATH than a terminal's: those started from a desktop know nothing of nvm's directories. */
export const ownPath = (): readonly string[] => [process.execPath, MAIN];

/** A whole line for a person's own terminal, where neither our environment nor our directory is. */
export function ownCommandLine(words: readonly string[], home: string): string {
	const { HOLDFAST_HOME: _, ...env } = process.env;
	const otherHome = home === defaultHome(env) ? [] : ["--home", home];
	return [...ownProgram(), ...words, ...otherHome].map(word).join(" ");
}

/** Returns the program that a shell would run by this name. Directories that npx and npm put in front exist for their own child processes only. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
	for (const dir of (env.PATH ?? "").split(path.delimiter)) {
		if (!path.isAbsolute(dir) || /\/node_modules\/\.bin\/?$/.test(dir)) continue;
		const file = path.join(dir, name);
		try {
			fs.accessSync(file, fs.constants.X_OK);
			if (fs.statSync(file).isFile()) return file;
		} catch {
			// not in this one
		}
	}
	return undefined;
}

function isThis(file: string): boolean {
	try {
		return fs.realpathSync(file) === fs.realpathSync(MAIN);
	} catch {
		return false; // not built, or removed meanwhile
	}
}

const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
