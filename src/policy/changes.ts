/** Effects of a command on the commands after it: directory, variables, aliases, files. */
import fs from "node:fs";
import path from "node:path";
import { shellQuote } from "../base/index.js";
import { reachesOut } from "./code.js";
import { effectsOf } from "./effects.js";
import { fetchedTrees, keepRemotes, pushesTo, runsDownload, runsFetched } from "./fetched.js";
import type { FoundCommand } from "./found.js";
import { implicitlyRuns } from "./implicit.js";
import type { Inner } from "./inner.js";
import { runsFile } from "./interpreters.js";
import { linksOf } from "./links.js";
import { outputOf, printsFile } from "./output.js";
import type { Scope } from "./scope.js";
import { readSed } from "./sed.js";
import { SOME, UNKNOWN, type Word } from "./word.js";

/** Text of a file that an earlier command of the same text wrote, when this one runs it. */
export function written(command: FoundCommand, program: Word | undefined, scope: Scope): Inner[] {
	const fetched: Inner[] = runsFetched(command, program, scope) || runsDownload(command, program, scope) ? ["unknown-script"] : pushesTo(command, scope);
	if (scope.files.size === 0) return fetched;
	const use = runsFile(command) ?? { file: program?.text.includes("/") ? program : foundInPath(program, scope), as: "script" };
	const texts = scope.cwds.map((cwd) => (use.file ? scope.files.get(below(cwd, use.file.text) ?? "") : undefined));
	const runs = texts
		.filter((text) => text !== undefined)
		.map(
			(text): Inner =>
				text.trim() === UNKNOWN ? "unknown-script" : use.as === "code" || /^#!.*(?:python|perl|ruby|node|php)/.test(text) ? { code: text } : { script: text },
		);
	return [...fetched, ...runs, ...implicitlyRuns(command, scope.files)];
}

/** A program of one's own in the place of another, by a search path that the same text sets. */
function foundInPath(program: Word | undefined, scope: Scope): Word | undefined {
	const own = program === undefined || !scope.variables.has("PATH") ? undefined : [...scope.files.keys()].find((file) => path.basename(file) === program.text);
	return own === undefined ? undefined : { text: own, glob: false };
}

/** Files that another machine sends: their content is known only when they have arrived. */
function fetched({ names, args, writes }: FoundCommand): string[] {
	const [name = ""] = names;
	if (name === "mkfifo") return args.map(({ text }) => text);
	if (name === "scp" || name === "rsync") {
		const list = args.map(({ text }) => text).filter((text) => !text.startsWith("-"));
		const to = list.at(-1) ?? "";
		return list.slice(0, -1).flatMap((from) => (/^[\w.@-]+:|:\/\//.test(from) ? [to, path.join(to, path.basename(from))] : []));
	}
	if (!/^(?:curl|wget|aria2c|fetch)$/.test(name)) return [];
	const texts = args.map(({ text }) => text);
	const named = texts.flatMap((text, at) => (/^(?:-[a-zA-Z]*[oO]|--output|--output-document)$/.test(text) ? [texts[at + 1] ?? ""] : []));
	const glued = texts.flatMap((text) => (/^(?:-[oO]|--output=|--output-document=)([^-].*)$/s.exec(text)?.[1] ?? []) as string[]);
	const called =
		name !== "curl" || texts.some((text) => /^-[a-zA-Z]*O|^--remote-name/.test(text)) ? texts.map((text) => /:\/\/.*\/([^/?#]+)/.exec(text)?.[1] ?? "") : [];
	const into = texts[texts.findIndex((text) => /^(?:-P|--directory-prefix)$/.test(text)) + 1];
	const placed =
		name === "wget" && into !== undefined && texts.some((text) => /^(?:-P|--directory-prefix)$/.test(text)) ? called.map((one) => path.join(into, one)) : [];
	return [...writes.map(({ text }) => text), ...named, ...glued, ...called, ...placed].filter(Boolean);
}

/** Returns what `cat` prints of files that the same text has written; null if that is not known. */
export function printed(command: FoundCommand, scope: Scope): string | null {
	if (scope.files.size === 0 || command.names[0] !== "cat") return null;
	const files = [...command.args.filter(({ text }) => !text.startsWith("-")), ...command.reads];
	const texts = files.map(({ text }) => scope.cwds.map((cwd) => scope.files.get(below(cwd, text) ?? "")).find((known) => known !== undefined));
	return texts.some((text) => text !== undefined) ? texts.map((text) => text ?? "").join("") : null;
}

/** Returns the content of a file that this command writes, that is its output, if that is known. A copy of other files is like any other file. */
function contentOf(command: FoundCommand): string | null {
	const text = command.names[0] === "dd" ? command.input : outputOf(command);
	if (text !== null) return text;
	const copies = printsFile(command) || (command.names[0] === "cat" && command.args.length === 0 && command.upstream.length === 0);
	return copies ? null : UNKNOWN;
}

function keepWritten(command: FoundCommand, scope: Scope): void {
	const keep = (target: string, text: string) => {
		for (const cwd of scope.cwds) {
			const file = below(cwd, target);
			if (file !== null) scope.files.set(file, `${scope.files.get(file) ?? ""}${text}\n`); // appended or not: what was there may still run
		}
	};
	for (const target of fetched(command)) keep(target, UNKNOWN);
	if (/^(?:gcc|g\+\+|cc|clang|clang\+\+|rustc)$/.test(command.names[0] ?? "")) {
		const sources = command.args.flatMap(({ text }) => scope.cwds.map((cwd) => scope.files.get(below(cwd, text) ?? "")));
		const unseen = command.upstream.length > 0 && command.args.some(({ text }) => text === "-");
		const target = command.args[command.args.findIndex(({ text }) => text === "-o") + 1]?.text ?? "a.out";
		if (unseen || sources.some((text) => text !== undefined && reachesOut(text))) keep(target, UNKNOWN);
	}
	const targets = [...command.writes, ...outputsOf(command)];
	const text = targets.length === 0 || command.names.length === 0 ? null : contentOf(command);
	if (text !== null) for (const target of targets) keep(target.text, text);
	if (command.names[0] === "sed" && scope.files.size > 0)
		for (const { deed, file } of effectsOf(command))
			if (deed === "writes" && scope.cwds.some((cwd) => scope.files.has(below(cwd, file.text) ?? ""))) keep(file.text, UNKNOWN);
	for (const [, target] of (command.code ?? "").matchAll(/\bopen\s*\(\s*["']([^"'\n]+)["']\s*,\s*["'][wa]/g)) keep(target ?? "", UNKNOWN);
	if (command.names[0] === "install" && /^\/dev\/(?:stdin|fd)/.test(command.args.at(-2)?.text ?? ""))
		keep(command.args.at(-1)?.text ?? "", command.input ?? UNKNOWN);
	if (command.names[0] === "sed") for (const target of readSed(command.args).script?.writes ?? []) keep(target, UNKNOWN);
}

/** Files that a program writes its output to by itself. */
function outputsOf({ names, args }: FoundCommand): readonly Word[] {
	if (names[0] === "tee") return args.filter(({ text }) => !text.startsWith("-"));
	if (names[0] === "dd") return args.flatMap((one) => (one.text.startsWith("of=") ? [{ ...one, text: one.text.slice(3) }] : []));
	return [];
}

export function effects(command: FoundCommand, scope: Scope): void {
	keepWritten(command, scope);
	keepRemotes(command, scope);
	const trees = fetchedTrees(command, scope);
	if (trees.length > 0) scope.fetched.trees = [...scope.fetched.trees, ...trees].slice(-64);
	const links = linksOf(command, scope.world);
	if (links.length > 0) scope.links.made = [...scope.links.made, ...links];
	const words = command.args.filter(({ text }) => !text.startsWith("-")).map(({ text }) => text);
	switch (command.names[0]) {
		case "cd":
		case "pushd":
			scope.cwds = [
				...new Set(
					scope.cwds.map((cwd) =>
						command.args[0]?.text === "-" || (scope.variables.has("CDPATH") && !/^[./~]/.test(words[0] ?? "/"))
							? null
							: below(cwd, words[0] ?? scope.world.home),
					),
				),
			];
			return;
		case "popd":
			scope.cwds = [null];
			return;
		case "alias":
			for (const text of words) {
				const [, name, body] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
				if (name === undefined || body === undefined) continue;
				scope.aliases.set(name, body);
				scope.world.defined.add(`alias ${shellQuote(`${name}=${body.replaceAll(UNKNOWN, "$_unknown_").replaceAll(SOME, "$RANDOM")}`)}`);
			}
			return;
		case "hash":
			if (command.args[0]?.text === "-p" && command.args[1] && command.args[2]) scope.aliases.set(command.args[2].text, command.args[1].text);
			return;
		case "unalias":
			scope.aliases.clear();
			return;
		case "read":
		case "mapfile":
		case "readarray":
		case "getopts":
		case "printf":
		case "unset":
			for (const text of command.names[0] === "printf" ? (command.args[0]?.text === "-v" ? [command.args[1]?.text ?? ""] : []) : words)
				scope.set(text, UNKNOWN);
			return;
		case "set":
			scope.positional = null;
			if (command.args.some(({ text }, at) => text === "--" || text === "-" || (at === 0 && !/^[-+]/.test(text))))
				scope.world.defined.add("set -- of-an-earlier-command");
			return;
		case "ln":
		case "cp":
		case "mv":
		case "install": {
			const [from, to] = words.slice(-2);
			if (words.length !== 2 || from === undefined || to === undefined) return;
			for (const cwd of scope.cwds) {
				const target = below(cwd, to);
				if (target === null) continue;
				const inside = path.join(target, path.basename(from));
				scope.copies.set(target, path.basename(from)).set(inside, path.basename(from));
				const text = scope.files.get(below(cwd, from) ?? "");
				if (text !== undefined) scope.files.set(target, text).set(inside, text);
			}
		}
	}
}

export const below = (cwd: string | null, dir: string): string | null =>
	dir.includes(UNKNOWN) ? null : path.isAbsolute(dir) ? path.normalize(dir) : cwd === null ? null : path.join(cwd, dir);

export function missing(dir: string | null, { world }: Scope): boolean {
	return dir !== null && world.local && !world.looks.at(fs.existsSync, dir);
}
