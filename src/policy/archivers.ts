/** Effects of programs that pack and unpack: what they read, where they unpack to, what they delete once it is packed. */
import { all, anew, type Effect, type EffectsOf, table } from "./effect.js";
import { hasFlag, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { operands, valuesOf } from "./options.js";
import { fileWords } from "./paths.js";
import { type Word, word } from "./word.js";

const HERE = word(".");
const texts = (command: FoundCommand): string[] => command.args.map(({ text }) => text);

/** Returns the unpacking of an archive into the last of these words, or into the working directory. */
const into = (given: readonly Word[]): Effect[] => all("unpacks", [given.at(-1) ?? HERE], true);

const extracts = (command: FoundCommand): boolean =>
	/^-?[a-zA-Z]*x/.test(command.args[0]?.text ?? "") || texts(command).some((text) => /^(?:-[a-zA-Z]*x[a-zA-Z]*|--extract|--get)$/.test(text));

const tar: EffectsOf = (command) => {
	const [file] = valuesOf(command, /^(?:-?[a-zA-Z]*f|--file)$/, /^--file=(.+)$/s);
	const packs = /^-?[a-zA-Z]*[cru]/.test(command.args[0]?.text ?? "") || hasFlag(command, "-c|-r|-u|--create|--append|--update");
	const drops = texts(command).includes("--delete");
	const rest = fileWords(command).filter((one) => one !== file && one !== command.args[0]);
	const removes = texts(command).includes("--remove-files");
	const prints = texts(command).some((text) => /^-?[a-zA-Z]*O[a-zA-Z]*$|^--to-(?:stdout|command)/.test(text));
	const absolute = texts(command).some((text) => /^-?[a-zA-Z]*P[a-zA-Z]*$|^--absolute-names$/.test(text));
	const targets = absolute ? [word("/")] : valuesOf(command, /^(?:-[a-zA-Z]*C|--directory)$/, /^(?:--directory=|-C)(.+)$/s);
	return [
		...(drops ? all("writes", [file], false, "surely") : all(packs ? "writes" : "reads", [file])),
		...all(removes ? "deletes" : packs ? "reads" : "looks", rest, true),
		...(!packs && !drops && !prints && extracts(command) ? into(targets) : []),
	];
};

const zip: EffectsOf = (command) => [
	...all("writes", words(command).slice(0, 1)),
	...all(
		hasFlag(command, "-m|--move") ? "deletes" : "reads",
		words(command).slice(1),
		hasFlag(command, "-r|-R|--recurse-paths") || texts(command).some((text) => /^--r/.test(text)),
	),
];

const unzip: EffectsOf = (command) => [
	...all("reads", operands(command, /^-[dxP]$/).slice(0, 1)),
	...(hasFlag(command, "-l|-p|-t|-v|-z|-Z") ? [] : into(valuesOf(command, /^-d$/, /^-d(.+)$/s))),
];

const sevenZip: EffectsOf = (command) => {
	const [verb, file, ...rest] = words(command);
	if (verb?.text === "x" || verb?.text === "e") return [...all("reads", [file]), ...into(valuesOf(command, /^$/, /^-o(.+)$/s))];
	if (verb?.text === "d" || verb?.text === "rn") return all("writes", [file], false, "surely");
	if (verb?.text !== "a" && verb?.text !== "u") return all("reads", [file]);
	return [...all("writes", [file]), ...all(texts(command).includes("-sdel") ? "deletes" : "reads", rest, true)];
};

const cpio: EffectsOf = (command) => {
	const directory = valuesOf(command, /^(?:-D|--directory)$/, /^(?:--directory=|-D)(.+)$/s);
	const flags = texts(command).join(" ");
	const files = valuesOf(command, /^(?:-[a-zA-Z]*[FIO]|--file)$/, /^--file=(.+)$/s);
	// cpio packs or copies the names on its stdin.
	const given = (command.input ?? "").split("\n").filter(Boolean).slice(0, 64).map(word);
	if (/(?:^|\s)(?:-[a-zA-Z]*i|--extract)/.test(flags))
		return [...all("reads", files), ...(/(?:^|\s)(?:-[a-zA-Z]*t|--list)/.test(flags) ? [] : into(directory))];
	if (/(?:^|\s)(?:-[a-zA-Z]*p|--pass-through)/.test(flags)) return [...all("reads", given, true), ...into(operands(command).slice(-1))];
	return [...all("reads", given, true), ...anew(files)];
};

const pax: EffectsOf = (command) => {
	const flags = command.args.flatMap(({ text }) => (/^-[a-z]+$/.test(text) ? [text] : [])).join("");
	const list = operands(command, /^-[a-z]*[fsxboptTUGB]$/);
	const renames = valuesOf(command, /^-s$/).some(({ text }) => /[/~]/.test(text.slice(1)));
	if (flags.includes("r") && flags.includes("w")) return [...all("reads", list.slice(0, -1), true), ...into(list.slice(-1))];
	if (flags.includes("r")) return into(renames ? [word("/")] : []);
	return flags.includes("w") ? all("reads", list, true) : [];
};

/** rar, lha, arj: a verb, an archive, names, and a directory at the end. */
const byVerb: EffectsOf = (command) => {
	const [verb, file, ...rest] = words(command);
	const directory = rest.filter(({ text }) => /^(?:\/|~)|\/$/.test(text)).slice(-1);
	if (/^[xe]/.test(verb?.text ?? "")) return [...all("reads", [file]), ...into([...valuesOf(command, /^$/, /^\w+=(.+)$/s), ...directory])];
	if (verb?.text === "m" || texts(command).includes("-df")) return [...all("writes", [file]), ...all("deletes", rest, true)];
	return verb?.text === "d" ? all("writes", [file], false, "surely") : [...all("writes", [file]), ...all("reads", rest, true)];
};

/** A file becomes another one beside it, and is gone. */
const squeezes: EffectsOf = (command) => {
	const files = operands(command, /^(?:-o|-S|-T|-p|--output|--suffix|--threads)$/);
	const keeps = hasFlag(command, "-k|-c|-l|-t|--keep|--stdout|--to-stdout|--list|--test");
	return keeps ? all("reads", files) : all("deletes", files, hasFlag(command, "-r|--recursive"));
};

/** The same for those that keep it unless they are told not to. */
const squeezesBeside: EffectsOf = (command) => [
	...all(texts(command).includes("--rm") ? "deletes" : "reads", operands(command, /^(?:-o|--output-dir-flat|-D|-T)$/)),
	...anew(valuesOf(command, /^-o$/, /^-o(.+)$/s)),
];

const unpacksTo =
	(directory: RegExp, glued?: RegExp): EffectsOf =>
	(command) => [...all("reads", operands(command, directory)), ...into(valuesOf(command, directory, glued))];

const debian: EffectsOf = (command) => {
	const at = command.args.findIndex(({ text }) => /^(?:-[xX]|--v?extract|-R|--raw-extract|-e|--control)$/.test(text));
	const [file, directory] = at === -1 ? [] : command.args.slice(at + 1);
	return at === -1 ? all("reads", words(command)) : [...all("reads", [file]), ...into(directory ? [directory] : [])];
};

const jar: EffectsOf = (command) => {
	const [flags, file, ...rest] = command.args;
	if (!flags || !/^-?[a-z0-9]*x/i.test(flags.text)) return [...all("writes", [file]), ...all("reads", rest, true)];
	return [...all("reads", [file]), ...into(valuesOf(command, /^-C$/))];
};

/** `python3 -m zipfile -e ARCHIVE DIR`. */
const ofPython: EffectsOf = (command) => {
	const at = command.args.findIndex(({ text }) => /^(?:-e|--extract)$/.test(text));
	const [file, directory] = at === -1 ? [] : command.args.slice(at + 1);
	return at === -1 ? all("reads", words(command), true) : [...all("reads", [file]), ...into(directory ? [directory] : [])];
};

export const ARCHIVERS: Readonly<Record<string, EffectsOf>> = {
	...table(["tar", "bsdtar", "star", "gtar"], tar),
	zip,
	unzip,
	...table(["7z", "7za", "7zr", "7zz", "p7zip"], sevenZip),
	cpio,
	pax,
	...table(["rar", "unrar", "lha", "arj", "zoo"], byVerb),
	...table(["gzip", "bzip2", "xz", "lzma", "compress", "pigz", "pbzip2", "lzip", "plzip", "lzop", "brotli"], (command) =>
		hasFlag(command, "-d|--decompress|--uncompress") ? all("reads", words(command)) : squeezes(command),
	),
	...table(["gunzip", "bunzip2", "unxz", "unlzma", "uncompress", "unpigz"], squeezes),
	...table(["zstd", "lz4", "unzstd"], squeezesBeside),
	ar: (command) =>
		/x/.test(command.args[0]?.text ?? "") ? into(valuesOf(command, /^--output$/, /^--output=(.+)$/s)) : all("writes", words(command).slice(1, 2)),
	unar: unpacksTo(/^(?:-o|-output-directory)$/),
	dtrx: unpacksTo(/^-o$/),
	unsquashfs: unpacksTo(/^(?:-d|-dest)$/),
	...table(["dpkg-deb", "dpkg"], debian),
	jar,
	...table(["zipfile", "tarfile"], ofPython),
};
