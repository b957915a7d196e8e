/**
 * The effects of a command on files, by a table of programs: which words it only looks at, reads, writes, empties, moves away or deletes.
 * Rules about files ask for effects on places, never for the name of a program. A program that is not in the table may read every file it names.
 */
import path from "node:path";
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
	/** By `>`: the shell does not tell whether something was there. */
	readonly clobbers: boolean;
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

const all = (deed: Deed, list: readonly (Word | undefined)[], tree = false): Effect[] =>
	list.flatMap((file) => (file ? [{ deed, file, tree, clobbers: false }] : []));

function redirections(command: Found): Effect[] {
	const nothing = command.names.length === 0 ? command.trait === null : printsNothing(command);
	return [
		...all("reads", command.reads),
		...command.writes.map((file): Effect => {
			const deed = nothing && !file.appends ? "empties" : "writes";
			// What the file tools do goes by `cat > file`: they have looked at what was there.
			return { deed, file, tree: false, clobbers: !file.appends && !(is(command, "cat") && command.args.length === 0 && command.input === null) };
		}),
	];
}

const printsNothing = (command: Found): boolean =>
	is(command, ":", "true", "false") || (is(command, "cat") && command.args[0]?.text === "/dev/null") || outputOf(command)?.trim() === "";

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

const PROGRAMS: Readonly<Record<string, Program>> = {
	...table(["echo", "printf", "true", "false", ":", "export", "holdfast", "kill", "pkill", "killall", "man", "which", "type", "alias", "set"], nothing),
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
	...table(["ssh", "sftp", "ssh-add", "ssh-copy-id", "mosh", "autossh"], uses),
	...table(["nano", "vi", "vim", "nvim", "emacs", "ed", "ex", "patch", "code", "sponge", "micro", "pico"], edits),
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
	tee: (command) => all(!hasFlag(command, "-a|--append") && command.input?.trim() === "" ? "empties" : "writes", words(command)),
	dd: (command) => {
		const value = (name: string) => command.args.flatMap((one) => (one.text.startsWith(`${name}=`) ? [{ ...one, text: one.text.slice(name.length + 1) }] : []));
		const empties = value("if").some(({ text }) => /^\/dev\/(?:null|zero|u?random)$/.test(text)) && !value("conv").some(({ text }) => /notrunc/.test(text));
		return [...all("reads", value("if")), ...all(empties ? "empties" : "writes", value("of"))];
	},
	sed: (command) => {
		const { files, script } = readSed(command.args);
		const written = script?.writes.map(word) ?? [];
		const inPlace = command.args.some(({ text }) => /^(?:-[nrEsuz]*i|--in-place)/.test(text));
		return [...all("reads", [...files, ...(script?.reads.map(word) ?? [])]), ...all("writes", [...written, ...(inPlace ? files : [])])];
	},
	perl: (command) => inPlaceOf(command, /^-[a-zA-Z0-9]*i/),
	ruby: (command) => inPlaceOf(command, /^-[a-zA-Z0-9]*i/),
	sort: (command) => [...all("reads", words(command)), ...all("writes", valuesOf(command, /^(?:-o|--output)$/, /^(?:--output=|-o)(.+)$/s))],
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
	"ssh-keygen": (command) => all(hasFlag(command, "-p") ? "writes" : "uses", valuesOf(command, /^-[a-zA-Z]*f$/)),
	tar: archives,
	bsdtar: archives,
	zip: (command) => [...all("writes", words(command).slice(0, 1)), ...all("reads", words(command).slice(1), recursive(command))],
	"7z": (command) => all("reads", words(command).slice(2), true),
	grep: (command) => all("reads", [...fileWords(command)], hasFlag(command, "-r|-R|--recursive")),
	git: (command) => {
		const at = command.args.findIndex(({ text }, index) => !text.startsWith("-") && !/^-[cC]$/.test(command.args[index - 1]?.text ?? ""));
		const [verb, ...rest] = command.args.slice(at === -1 ? command.args.length : at);
		if (verb && /^(?:config|clone|remote|commit|tag|log|submodule|rebase|bisect)$/.test(verb.text))
			return all("writes", verb.text === "config" ? valuesOf(command, /^(?:-f|--file)$/, /^--file=(.+)$/s) : []);
		return all("reads", fileWords({ ...command, args: rest }));
	},
};

function table(names: readonly string[], program: Program): Record<string, Program> {
	return Object.fromEntries(names.map((name) => [name, program]));
}

/** cp, mv, ln and their like. In a directory things arrive under their own name: `cp -r holdfast ~/.config`. */
function carries(command: Found): Effect[] {
	const { from, to } = carried(command);
	const moves = is(command, "mv") || command.args.some(({ text }) => text === "--remove-source-files");
	const away = to !== undefined && /^\/dev\/(?:null|zero|full)$/.test(to.text);
	const emptied = !moves && from.length > 0 && from.every(({ text }) => text === "/dev/null");
	const mirrors = is(command, "rsync") && command.args.some(({ text }) => /^--del(?:ete)?\b/.test(text));
	return [
		...all(moves ? (away ? "deletes" : "moves") : "reads", from, moves || recursive(command)),
		...(away ? [] : all(emptied ? "empties" : "writes", [to, ...(emptied ? [] : arrivals(command))])),
		...(mirrors ? all("deletes", [to], true) : []),
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
	return [...all(packs ? "writes" : "reads", [file]), ...all(packs ? "reads" : "looks", rest, true)];
}

/** Whether a mode lets others in: `chmod 644 key`. */
const opensUp = (command: Found): boolean => /^(?:0?[0-7](?:[1-7][0-7]|0[1-7])|[ugo]*[goa][ugo]*[+=][rwxX]+|\+[rw]+)$/.test(words(command)[0]?.text ?? "");

function inPlaceOf(command: Found, flag: RegExp): Effect[] {
	const files = operands(command, /^-[a-zA-Z0-9]*[eE]$/);
	return [...all("reads", files), ...(command.args.some(({ text }) => flag.test(text)) ? all("writes", files) : [])];
}
