/** `search_files`: searches in files or for files, with ripgrep, else with grep and find. Patterns are passed as arguments; no shell interprets them. */
import path from "node:path";
import { counted, HoldfastError } from "../../base/index.js";
import { reveal } from "../../base/secrets/index.js";
import type { Files } from "../../places/files/index.js";
import type { Ask } from "../ask.js";
import { Missing } from "./answer.js";
import { engineOf, type SearchEngine } from "./engine.js";
import { globsOfType, lastParts, matcherOf, typeNames } from "./globs.js";
import type { SearchFilesArgs } from "./input.js";
import { permitted, searches } from "./permit.js";
import type { SearchFilesResult } from "./result.js";
import { unnameable } from "./similar.js";
import { type FilesAt, pathIn } from "./where.js";

const LIMIT = 100;
const FILES_MOST = 20_000;
const LINE_CHARS = 500;
const TOGETHER = 50; // files whose matches are fetched in one run

type FoundFiles = Omit<SearchFilesResult, "status" | "error">;

export async function searchFiles(ask: Ask, args: SearchFilesArgs, where: FilesAt): Promise<SearchFilesResult> {
	const root = pathIn(where, args.path ?? ".");
	return permitted(ask, { tool: "search_files", command: searches(root), cwd: where.cwd }, async () => {
		const entry = await where.files.stat(root);
		if (!entry) throw new Missing(root);
		if (entry.kind === "other") throw new HoldfastError("INVALID", `${root} is a device, a pipe or a socket; it cannot be searched`);
		const globs = args.type === undefined ? undefined : globsOfType(args.type);
		if (args.type !== undefined && !globs)
			throw new HoldfastError("INVALID", `there is no type "${args.type}"; there are ${typeNames()}; or give a glob such as "*.ext"`);
		const engine = await engineOf(where.files, ask.signal);
		const base = entry.kind === "directory" ? root : path.posix.dirname(root);
		const search: Search = { ask, files: where.files, engine, base, only: entry.kind === "directory" ? undefined : path.posix.basename(root), args, globs };
		const found = args.target === "names" ? await names(search) : await contents(search);
		ask.notes.push(...engine.notes(args));
		return { status: "ok", error: null, path: root, engine: engine.name, ...found };
	});
}

interface Search {
	readonly ask: Ask;
	readonly files: Files;
	readonly engine: SearchEngine;
	readonly base: string;
	/** The single file to search, in `base`. */
	readonly only: string | undefined;
	readonly args: SearchFilesArgs;
	readonly globs: readonly string[] | undefined;
}

async function names({ ask, files, engine, base, args, globs, only }: Search): Promise<FoundFiles> {
	if (only !== undefined) throw new HoldfastError("INVALID", `${path.posix.join(base, only)} is a file; to look for names give a directory`);
	const script = engine.names({
		hidden: args.hidden ?? false,
		last: [lastParts(args.pattern), globs, args.glob === undefined ? undefined : lastParts(args.glob)],
	});
	const { lines, cut } = await run(ask, files, script, base);
	const tests = [matcherOf(args.pattern), ...(args.glob === undefined ? [] : [matcherOf(args.glob)]), ...(globs ? [matcherOf(`{${globs.join(",")},}`)] : [])];
	const all = lines
		.map((line) => line.replace(/^\d+ /, "").replace(/^\.\//, ""))
		.filter((name) => (args.hidden || !isHidden(name)) && tests.every((test) => test(name)));
	const limit = args.limit ?? LIMIT;
	const omitted = Math.max(0, all.length - limit);
	if (cut)
		ask.notes.push(
			`There are more than ${FILES_MOST} files there; only the newest ${FILES_MOST} of those that may fit were looked at. Give a path further down.`,
		);
	const odd = all.slice(0, limit).find((name) => name.includes("\ufffd"));
	if (odd !== undefined) ask.notes.push(`${path.posix.join(base, odd)}: ${unnameable(odd)}.`);
	if (omitted > 0) ask.notes.push(`${counted(omitted, "more is", "more are")} not shown; give a narrower pattern or path, or a larger limit.`);
	return {
		output: all
			.slice(0, limit)
			.map((name) => path.posix.join(base, name))
			.join("\n"),
		files: all.length,
		omitted,
		showing: `${all.length}${cut ? " or more" : ""} ${all.length === 1 ? "file" : "files"}, the newest first`,
	};
}

async function contents(search: Search): Promise<FoundFiles> {
	const { ask, files, engine, base, args, globs, only } = search;
	const pattern = { pattern: args.pattern, fixed: args.fixed ?? false, ignoreCase: args.ignore_case ?? false };
	await engine.check(pattern);
	const last = [globs, args.glob === undefined ? undefined : lastParts(args.glob)];
	const { lines, cut } = await run(ask, files, engine.counts({ ...pattern, hidden: args.hidden ?? false, last, only }), base);
	const tests = [...(args.glob === undefined ? [] : [matcherOf(args.glob)]), ...(globs ? [matcherOf(`{${globs.join(",")},}`)] : [])];
	const within = lines
		.map((line) => /^(?:\.\/)?(.*):(\d+)$/.exec(line))
		.flatMap((match) => (match ? [{ name: match[1] as string, count: Number(match[2]) }] : []))
		.filter(
			({ name, count }) => count > 0 && (only !== undefined || ((args.hidden || tests.length === 0 || !isHidden(name)) && tests.every((test) => test(name)))),
		)
		.sort((a, b) => (a.name < b.name ? -1 : 1));
	const matches = within.reduce((sum, { count }) => sum + count, 0);
	const limit = args.limit ?? LIMIT;
	const shown: string[] = [];
	let left = limit;
	for (let at = 0; at < within.length && left > 0; at += TOGETHER) {
		const group: { name: string; most: number }[] = [];
		for (const { name, count } of within.slice(at, at + TOGETHER)) {
			if (left <= 0) break;
			group.push({ name, most: Math.min(count, left) });
			left -= Math.min(count, left);
		}
		shown.push(...(await fetched(search, group)));
	}
	const omitted = Math.max(0, matches - limit);
	if (cut) ask.notes.push(`More than ${FILES_MOST} files match; the rest was not counted.`);
	if (omitted > 0)
		ask.notes.push(`${counted(omitted, "more match is", "more matches are")} not shown; give a narrower pattern, path or glob, or a larger limit.`);
	return {
		output: shown.join("\n"),
		matches,
		files: within.length,
		omitted,
		showing: `${counted(matches, "match", "matches")} in ${within.length}${cut ? " or more" : ""} ${within.length === 1 ? "file" : "files"}`,
	};
}

/** Returns true for a hidden path. ripgrep includes a hidden file whose name fits a wanted type. */
const isHidden = (name: string): boolean => name.split("/").some((part) => part.startsWith("."));

/** Returns the matching lines of some files, as `path` and below it `12:text`. Secrets are detected in all lines of a file together. */
async function fetched({ ask, files, engine, base, args }: Search, group: readonly { name: string; most: number }[]): Promise<string[]> {
	const pattern = { pattern: args.pattern, fixed: args.fixed ?? false, ignoreCase: args.ignore_case ?? false };
	const mark = `=${Math.random().toString(36).slice(2)}=`; // random, so that no file contains such a line
	const script = engine.matches({ ...pattern, context: args.context ?? 0, mark });
	const words = group.flatMap(({ name, most }) => [`./${name}`, String(most)]);
	const { output } = await files.run(script.text, [...script.args, ...words], { cwd: base, ...(ask.signal ? { signal: ask.signal } : {}) });
	const parts = new TextDecoder().decode(output).split(`${mark}\n`).slice(1);
	return group.flatMap(({ name }, at) => {
		const lines = (parts[at] ?? "").split("\n").filter((line) => line !== "");
		if (lines.length === 0) return [`${path.posix.join(base, name)}: ${name.includes("\ufffd") ? unnameable(name) : "changed or gone since it was found"}`];
		const bare = lines.map((line) => /^(\d+)[:-]([\s\S]*)$/.exec(line));
		const hidden = ask.runtime.home.secrets.hide(bare.map((match) => match?.[2]?.replace(/\r$/, "") ?? "").join("\n")).split("\n");
		return [
			path.posix.join(base, name),
			...lines.map((line, below) => {
				const match = bare[below];
				if (!match) return "  --";
				const text = hidden[below] ?? "";
				return `  ${match[1]}${line[match[1]?.length ?? 0]} ${reveal(text.slice(0, LINE_CHARS))}${text.length > LINE_CHARS ? "…" : ""}`;
			}),
		];
	});
}

export interface Script {
	readonly text: string;
	readonly args: readonly string[];
}

/** Runs a script. The last line of output is the number of lines before the cut. */
async function run(ask: Ask, files: Files, { text, args }: Script, cwd: string): Promise<{ lines: string[]; cut: boolean }> {
	const { output } = await files.run(`{ ${text}\n} 2>/dev/null | sed -n -e '1,${FILES_MOST}p' -e '$='`, args, {
		cwd,
		...(ask.signal ? { signal: ask.signal } : {}),
	});
	const lines = new TextDecoder().decode(output).split("\n");
	lines.pop();
	const total = Number(lines.pop() ?? 0);
	return { lines, cut: total > FILES_MOST };
}
