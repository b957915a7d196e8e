/**
 * The effects of a command on files, by a table of programs: which words it only looks at, reads, writes, empties, moves away or deletes.
 * Rules about files ask for effects on places, never for the name of a program. A program that is not in the table may read every file it names.
 */

import path from "node:path";
import { byName } from "../base/by-name.js";
import { mountsOf } from "./containers.js";
import { hasFlag, is, words } from "./flags.js";
import type { Found } from "./found.js";
import { operands, valuesOf } from "./options.js";
import { foundBy, outputOf } from "./output.js";
import { fileWords } from "./paths.js";
import { readSed } from "./sed.js";
import { type Word, word } from "./word.js";

export type Deed =
	| "looks" // at names, sizes, dates
	| "uses" // a key, without showing or changing it
	| "makes" // an empty file or directory
	| "reads"
	| "writes" // adds to it, changes it or puts something in its place
	| "empties"
	| "moves" // away from there
	| "deletes";

export interface Effect {
	readonly deed: Deed;
	readonly file: Word;
	/** With everything below. */
	readonly tree: boolean;
	/** It is put in the place of what is there, if anything is (`>`), or what is there is changed in place (`sed -i`). */
	readonly replaces: "nothing" | "perhaps" | "surely";
}

const known = new WeakMap<Found, readonly Effect[]>();

/** Every rule asks: worked out once for a command. */
export function effectsOf(command: Found): readonly Effect[] {
	let effects = known.get(command);
	if (!effects) {
		effects = [...redirections(command), ...ofProgram(command)];
		known.set(command, effects);
	}
	return effects;
}

/** Whether a command does one of these to a file that fits. */
export const does = (command: Found, deeds: readonly Deed[], fits: (effect: Effect) => boolean): boolean =>
	effectsOf(command).some((effect) => deeds.includes(effect.deed) && fits(effect));

const all = (deed: Deed, list: readonly (Word | undefined)[], tree = false, replaces: Effect["replaces"] = "nothing"): Effect[] =>
	list.flatMap((file) => (file ? [{ deed, file, tree, replaces }] : []));
const inPlace = (files: readonly Word[]): Effect[] => all("writes", files, false, "surely");

function redirections(command: Found): Effect[] {
	const nothing = command.names.length === 0 ? command.trait === null : printsNothing(command);
	return [
		...all("reads", command.reads),
		...command.writes.map((file): Effect => {
			const deed = nothing && !file.appends ? "empties" : "writes";
			// What the file tools do goes by `cat > file`: they have looked at what was there.
			const byTool = is(command, "cat") && command.args.length === 0 && command.input === null;
			return { deed, file, tree: false, replaces: file.appends || byTool ? "nothing" : "perhaps" };
		}),
	];
}

const printsNothing = (command: Found): boolean =>
	is(command, ":", "true", "false") ||
	(is(command, "cat") && command.args[0]?.text === "/dev/null") ||
	(outputOf(command)?.trim() === "" && !(is(command, "echo") && !hasFlag(command, "-n")));

function ofProgram(command: Found): Effect[] {
	const programs = command.names.flatMap((name) => PROGRAMS[name] ?? []);
	if (programs.length > 0) return programs.flatMap((program) => program(command)); // more than one: a link or a copy under another name
	return all(
		"reads",
		fileWords(command).filter((one) => !command.reads.includes(one) && !command.writes.includes(one)),
	);
}

type Program = (command: Found) => Effect[];

const nothing: Program = () => [];
const looks: Program = (command) => all("looks", fileWords(command));
const makes: Program = (command) => all("makes", operands(command, /^(?:-m|--mode|-d|-t|-r|--date|--reference)$/));
const edits: Program = (command) => [...all("reads", words(command)), ...all("writes", words(command))];
const uses: Program = (command) => all("uses", fileWords(command));
const recursive = (command: Found): boolean => hasFlag(command, "-r|-R|-a") || command.args.some(({ text }) => /^--(?:r|arch)/.test(text)); // long options may be cut short

const removes: Program = (command) => all("deletes", words(command), recursive(command));
const removesTrees: Program = (command) => all("deletes", words(command), true);

const PROGRAMS = byName<Program>({
	...table(["echo", "printf", "true", "false", ":", "export", "kill", "pkill", "killall", "man", "which", "type", "alias", "set"], nothing),
	...table(
		[
			"ls",
			"stat",
			"test",
			"[",
			"cd",
			"pushd",
			"du",
			"df",
			"tree",
			"file",
			"readlink",
			"realpath",
			"rmdir",
			"basename",
			"dirname",
			"exa",
			"eza",
			"chown",
			"chgrp",
		],
		looks,
	),
	...table(["mkdir", "touch"], makes),
	...table(["ssh", "ssh-add", "ssh-copy-id", "mosh", "autossh"], uses),
	...table(["nano", "emacs", "ed", "patch", "code", "sponge", "micro", "pico"], edits),
	...table(["vi", "vim", "nvim", "ex"], (command) => {
		const files = operands(command, /^(?:-c|--cmd|-S|-s|-i|-u|-w|-W)$/).filter(({ text }) => !text.startsWith("+"));
		const silent = is(command, "ex") || command.args.some(({ text }) => /^-\w*[eE]s/.test(text));
		return [...all("reads", files), ...(silent ? inPlace(files) : all("writes", files))];
	}),
	...table(["rm", "unlink"], removes),
	...table(["rimraf", "trash", "trash-put", "srm", "rmtree", "del-cli"], removesTrees),
	...table(["cp", "install", "ln", "rsync", "scp", "mv"], carries),
	chmod: (command) => (opensUp(command) ? all("reads", words(command).slice(1)) : all("looks", words(command).slice(1))),
	find: (command) => {
		const roots = foundBy(command).map(word);
		const files = valuesOf(command, /^-(?:fprint0?|fprintf|fls)$/);
		return [...all("writes", files), ...all(command.args.some(({ text }) => text === "-delete") ? "deletes" : "looks", roots, true)];
	},
	shred: (command) => all(hasFlag(command, "-u|--remove") ? "deletes" : "empties", operands(command, /^(?:-n|-s|--iterations|--size)$/)),
	truncate: (command) => {
		const size = valuesOf(command, /^(?:-s|--size)$/, /^(?:--size=|-s)(.+)$/s)[0]?.text ?? "0";
		return all(/^[+>%/]/.test(size) ? "writes" : "empties", operands(command, /^(?:-s|--size|-r|--reference)$/));
	},
	tee: (command) => {
		const empty = command.input?.trim() === "" || command.reads.some(({ text }) => EMPTY.test(text));
		return all(!hasFlag(command, "-a|--append") && empty ? "empties" : "writes", words(command));
	},
	...table(["gzip", "bzip2", "xz", "lzma", "compress"], (command) =>
		hasFlag(command, "-k|-c|-d|-l|-t|--keep|--stdout|--decompress|--list|--test")
			? all("reads", words(command))
			: all("deletes", words(command), hasFlag(command, "-r|--recursive")),
	),
	docker: mounted,
	podman: mounted,
	nerdctl: mounted,
	python3: (command) => served(command),
	"http-server": (command) => all("reads", words(command), true),
	serve: (command) => all("reads", words(command), true),
	rclone: (command) => all("reads", words(command).slice(1), true),
	httpd: (command) => all("reads", valuesOf(command, /^-h$/), true),
	gawk: (command) => [
		...all("reads", fileWords(command)),
		...(valuesOf(command, /^-i$/).some(({ text }) => text === "inplace") ? inPlace(words(command).slice(2)) : []),
	],
	holdfast: (command) => {
		const [verb, file, ...rest] = words(command);
		if (verb?.text === "write-file" || verb?.text === "patch") return all("writes", [file]);
		if (verb?.text === "read-file") return all("reads", [file]);
		return verb?.text === "cp" && file ? [...all("reads", [file]), ...all("writes", rest.slice(-1))] : [];
	},
	sqlite3: (command) => {
		const text = `${command.args.map((one) => one.text).join("\n")}\n${command.input ?? ""}`;
		const named = (pattern: RegExp) => [...text.matchAll(pattern)].map((match) => word(match[1] ?? ""));
		return [
			...all("reads", [...words(command).slice(0, 1), ...named(/\breadfile\('([^']+)'/g)]),
			...all("writes", [...named(/\bwritefile\('([^']+)'/g), ...named(/^\.(?:output|once|backup|save)\s+(\S+)/gm)]),
		];
	},
	sftp: (command) => [
		...all("uses", fileWords(command)),
		...all(
			"reads",
			[...(command.input ?? "").matchAll(/^\s*m?put\s+(?:-\w+\s+)*(\S+)/gm)].map((match) => word(match[1] ?? "")),
		),
	],
	dd: (command) => {
		const value = (name: string) => command.args.flatMap((one) => (one.text.startsWith(`${name}=`) ? [{ ...one, text: one.text.slice(name.length + 1) }] : []));
		const empties = value("if").some(({ text }) => /^\/dev\/(?:null|zero|u?random)$/.test(text)) && !value("conv").some(({ text }) => /notrunc/.test(text));
		return [...all("reads", value("if")), ...all(empties ? "empties" : "writes", value("of"))];
	},
	sed: (command) => {
		const { files, script } = readSed(command.args);
		const written = script?.writes.map(word) ?? [];
		const changes = command.args.some(({ text }) => /^(?:-[nrEsuz]*i|--in-place)/.test(text));
		return [...all("reads", [...files, ...(script?.reads.map(word) ?? [])]), ...all("writes", written), ...(changes ? inPlace(files) : [])];
	},
	perl: (command) => inPlaceOf(command, /^-[a-zA-Z0-9]*i/),
	ruby: (command) => inPlaceOf(command, /^-[a-zA-Z0-9]*i/),
	sort: (command) => {
		const files = operands(command, /^(?:-[okStT]|--output|--key|--buffer-size|--field-separator)$/);
		const empty = files.length > 0 && files.every(({ text }) => EMPTY.test(text));
		return [...all("reads", files), ...all(empty ? "empties" : "writes", valuesOf(command, /^(?:-o|--output)$/, /^(?:--output=|-o)(.+)$/s))];
	},
	curl: (command) => [
		...all("reads", fileWords(command)),
		...all("writes", valuesOf(command, /^(?:-[a-zA-Z]*o|--output|-c|--cookie-jar|-D|--dump-header)$/, /^(?:--output=|-o)(.+)$/s)),
	],
	wget: (command) => [
		...all("reads", fileWords(command)),
		...all("writes", valuesOf(command, /^(?:-[a-zA-Z]*[Oo]|--output-document|--output-file)$/, /^(?:--output-document=|-O)(.+)$/s)),
	],
	openssl: (command) => [
		...all("reads", valuesOf(command, /^-(?:in|inkey|key|CAkey|pass(?:in|out)?)$/)),
		...all("writes", valuesOf(command, /^-(?:out|keyout)$/)),
	],
	gpg: (command) => [...all("reads", words(command)), ...all("writes", valuesOf(command, /^(?:-o|--output)$/, /^--output=(.+)$/s))],
	"ssh-keygen": (command) => all(hasFlag(command, "-p") || command.input !== null ? "writes" : "uses", valuesOf(command, /^-[a-zA-Z]*f$/)),
	tar: archives,
	bsdtar: archives,
	zip: (command) => [
		...all("writes", words(command).slice(0, 1)),
		...all(hasFlag(command, "-m|--move") ? "deletes" : "reads", words(command).slice(1), recursive(command)),
	],
	"7z": (command) => all("reads", words(command).slice(2), true),
	grep: (command) => all("reads", [...fileWords(command)], hasFlag(command, "-r|-R|--recursive")),
	git: (command) => {
		const at = command.args.findIndex(({ text }, index) => !text.startsWith("-") && !/^-[cC]$/.test(command.args[index - 1]?.text ?? ""));
		const [verb, ...rest] = command.args.slice(at === -1 ? command.args.length : at);
		if (verb && /^(?:config|clone|remote|commit|tag|log|submodule|rebase|bisect)$/.test(verb.text))
			return all("writes", verb.text === "config" ? valuesOf(command, /^(?:-f|--file)$/, /^--file=(.+)$/s) : []);
		return all("reads", fileWords({ ...command, args: rest }));
	},
});

/** What prints nothing, or nothing but nonsense. */
const EMPTY = /^\/dev\/(?:null|zero|u?random)$/;

/** A container is given these, to read at least. */
function mounted(command: Found): Effect[] {
	return all(
		"reads",
		mountsOf(command).map(({ source }) => source),
		true,
	);
}

/** `python3 -m http.server --directory DIR`. */
function served(command: Found): Effect[] {
	const files = all("reads", fileWords(command));
	return command.args.some(({ text }) => text === "http.server") ? all("reads", valuesOf(command, /^(?:-d|--directory)$/, /^--directory=(.+)$/s), true) : files;
}

function table(names: readonly string[], program: Program): Record<string, Program> {
	return Object.fromEntries(names.map((name) => [name, program]));
}

/** cp, mv, ln and their like. In a directory things arrive under their own name: `cp -r holdfast ~/.config`. */
function carries(command: Found): Effect[] {
	const { from, to } = carried(command);
	const moves = is(command, "mv");
	const removes = command.args.some(({ text }) => text === "--remove-source-files");
	const away = to !== undefined && /^\/dev\/(?:null|zero|full)$/.test(to.text);
	const emptied = !moves && from.length > 0 && from.every(({ text }) => EMPTY.test(text));
	const mirrors = is(command, "rsync") && command.args.some(({ text }) => /^--del(?:ete)?\b/.test(text));
	return [
		...all(moves ? (away ? "deletes" : "moves") : "reads", from, moves || recursive(command)),
		...(away ? [] : all(emptied ? "empties" : "writes", [to, ...(emptied ? [] : arrivals(command))])),
		...(mirrors ? all("deletes", [to], true) : []),
		...(removes ? all("deletes", from, true) : []),
	];
}

/** What a copier takes, and where to: its last word, or that of `-t`. */
export function carried(command: Found): { from: Word[]; to: Word | undefined } {
	const values = is(command, "scp", "rsync")
		? /^(?:-[a-zA-Z]*[iePpoFSJle]|--rsh|--exclude|--include|--(?:exclude|include|files)-from|--filter)$/
		: /^(?:-[mogS]|--mode|--owner|--group|--suffix)$/;
	const list = operands(command, values);
	const [into] = valuesOf(command, /^(?:-[a-zA-Z]*t|--target-directory)$/, /^--target-directory=(.+)$/s);
	if (!into || is(command, "rsync", "scp")) return { from: list.slice(0, -1), to: list.at(-1) };
	return { from: list.filter((one) => one !== into), to: into };
}

export function arrivals(command: Found): Word[] {
	const { from, to } = carried(command);
	if (!to) return [];
	return from.slice(0, MOST_ARRIVALS).map((one) => ({ text: path.join(to.text, path.basename(one.text)), glob: to.glob || one.glob }));
}

const MOST_ARRIVALS = 64;

function archives(command: Found): Effect[] {
	const [file] = valuesOf(command, /^(?:-?[a-zA-Z]*f|--file)$/, /^--file=(.+)$/s);
	const packs = /^-?[a-zA-Z]*[cru]/.test(command.args[0]?.text ?? "") || hasFlag(command, "-c|-r|-u|--create|--append|--update");
	const rest = fileWords(command).filter((one) => one !== file && one !== command.args[0]);
	const removes = command.args.some(({ text }) => text === "--remove-files");
	return [...all(packs ? "writes" : "reads", [file]), ...all(removes ? "deletes" : packs ? "reads" : "looks", rest, true)];
}

/** Whether a mode lets others in: `chmod 644 key`. */
const opensUp = (command: Found): boolean => /^(?:0?[0-7](?:[1-7][0-7]|0[1-7])|[ugo]*[goa][ugo]*[+=][rwxX]+|\+[rw]+)$/.test(words(command)[0]?.text ?? "");

function inPlaceOf(command: Found, flag: RegExp): Effect[] {
	const files = operands(command, /^-[a-zA-Z0-9]*[eE]$/);
	return [...all("reads", files), ...(command.args.some(({ text }) => flag.test(text)) ? inPlace(files) : [])];
}
