/** Programs that run what their arguments say: what it is they run. */
import { byName } from "../base/index.js";
import { awkRuns, MAX_CODE } from "./code.js";
import { runsOnMounts } from "./containers.js";
import { hasFlag } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { gitRuns } from "./git.js";
import { after, behind, hidden, type Inner, joined, scripts } from "./inner.js";
import { fromInput, INTERPRETERS, interpreter, SHELLS, shell } from "./interpreters.js";
import { foundBy } from "./output.js";
import { holdfast } from "./own-cli.js";
import { readSed } from "./sed.js";
import { type Shape, shaped, skip } from "./shapes.js";
import { loadsLibrary, sshRuns } from "./ssh.js";
import { SOME, UNKNOWN, type Word, word } from "./word.js";

/** Options whose value is text for a shell, or a program to run: as the next word, and in the same word. */
const SCRIPT_OPTIONS = byName<readonly [next: RegExp, glued?: RegExp]>({
	su: [/^(?:-\w*c|--command|--session-command)$/, /^(?:--(?:session-)?command=|-c)(.+)$/s],
	runuser: [/^(?:-\w*c|--command|--session-command)$/, /^(?:--(?:session-)?command=|-c)(.+)$/s],
	script: [/^(?:-\w*c|--command)$/, /^(?:--command=|-c)(.+)$/s],
	scriptreplay: [/^$/],
	mapfile: [/^-C$/],
	readarray: [/^-C$/],
	rsync: [/^(?:-\w*e|--rsh)$/, /^--rsh=(.*)$/s],
	tar: [
		/^(?:-\w*I|-F|--to-command|--use-compress-program|--info-script|--new-volume-script|--rsh-command)$/,
		/^(?:--(?:checkpoint-action=exec|to-command|use-compress-program|info-script|new-volume-script|rsh-command)=|exec=|-I)(.+)$/s,
	],
	nodemon: [/^(?:-x|--exec)$/, /^--exec=(.+)$/s],
	"nix-shell": [/^--(?:run|command)$/],
	nix: [/^(?:-c|--command)$/],
	just: [/^(?:-c|--command)$/],
	vagrant: [/^(?:-c|--command)$/],
	capsh: [/^-c$/],
	nc: [/^(?:-\w*[ec]|--exec|--sh-exec)$/],
	ncat: [/^(?:-\w*[ec]|--exec|--sh-exec)$/, /^--(?:sh-)?exec=(.+)$/s],
	make: [/^--eval$/, /^--eval=(.+)$/s],
	xterm: [/^-e$/],
	"gnome-terminal": [/^-e$/],
});

/** The same for programs that are started on the side: helpers, pagers, wrappers. */
const HELPER_OPTIONS = byName<readonly [next: RegExp, glued?: RegExp]>({
	man: [/^(?:-P|--pager)$/, /^(?:--pager=|-P)(.+)$/s],
	scp: [/^-S$/],
	sftp: [/^-S$/],
	rsync: [/^--rsync-path$/, /^--rsync-path=(.+)$/s],
	rg: [/^--(?:pre|hostname-bin)$/, /^--(?:pre|hostname-bin)=(.+)$/s],
	split: [/^--filter$/, /^--filter=(.+)$/s],
	sort: [/^--compress-program$/, /^--compress-program=(.+)$/s],
	zip: [/^(?:-TT|--unzip-command)$/, /^--unzip-command=(.+)$/s],
	less: [/^$/, /^\+!(.+)$/s],
	tcpdump: [/^-z$/],
	make: [/^$/, /^SHELL=(.+)$/s],
	npm: [/^--script-shell$/, /^--script-shell=(.+)$/s],
	wget: [/^--use-askpass$/, /^--use-askpass=(.+)$/s],
	go: [/^-(?:toolexec|exec|vettool)$/, /^-(?:toolexec|exec|vettool)=(.+)$/s],
});

export function innerOf(command: FoundCommand): Inner[] {
	const name = (command.names.at(-1) ?? "").replace(/^holdfast@.*/s, "holdfast");
	const { args } = command;
	if (SHELLS.has(name)) return shell(command);
	if (/^ld(?:-[\w-]+)?\.so(?:\.\d+)?$/.test(name)) return [{ argv: skip(args, { long: ["--library-path", "--preload", "--argv0", "--audit"] }) }];
	if (INTERPRETERS.test(name) && !(name === "bun" && args[0]?.text === "x")) return interpreter(command, name);
	const option = SCRIPT_OPTIONS[name];
	const texts = option ? [...after(args, option[0]), ...(option[1] ? behind(args, option[1]) : [])] : [];
	const helper = HELPER_OPTIONS[name];
	const helpers = helper ? [...after(args, helper[0]), ...(helper[1] ? behind(args, helper[1]) : [])] : [];
	const shells = texts.filter((text) => SHELLS.has(text.trim())).map((): Inner => "unknown-script"); // it is fed with something
	return [...scripts(texts), ...shells, ...hidden(helpers), ...special(command, name), ...shaped(command, name)];
}

function special(command: FoundCommand, name: string): Inner[] {
	const { args } = command;
	const dashes = args.findIndex(({ text }) => text === "--");
	switch (name) {
		case "eval":
			return args.length === 0 ? [] : [{ script: joined(args[0]?.text === "--" ? args.slice(1) : args) }];
		case "source":
		case ".":
			return /^\/dev\/(stdin|fd\/)/.test(args[0]?.text ?? "") ? fromInput(command, (script) => ({ script })) : [];
		case "trap": {
			const [first, ...rest] = args[0]?.text === "--" ? args.slice(1) : args;
			return first && rest.length > 0 && !/^-/.test(first.text) ? [{ script: first.text }] : [];
		}
		case "command":
			return /^-\w*[vV]\w*$/.test(args[0]?.text ?? "") ? [] : [{ argv: skip(args, {}) }];
		case "coproc":
			if (args.length === 1 && SHELLS.has(args[0]?.text ?? "")) return ["unknown-script"]; // it is written to later
			return [{ argv: args.slice(args[0]?.text === "{" ? 1 : args[1]?.text === "{" ? 2 : 0), keyword: true }];
		case "time":
		case "!":
			return [{ argv: skip(args, { valued: "of" }), keyword: true }];
		case "su":
			return args.some(({ text }) => /^-\w*c|^--(?:session-)?command/.test(text)) ? [] : ["unknown-script"];
		case "scp":
		case "sftp":
			return sshRuns(command);
		case "ssh-add":
		case "ssh-keygen":
			return loadsLibrary(command) ? ["unknown-script"] : [];
		case "newgrp":
			return fromInput(command, (script) => ({ script }));
		case "complete":
			return scripts(after(args, /^-C$/));
		case "bind":
			return scripts(after(args, /^-x$/).map((text) => text.replace(/^[^:]*:/, "")));
		case "enable":
			return hasFlag(command, "-f") ? ["unknown-script"] : [];
		case "fc":
			return hasFlag(command, "-s") || after(args, /^-e$/).includes("-") ? ["unknown-script"] : [];
		case "start-stop-daemon":
			return [...after(args, /^(?:-x|-a|--exec|--startas)$/), ...behind(args, /^--(?:exec|startas)=(.+)$/s)].map((program) => ({
				argv: [word(program), ...(dashes === -1 ? [] : args.slice(dashes + 1))],
			}));
		case "cmake":
			return args[0]?.text === "-E"
				? [
						{
							argv: args
								.slice(args[1]?.text === "env" ? 2 : 1)
								.map((one, at) => (at === 0 ? word(one.text.replace(/^remove(?:_directory)?$/, "rimraf")) : one)),
						},
					]
				: [];
		case "npm":
		case "pnpm":
			return scripts(behind(args, /^scripts\.[\w:-]+=(.+)$/s));
		case "xdotool":
		case "ydotool":
		case "wtype":
			return scripts(args.filter(({ text }) => !/^(?:-.*|type|key|\d+)$/s.test(text)).map(({ text }) => text));
		case "m4":
			return /\be?syscmd\b/.test(`${joined(args)} ${command.input ?? ""}`) ? ["unknown-script"] : [];
		case "dc":
			return scripts(after(args, /^-e$/).flatMap((text) => /!\s*(.+)$/s.exec(text)?.[1] ?? []));
		case "ansible":
			return scripts(after(args, /^(?:-a|--args)$/));
		case "gcc":
		case "g++":
		case "cc":
		case "clang":
			return scripts(after(args, /^-wrapper$/).map((text) => text.replace(/^(?:\w*sh),-c,/, "").replaceAll(",", " ")));
		case "cargo":
			return hidden(
				[...after(args, /^--config$/), ...behind(args, /^--config=(.+)$/s)].flatMap(
					(text) => /(?:wrapper|runner|linker)\s*=\s*["'](.+)["']$/s.exec(text)?.[1] ?? [],
				),
			);
		case "docker":
		case "podman":
		case "docker-compose":
			return command.upstream.length > 0 && after(args, /^(?:-f|--file)$/).includes("-") ? ["unknown-script"] : runsOnMounts(command);
		case "logrotate": // its settings name scripts
			return args.some(({ text }) => !/^-|^\/etc\//.test(text)) && !hasFlag(command, "-d|--debug") ? ["unknown-script"] : [];
		case "let":
		case "unset":
		case "read":
		case "test":
		case "[":
		case "printf":
			return evaluated(args);
		case "holdfast":
			return holdfast(args);
		case "find":
			return found(command);
		case "fd":
		case "fdfind":
			return fd(args);
		case "xargs":
			return xargs(command);
		case "parallel":
			return parallel(command);
		case "make":
			return [...after(args, /^(?:-f|--file|--makefile)$/), ...behind(args, /^(?:-f|--file=|--makefile=)(.+)$/s)].some((file) => /^(-|\/dev\/.*)$/s.test(file))
				? ["unknown-script"]
				: [];
		case "vi":
		case "vim":
		case "nvim":
		case "ex":
			return editor(args);
		case "emacs":
			return [...after(args, /^--?eval$/), ...behind(args, /^--?eval=(.+)$/s)].map((code) => ({ code }));
		case "runuser":
			return args.some(({ text }) => /^(-u|--user(=|$))/.test(text))
				? [{ argv: skip(args, { valued: "ugG", long: ["--user", "--group", "--supp-group"] }) }]
				: [];
		case "script":
			return dashes === -1 ? [] : [{ argv: args.slice(dashes + 1) }];
		case "capsh":
			return dashes === -1 ? [] : shell({ ...command, args: args.slice(dashes + 1) });
		case "at":
		case "batch":
			return args.some(({ text }) => /^-\w*[flrcd]/.test(text)) ? [] : fromInput(command, (script) => ({ script }));
		case "tmux":
			return tmux(args);
		case "screen":
			return [...scripts(after(args, /^stuff$/)), { argv: skip(args, { valued: "cehpSsTtX" }) }];
		case "socat":
			return scripts(behind(args, /^(?:exec|system):"?(.+?)"?(?:,\w.*)?$/is)).concat(
				args.some(({ text }) => /^(?:exec|system):/i.test(text)) ? ["unknown-script"] : [],
			);
		case "nc":
		case "ncat":
		case "netcat":
			return args.some(({ text }) => /^(?:-\w*[ec]|--exec|--sh-exec)(?:=|$)/.test(text)) ? ["unknown-script"] : [];
		case "bwrap":
		case "systemd-nspawn":
			return args.flatMap(({ text }, at): Inner[] => (text.startsWith("-") ? [] : [{ argv: args.slice(at) }])).slice(0, MOST_GUESSES);
		case "git":
			return gitRuns(args);
		case "ed":
		case "psql":
			return [
				...shellLines(command),
				...scripts([...`${joined(args, "\n")}\n${command.input ?? ""}`.matchAll(/\bprogram\s+'((?:[^']|'')*)'/gi)].map((match) => match[1] ?? "")),
			];
		case "mysql":
		case "mariadb":
		case "sqlite3":
		case "gdb":
			return shellLines(command);
		case "awk":
		case "gawk":
		case "mawk":
		case "nawk": {
			const code = joined(args, "\n");
			if ([...after(args, /^(?:-f|--file)$/), ...behind(args, /^(?:-f|--file=)(.+)$/s)].some((file) => /^(?:-$|\/dev\/)/.test(file)))
				return fromInput(command, (text) => ({ code: text })).flatMap((one) =>
					typeof one === "object" && "code" in one ? [one, ...scripts(awkRuns(one.code))] : [one],
				);
			return [{ code }, ...awkRuns(code.slice(0, MAX_CODE)).flatMap((script): Inner[] => (script === UNKNOWN ? [] : [{ script, fed: true }]))];
		}
		case "sed": {
			if (command.upstream.length > 0 && after(args, /^(?:-\w*f|--file)$/).some((file) => /^(?:-$|\/dev\/)/.test(file))) return ["unknown-script"];
			const runs = readSed(args).script?.runs ?? [];
			return [{ code: joined(args, "\n") }, ...runs.map((script): Inner => (script.includes(UNKNOWN) ? "unknown-script" : { script }))];
		}
		default:
			return [];
	}
}

/** An index is arithmetic, and what is quoted there runs: `unset 'a[$(x)]'`. */
const evaluated = (args: readonly Word[]): Inner[] => scripts(args.flatMap(({ text }) => (/^\w+\[.*(?:\$\(|`)/s.test(text) ? [`: ${text}`] : [])));

/** Limit of guesses: if the options of a program are not known, each word may begin the command. */
const MOST_GUESSES = 32;

/** Programs with a command of their own that runs a shell's: `!`, `\\!`, `.shell`. */
function shellLines({ args, input }: FoundCommand): Inner[] {
	const lines = [...args.map(({ text }) => text), input ?? ""].join("\n").split("\n");
	return scripts(lines.flatMap((line) => (/^\s*(?:\\?!|\.?(?:shell|system)\s)\s*(\S.*)$/s.exec(line)?.[1] ?? []) as string[]));
}

function found(command: FoundCommand): Inner[] {
	const inner: Inner[] = [];
	const { args } = command;
	const names = foundBy(command);
	for (let at = 0; at < args.length; at++) {
		if (!/^-(exec|execdir|ok|okdir)$/.test(args[at]?.text ?? "")) continue;
		const from = at + 1;
		while (at < args.length && !/^[;+]$/.test(args[at]?.text ?? "")) at++;
		// Without a test `{}` is everything below a root.
		const each = (text: string) =>
			names.map((name): Word => (text === "{}" && !name.includes(SOME) ? { text: `${name}/*`, glob: true } : word(text.replaceAll("{}", name))));
		inner.push({ argv: args.slice(from, at).flatMap((one) => (one.text.includes("{}") ? each(one.text) : [one])) });
	}
	return inner;
}

/** `fd PATTERN DIR -x rm`: for each name that is found. */
function fd(args: readonly Word[]): Inner[] {
	const at = args.findIndex(({ text }) => /^(?:-x|-X|--exec|--exec-batch)$/.test(text));
	if (at === -1) return [];
	const [pattern, ...dirs] = args.slice(0, at).filter(({ text }) => !text.startsWith("-"));
	const last = pattern && /^[\w.-]+$/.test(pattern.text) && pattern.text !== "." ? pattern.text : SOME;
	const names = (dirs.length > 0 ? dirs : [word(".")]).map(({ text }) => word(`${text}/${SOME}/${last}`));
	const argv = args.slice(at + 1).filter(({ text }) => text !== ";");
	const placed = argv.some(({ text }) => /\{[/.]*\}/.test(text));
	return [
		{
			argv: placed
				? argv.flatMap((one) => (/\{[/.]*\}/.test(one.text) ? names.map((name) => word(one.text.replace(/\{[/.]*\}/g, name.text))) : [one]))
				: [...argv, ...names],
		},
	];
}

function xargs(command: FoundCommand): Inner[] {
	const shape: Shape = { valued: "nPdLsaEIi", long: ["--max-args", "--max-procs", "--delimiter", "--arg-file", "--replace", "--max-lines"] };
	const inner = skip(command.args, shape);
	if (inner.length === 0) return [];
	const given = command.input === null ? [UNKNOWN] : command.input.split(/[\s\0]+/).filter(Boolean);
	const own = command.args.slice(0, command.args.length - inner.length); // `xargs sed -i`: the rest is not for xargs
	const texts = own.map(({ text }) => text);
	const place =
		after(own, /^-I$/)[0] ??
		texts.map((text) => /^-I(.+)/.exec(text)?.[1]).find(Boolean) ??
		(texts.some((text) => /^(-i|--replace)$/.test(text)) ? "{}" : undefined);
	if (place === undefined) return [{ argv: [...inner, ...given.map(word)] }];
	return (given.length > 0 ? given : [SOME]).slice(0, 16).map((one) => ({ argv: inner.map((part) => word(part.text.replaceAll(place, one))) }));
}

/** `parallel 'rm {}' ::: a b`: a line for a shell, with each argument; without a command, each line it reads is one. */
function parallel(command: FoundCommand): Inner[] {
	const at = command.args.findIndex(({ text }) => /^:::+\+?$/.test(text));
	const own = at === -1 ? command.args : command.args.slice(0, at);
	const line = joined(skip(own, { valued: "jNnLIaSCdPs", long: ["--jobs", "--arg-file", "--colsep", "--delay", "--timeout", "--joblog", "--results"] }));
	const given = at === -1 ? (command.input?.split("\n").filter(Boolean) ?? [UNKNOWN]) : command.args.slice(at + 1).map(({ text }) => text);
	if (line === "") return command.input === null && command.upstream.length > 0 ? ["unknown-script"] : scripts(given.filter((text) => text !== UNKNOWN));
	return scripts(given.slice(0, 16).map((one) => (/\{[^}]*\}/.test(line) ? line.replace(/\{[^}]*\}/g, one) : `${line} ${one}`)));
}

/** `vim -c '!X'`, `+'r !X'`, `:call system('X')`. */
function editor(args: readonly Word[]): Inner[] {
	if (args.some(({ text }) => /\bso(?:urce)?\s+https?:/.test(text))) return ["unknown-script"];
	const lines = [...after(args, /^(?:-c|--cmd)$/), ...behind(args, /^\+(.+)$/s), ...behind(args, /^--cmd=(.+)$/s), ...behind(args, /^(:?!.+)$/s)];
	return scripts(
		lines.flatMap((line) =>
			[/(?:^|[\s:|%"'])!\s*(.+)$/s.exec(line)?.[1], /\b(?:system|systemlist|jobstart|term_start)\s*\(\s*["'](.+?)["']\s*\)/s.exec(line)?.[1]].filter(
				(text) => text !== undefined,
			),
		),
	);
}

const TMUX_RUNS =
	/^(?:new|new-session|neww|new-window|splitw|split-window|respawnp|respawn-pane|respawnw|respawn-window|run|run-shell|if|if-shell|popup|display-popup|pipep|pipe-pane)$/;

function tmux(args: readonly Word[]): Inner[] {
	const ends = args.findIndex(({ text }) => text === ";" || text === "\\;");
	const own = ends === -1 ? args : args.slice(0, ends);
	const at = own.findIndex(({ text }) => TMUX_RUNS.test(text) || /^send(?:-keys)?$/.test(text));
	const rest = at === -1 ? [] : skip(own.slice(at + 1), { valued: "ceFnstxylpbhwT" });
	const line = joined(rest.filter(({ text }) => !/^(?:Enter|C-\w|Space|Tab|Escape)$/.test(text)));
	return [...(line === "" ? [] : scripts([line])), ...(ends === -1 ? [] : tmux(args.slice(ends + 1)))];
}
