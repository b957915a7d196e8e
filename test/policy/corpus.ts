import fs from "node:fs";
import path from "node:path";
import type { Decision } from "../../src/policy/index.js";
import { tempDir } from "../support/home.js";

export interface Entry {
	readonly decision: Decision;
	readonly command: string;
	readonly line: number;
}

export function readCorpus(): Entry[] {
	const lines = fs.readFileSync(new URL("./corpus.txt", import.meta.url), "utf8").split("\n");
	return lines.flatMap((text, at) => {
		if (text === "" || text.startsWith("#")) return [];
		const [, decision, command] = /^(allow|ask|deny) +(.*)$/.exec(text) ?? [];
		if (!decision || !command) throw new Error(`corpus.txt:${at + 1} has no decision`);
		return [{ decision: decision as Decision, command: unwritten(command), line: at + 1 }];
	});
}

const unwritten = (text: string): string =>
	text.replaceAll("⏎", "\n").replace(/‹([0-9a-f]+)›/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));

/** The project the corpus speaks of. */
export function project(): string {
	const dir = tempDir("project");
	for (const name of ["src", "build/x", "dist", "node_modules", ".git", "packages"]) fs.mkdirSync(path.join(dir, name), { recursive: true });
	fs.symlinkSync("/etc", path.join(dir, "etc-link"));
	fs.symlinkSync("/bin/rm", path.join(dir, "tool"));
	return dir;
}

/** The person the corpus speaks of, whoever runs the tests. */
export const SOMEONE = { HOME: "/home/someone", XDG_CONFIG_HOME: "/home/someone/.config", HOLDFAST_HOME: "/home/someone/.local/state/holdfast" };
