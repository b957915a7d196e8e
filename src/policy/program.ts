import fs from "node:fs";
import path from "node:path";
import { below } from "./changes.js";
import type { Scope } from "./scope.js";
import { isKnown, type Word } from "./word.js";

/** The name of a program as a rule sees it; none if it is only known when it runs. */
export function namesOf(program: Word, scope: Scope): string[] {
	const name = path.basename(program.text);
	if (program.text.endsWith("/")) return [];
	if (program.glob || name === "" || name === "$" || !isKnown(name)) return [];
	const names = [name];
	if (program.text.includes("/") && isKnown(program.text)) {
		for (const cwd of scope.cwds) {
			const file = below(cwd, program.text);
			if (file === null) continue;
			const copied = scope.copies.get(file);
			if (copied !== undefined) names.push(copied);
			else if (scope.world.local) names.push(...[scope.world.looks.at(linked, file)].filter(Boolean));
		}
	}
	return [...new Set(names)];
}

/** Returns the name of the file that a link leads to; empty if that says nothing. */
function linked(file: string): string {
	try {
		const real = path.basename(fs.realpathSync(file));
		return /^(busybox|toybox|coreutils)/.test(real) ? "" : real; // one file for many programs: the name it is called by says which
	} catch {
		return ""; // it is not there, so it will not run
	}
}
