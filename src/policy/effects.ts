/**
 * The effects of a command on files, by a table of programs: which words it only looks at, reads, writes, empties, moves away or deletes.
 * Rules about files ask for effects on places, never for the name of a program. A program that is not in the table may read every file it names.
 */

import path from "node:path";
import { byName } from "../base/index.js";
import { ARCHIVERS } from "./archivers.js";
import { mountsOf } from "./containers.js";
import { all, anew, type Deed, type Effect, type EffectsOf, inPlace, table } from "./effect.js";
import { hasFlag, is, says, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { operands, valuesOf } from "./options.js";
import { foundBy, outputOf } from "./output.js";
import { fileWords } from "./paths.js";
import { readSed } from "./sed.js";
import { type Word, word } from "./word.js";

const known = new WeakMap<FoundCommand, readonly Effect[]>();

/** Every rule asks: worked out once for a command. */
export function effectsOf(command: FoundCommand): readonly Effect[] {
	let effects = known.get(command);
	if (!effects) {
		effects = [...redirections(command), ...ofProgram(command)];
		known.set(command, effects);
	}
	return effects;
}

/** Whether a command does one of these to a file that fits. */
export const does = (command: FoundCommand, deeds: readonly Deed[], fits: (effect: Effect) => boolean): boolean =>
	effectsOf(command).some((effect) => deeds.includes(effect.deed) && fits(effect));

function redirections(command: FoundCommand): Effect[] {
	const nothing = command.names.length === 0 ? command.trait === null : printsNothing(command);
	return [
		...all("reads", command.reads),
		...command.writes.map((file): Effect => {
			const deed = nothing && !file.appends ? "empties" : "writes";
			// The file tools stand for `cat > file`: they have checked the old content.
			const byTool = is(command, "cat") && command.args.length === 0 && command.input === null;
			return { deed, file, tree: false, replaces: file.appends || byTool ? "nothing" : "perhaps" };
		}),
	];
}

const printsNothing = (command: FoundCommand): boolean =>
	is(command, ":", "true", "false") ||
	(is(command, "cat") && command.args[0]?.text === "/dev/null") ||
	(outputOf(command)?.trim() === "" && !(is(command, "echo") && !hasFlag(command, "-n")));

function ofProgram(command: FoundCommand): Effect[] {
	const programs = command.names.flatMap((name) => PROGRAMS[name] ?? []);
	if (programs.length > 0) return programs.flatMap((program) => program(command)); // more than one: a link or a copy under another name
	return all(
		"reads",
		fileWords(command).filter((one) => !command.reads.includes(one) && !command.writes.includes(one)),
	);
}

const nothing: EffectsOf = () => [];
const looks: EffectsOf = (command) => all("looks", fileWords(command));
const makes: EffectsOf = (command) => all("makes", operands(command, /^(?:-m|--mode|-d|-t|-r|--date|--reference)$/));
const edits: EffectsOf = (command) => [...all("reads", words(command)), ...all("writes", words(command))];
const uses: EffectsOf = (command) => all("uses", fileWords(command));
const recursive = (command: FoundCommand): boolean => hasFlag(command, "-r|-R|-a") || command.args.some(({ text }) => /^--(?:r|arch)/.test(text)); // long options may be cut short

const removes: EffectsOf = (command) => all("deletes", words(command), recursive(command));
const removesTrees: EffectsOf = (command) => all("deletes", words(command), true);

/** These programs print names, not the content of files. */
export const LOOKERS = ["ls", "stat", "test", "[", "cd", "pushd", "du", "df", "tree", "file", "readlink", "realpath", "exa", "eza"] as const;

const PROGRAMS = byName<EffectsOf>({
	...table(["echo", "printf", "true", "false", ":", "export", "kill", "pkill", "killall", "man", "which", "type", "alias", "set"], nothing),
	...table([...LOOKERS, "rmdir", "basename", "dirname", "chown", "chgrp"], looks),
	...table(["mkdir", "touch"], makes),
	...table(["ssh", "ssh-add", "ssh-copy-id", "mosh", "autossh"], (command) => [
		...uses(command),
		...(is(command, "ssh") ? all("writes", valuesOf(command, /^-[a-zA-Z]*E$/)) : []),
	]),
	...table(["nano", "emacs", "patch", "code", "micro", "pico"], (command) => [...edits(command), ...all("unpacks", directoryOf(command), true)]),
	ed: (command) => (command.input === null && command.upstream.length === 0 ? edits(command) : inPlace(words(command))),
	sponge: (command) => (hasFlag(command, "-a") ? all("writes", words(command)) : anew(words(command))),
	fallocate: (command) => {
		const files = operands(command, /^(?:-o|-l|--offset|--length)$/);
		return hasFlag(command, "-z|-p|-c|-i|--zero-range|--punch-hole|--collapse-range|--insert-range") ? all("empties", files) : all("makes", files);
	},
	...table(["ccrypt", "mogrify", "rename", "prename", "perl-rename", "mmv", "mcp"], (command) => inPlace(words(command))),
	exiftool: (command) => (command.args.some(({ text }) => /^-[\w:]+=/.test(text)) ? inPlace(words(command)) : all("reads", words(command))),
	ffmpeg: (command) => [...all("reads", valuesOf(command, /^-i$/)), ...(hasFlag(command, "-n") ? [] : anew(operands(command).slice(-1)))],
	...table(["gio", "kioclient", "kioclient5"], (command) => {
		const [verb, ...files] = words(command);
		return /^(?:trash|remove|move)$/.test(verb?.text ?? "") ? all("deletes", files, true) : all("reads", files);
	}),
	btrfs: (command) => (says(command, /^su\w* d\w* /) ? all("deletes", words(command).slice(2), true) : []),
	socat: (command) => {
		const files = command.args.flatMap((one) => {
			const file = /^!{0,2}(?:UNIX(?:-\w+)?|OPEN|GOPEN|FILE|CREATE|PIPE):([^,!]+)/i.exec(one.text)?.[1];
			return file === undefined ? [] : [{ ...one, text: file }];
		});
		return [...all("reads", files), ...all("writes", files)];
	},
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
		return hasFlag(command, "-a|--append") ? all("writes", words(command)) : empty ? all("empties", words(command)) : anew(words(command));
	},
	docker: mounted,
	podman: mounted,
	nerdctl: mounted,
	python3: (command) => served(command),
	"http-server": (command) => all("reads", words(command), true),
	serve: (command) => all("reads", words(command), true),
	rclone: (command) => all("reads", words(command).slice(1), true),
	httpd: (command) => all("reads", valuesOf(command, /^-h$/), true),
	...table(["awk", "gawk", "mawk", "nawk"], (command) => [
		...all("reads", fileWords(command)),
		...anew([...(command.code ?? "").matchAll(/[^>]>\s*"([^"]+)"/g)].map((match) => word(match[1] ?? ""))),
		...(valuesOf(command, /^-i$/).some(({ text }) => text === "inplace") ? inPlace(words(command).slice(2)) : []),
	]),
	stow: (command) => all("unpacks", [valuesOf(command, /^(?:-t|--target)$/, /^(?:--target=|-t)(.+)$/s)[0] ?? word("..")], true),
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
			...(/^\.restore\b/m.test(text) ? inPlace(words(command).slice(0, 1)) : []),
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
		return [...all("reads", value("if")), ...(empties ? all("empties", value("of")) : anew(value("of")))];
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
		...anew(valuesOf(command, /^(?:-[a-zA-Z]*o|--output|-c|--cookie-jar|-D|--dump-header)$/, /^(?:--output=|-o)(.+)$/s)),
	],
	wget: (command) => [
		...all("reads", fileWords(command)),
		...anew(valuesOf(command, /^(?:-[a-zA-Z]*[Oo]|--output-document|--output-file)$/, /^(?:--output-document=|-O)(.+)$/s)),
	],
	openssl: (command) => [...all("reads", valuesOf(command, /^-(?:in|inkey|key|CAkey|pass(?:in|out)?)$/)), ...anew(valuesOf(command, /^-(?:out|keyout)$/))],
	gpg: (command) => [...all("reads", words(command)), ...anew(valuesOf(command, /^(?:-o|--output)$/, /^--output=(.+)$/s))],
	"ssh-keygen": (command) => all(hasFlag(command, "-p") || command.input !== null ? "writes" : "uses", valuesOf(command, /^-[a-zA-Z]*f$/)),
	...ARCHIVERS,
	grep: (command) => all("reads", [...fileWords(command)], hasFlag(command, "-r|-R|--recursive")),
	git: (command) => {
		const at = command.args.findIndex(({ text }, index) => !text.startsWith("-") && !/^-[cC]$/.test(command.args[index - 1]?.text ?? ""));
		const [verb, ...rest] = command.args.slice(at === -1 ? command.args.length : at);
		if (verb && /^(?:config|clone|remote|commit|tag|log|submodule|rebase|bisect)$/.test(verb.text))
			return all("writes", verb.text === "config" ? valuesOf(command, /^(?:-f|--file)$/, /^--file=(.+)$/s) : []);
		const output = verb?.text === "archive" || verb?.text === "bundle" ? valuesOf(command, /^(?:-o|--output)$/, /^--output=(.+)$/s) : [];
		return [...all("reads", fileWords({ ...command, args: rest })), ...anew(output)];
	},
});

/** `patch -d DIR`: which files it changes below it, the patch says. */
const directoryOf = (command: FoundCommand): Word[] => (is(command, "patch") ? valuesOf(command, /^(?:-d|--directory)$/, /^--directory=(.+)$/s) : []);

/** Devices that yield no bytes, or meaningless ones. */
const EMPTY = /^\/dev\/(?:null|zero|u?random)$/;

/** A container is given these, to read at least. */
function mounted(command: FoundCommand): Effect[] {
	const copied = says(command, /^(?:container |compose )?cp\b/) ? words(command).slice(1, -1) : [];
	return all("reads", [...mountsOf(command).map(({ source }) => source), ...copied], true);
}

/** `python3 -m http.server --directory DIR`. */
function served(command: FoundCommand): Effect[] {
	const files = all("reads", fileWords(command));
	return command.args.some(({ text }) => text === "http.server") ? all("reads", valuesOf(command, /^(?:-d|--directory)$/, /^--directory=(.+)$/s), true) : files;
}

/** cp, mv, ln and their like. In a directory things arrive under their own name: `cp -r holdfast ~/.config`. */
function carries(command: FoundCommand): Effect[] {
	const { from, to } = carried(command);
	const moves = is(command, "mv");
	const removes = command.args.some(({ text }) => text === "--remove-source-files");
	const away = to !== undefined && /^\/dev\/(?:null|zero|full)$/.test(to.text);
	const emptied = !moves && from.length > 0 && from.every(({ text }) => EMPTY.test(text));
	const careful = hasFlag(command, "-n|-i|-b|-u|--no-clobber|--interactive|--backup|--update") || is(command, "scp", "rsync");
	const mirrors = is(command, "rsync") && command.args.some(({ text }) => /^--del(?:ete)?\b/.test(text));
	return [
		...all(moves ? (away ? "deletes" : "moves") : "reads", from, moves || recursive(command)),
		...(away ? [] : emptied ? all("empties", [to]) : all("writes", [to, ...arrivals(command)], false, careful ? "nothing" : "perhaps")),
		...(merges(command, from) ? all("unpacks", [to], true) : []),
		...(mirrors ? all("deletes", [to], true) : []),
		...(removes ? all("deletes", from, true) : []),
	];
}

/** Whether everything in a directory arrives, whatever its name: `cp -r conf/. ~`, `mv dot/.* ~`, `rsync -a conf/ ~`. */
function merges(command: FoundCommand, from: readonly Word[]): boolean {
	const everything = (one: Word) => one.glob && /^(?:[.*?]+|\.?\[[^\]]*\]\*?)$/.test(path.basename(one.text));
	if (from.some(everything)) return true;
	if (!recursive(command)) return false;
	if (is(command, "rsync")) return from.some(({ text }) => /(?:^|\/)\.?$/.test(text));
	return is(command, "cp") && (hasFlag(command, "-T|--no-target-directory") || from.some(({ text }) => /(?:^|\/)\.$/.test(text)));
}

/** Returns the sources and the target of a copy: its last word, or that of `-t`. */
export function carried(command: FoundCommand): { from: Word[]; to: Word | undefined } {
	const values = is(command, "scp", "rsync")
		? /^(?:-[a-zA-Z]*[iePpoFSJle]|--rsh|--exclude|--include|--(?:exclude|include|files)-from|--filter)$/
		: /^(?:-[mogS]|--mode|--owner|--group|--suffix)$/;
	const list = operands(command, values);
	const [into] = valuesOf(command, /^(?:-[a-zA-Z]*t|--target-directory)$/, /^--target-directory=(.+)$/s);
	if (!into || is(command, "rsync", "scp")) return { from: list.slice(0, -1), to: list.at(-1) };
	return { from: list.filter((one) => one !== into), to: into };
}

export function arrivals(command: FoundCommand): Word[] {
	const { from, to } = carried(command);
	if (!to) return [];
	return from.slice(0, MOST_ARRIVALS).map((one) => ({ text: path.join(to.text, path.basename(one.text)), glob: to.glob || one.glob }));
}

const MOST_ARRIVALS = 64;

/** Whether a mode lets others in: `chmod 644 key`. */
const opensUp = (command: FoundCommand): boolean =>
	/^(?:0?[0-7](?:[1-7][0-7]|0[1-7])|[ugo]*[goa][ugo]*[+=][rwxX]+|\+[rw]+)$/.test(words(command)[0]?.text ?? "");

function inPlaceOf(command: FoundCommand, flag: RegExp): Effect[] {
	const files = operands(command, /^-[a-zA-Z0-9]*[eE]$/);
	return [...all("reads", files), ...(command.args.some(({ text }) => flag.test(text)) ? inPlace(files) : [])];
}
