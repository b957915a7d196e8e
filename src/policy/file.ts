/** `policy.json`: read, checked, and tried on its own examples. */
import os from "node:os";
import path from "node:path";
import { configDir, HoldfastError, readIfThere, readJson } from "../base/index.js";
import { concerns, type DecideOptions, type Rules } from "./decide.js";
import { DEFAULTS, FLOOR } from "./defaults.js";
import { isWithin } from "./paths.js";
import { RuleFile } from "./rule.js";
import { loadParser } from "./tree.js";

/** The rules for work in a directory of this machine (undefined: of another, where there is no project to look at): of the project (the nearest `.holdfast/policy.json` at or above it), then the person's own, then the default set. */
export async function loadRules(cwd: string | undefined, env: NodeJS.ProcessEnv = process.env): Promise<Rules> {
	await loadParser();
	return readRules(cwd, env);
}

/** The same once the parser is loaded. */
export function readRules(cwd: string | undefined, env: NodeJS.ProcessEnv = process.env): Rules {
	const where = { cwd: cwd ?? "/", env };
	const person = readFile(personFile(env), where);
	const project = cwd === undefined ? null : projectFile(cwd);
	const above = project && readFile(project, where);
	const notes: string[] = [];
	const own = [...(person?.rules ?? [])];
	if (project && above) {
		const root = path.dirname(path.dirname(project));
		const trusted = person?.trust?.some((dir) => isWithin(root, path.resolve(dir.replace(/^~(?=\/|$)/, env.HOME || os.homedir())))) === true;
		const used = above.rules.filter(({ decision }) => trusted || decision !== "allow");
		// Every author of a project can write this file: it comes with a clone.
		if (used.length < above.rules.length) notes.push(`${project} allows things, which counts only for projects under "trust" in ${personFile(env)}`);
		own.unshift(...used);
	}
	const changed = person?.defaults ?? {};
	const defaults = DEFAULTS.map((rule) => ({ ...rule, decision: changed[rule.id] ?? rule.decision }));
	return { own, defaults, notes };
}

const projectFile = (cwd: string): string | null => projectFiles(cwd).find((file) => readIfThere(file) !== undefined) ?? null;

/** Returns the paths at which a project's file may be, the nearest first. */
function projectFiles(cwd: string): string[] {
	const files: string[] = [];
	for (let dir = path.resolve(cwd); ; dir = path.dirname(dir)) {
		files.push(path.join(dir, ".holdfast", "policy.json"));
		if (dir === path.dirname(dir)) return files;
	}
}

/** Returns every file that the rules for a directory may come from, existing or not. */
export const ruleFiles = (cwd: string | undefined, env: NodeJS.ProcessEnv = process.env): string[] => [
	personFile(env),
	...(cwd === undefined ? [] : projectFiles(cwd)),
];

export const personFile = (env: NodeJS.ProcessEnv = process.env): string => path.join(configDir(env), "policy.json");

function readFile(file: string, where: DecideOptions): RuleFile | null {
	const read = readJson(file, RuleFile);
	if (read) checkRules(file, read, where);
	return read;
}

/** A file of rules tests itself: an example that does not do what it says makes the file unusable. */
export function checkRules(file: string, { rules, defaults }: RuleFile, where: DecideOptions): void {
	const wrong = (what: string): never => {
		throw new HoldfastError("CONFIG", `${file} cannot be used: ${what}`);
	};
	for (const id of Object.keys(defaults)) {
		if (FLOOR.some((rule) => rule.id === id)) wrong(`"${id}" is part of the floor, which cannot be changed`);
		if (!DEFAULTS.some((rule) => rule.id === id)) wrong(`"defaults" names "${id}", and there is no such rule`);
	}
	const ids = new Set([...FLOOR, ...DEFAULTS].map(({ id }) => id));
	for (const rule of rules) {
		if (ids.has(rule.id)) wrong(`there are two rules "${rule.id}"; give this one another id`);
		ids.add(rule.id);
		for (const example of rule.examples.match)
			if (!concerns(rule, example, where)) wrong(`rule "${rule.id}" does not match its example ${JSON.stringify(example)}`);
		for (const example of rule.examples.not)
			if (concerns(rule, example, where)) wrong(`rule "${rule.id}" matches ${JSON.stringify(example)}, which it says it must not`);
	}
}
