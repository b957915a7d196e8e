/** Programs that run what their arguments say: what it is they run. */
import { awkRuns, MAX_CODE } from "./code.js";
import { hasFlag } from "./flags.js";
import type { Found } from "./found.js";
import { foundBy } from "./output.js";
import { readSed } from "./sed.js";
import { SOME, UNKNOWN, type Word, word } from "./word.js";

export type Inner =
	| { readonly argv: readonly Word[]; readonly remote?: boolean }
	/** Text for a shell. */
	| { readonly script: string; readonly remote?: boolean; readonly positional?: readonly string[] }
	/** Text of another language. */
	| { readonly code: string }
	/** It reads text to run, and which is not known. */
	| "unknown-script";

/** How a program's own arguments are told from the command behind them. */
interface Shape {
	/** Short options that take a value, and long ones that take it as the next word. */
	readonly valued?: string;
	readonly long?: readonly string[];
	/** Words before the command: a host, a time, a file. */
	readonly before?: number;
	/** Words that must stand first: `docker exec`. */
	readonly first?: readonly string[];
	/** The rest is text for a shell rather than a command. */
	readonly script?: true;
	readonly remote?: true;
}

const SHAPES: Readonly<Record<string, Shape | readonly Shape[]>> = {
	sudo: { valued: "ughpCDRTUrt", long: ["--user", "--group", "--host", "--prompt", "--chdir", "--chroot", "--role", "--type"] },
	doas: { valued: "uC" },
	pkexec: { valued: "u", long: ["--user"] },
	chrt: { valued: "TPD", before: 1 },
	env: { valued: "uC", long: ["--unset", "--chdir"] },
	nohup: {},
	nice: { valued: "n", long: ["--adjustment"] },
	ionice: { valued: "cnp" },
	timeout: { valued: "ks", long: ["--kill-after", "--signal"], before: 1 },
	time: { valued: "of" },
	stdbuf: { valued: "ioe" },
	setsid: {},
	builtin: {},
	exec: { valued: "a" },
	coproc: {},
	strace: { valued: "oepEsau" },
	ltrace: { valued: "oepsau" },
	chroot: { before: 1, long: ["--userspec"] },
	unshare: { valued: "SGRw" },
	nsenter: { valued: "tSGrw" },
	ip: { first: ["netns", "exec"], before: 1 },
	taskset: { before: 1, valued: "p" },
	setpriv: {},
	chronic: {},
	caffeinate: { valued: "tw" },
	"systemd-run": { valued: "pEtuM", long: ["--unit", "--property"] },
	busybox: {},
	toybox: {},
	parallel: { valued: "jNnIaS", long: ["--jobs"] },
	entr: {},
	npx: { valued: "p", long: ["--package"] },
	bunx: {},
	uvx: {},
	flock: { valued: "wE", before: 1 },
	watch: { valued: "n", long: ["--interval"], script: true },
	bundle: { first: ["exec"] },
	uv: { first: ["run"], long: ["--with", "--python"] },
	poetry: { first: ["run"] },
	pipenv: { first: ["run"] },
	pnpm: [{ first: ["dlx"] }, { first: ["exec"] }],
	yarn: [{ first: ["dlx"] }, { first: ["exec"] }],
	npm: { first: ["exec"] },
	ssh: { valued: "pilobcDEeFIJLmOQRSWwB", before: 1, script: true, remote: true },
	docker: { first: ["exec"], valued: "uwe", long: ["--user", "--workdir", "--env"], before: 1, remote: true },
	podman: { first: ["exec"], valued: "uwe", long: ["--user", "--workdir", "--env"], before: 1, remote: true },
	kubectl: { first: ["exec"], valued: "nc", long: ["--namespace", "--container"], before: 1, remote: true },
};

const SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"]);
const INTERPRETERS = /^(?:python[\d.]*|pypy3?|perl[\d.]*|ruby[\d.]*|node|nodejs|bun|php[\d.]*|lua[\d.]*|Rscript|osascript|tclsh|expect|julia|deno)$/;

/** What a file made in the same text is to the command that is given it: `cat > x.sh <<E … E; sh x.sh`. */
export function runsFile(command: Found): { file: Word | undefined; as: "script" | "code" } | null {
	const name = command.names.at(-1) ?? "";
	const file = command.args.find(({ text }) => !text.startsWith("-"));
	if (SHELLS.has(name) || name === "source" || name === ".") return { file, as: "script" };
	return INTERPRETERS.test(name) ? { file, as: "code" } : null;
}

export function innerOf(command: Found): Inner[] {
	const name = (command.names.at(-1) ?? "").replace(/^holdfast@.*/s, "holdfast");
	const { args } = command;
	if (SHELLS.has(name)) return shell(command);
	if (/^ld(?:-[\w-]+)?\.so(?:\.\d+)?$/.test(name)) return [{ argv: skip(args, { long: ["--library-path", "--preload", "--argv0", "--audit"] }) }];
	if (INTERPRETERS.test(name)) return interpreter(command, name);
	switch (name) {
		case "eval":
			return args.length === 0 ? [] : [{ script: joined(args) }];
		case "source":
		case ".":
			return /^\/dev\/(stdin|fd\/)/.test(args[0]?.text ?? "") ? fromInput(command, (script) => ({ script })) : [];
		case "trap":
			return args.length > 1 && !/^-/.test(args[0]?.text ?? "-") ? [{ script: args[0]?.text ?? "" }] : [];
		case "command":
			return /^-[vV]$/.test(args[0]?.text ?? "") ? [] : [{ argv: skip(args, {}) }];
		case "holdfast":
			return holdfast(args);
		case "find":
			return found(command);
		case "xargs":
			return xargs(command);
		case "make":
			return after(args, /^-f$/).some((file) => /^(-|\/dev\/.*)$/s.test(file)) ? ["unknown-script"] : [];
		case "vi":
		case "vim":
		case "nvim":
		case "ex":
			return args.flatMap(({ text }) => (/^(?:\+|--cmd=)?:?!(.+)$/s.exec(text)?.[1] ?? []) as string[]).map((script) => ({ script }));
		case "runuser": {
			const rest = args.some(({ text }) => /^(-u|--user(=|$))/.test(text)) ? skip(args, { valued: "ugG", long: ["--user", "--group", "--supp-group"] }) : [];
			return [...after(args, /^(-\w*c|--command)$/).map((script) => ({ script })), ...(rest.length > 0 ? [{ argv: rest }] : [])];
		}
		case "su":
		case "script":
			return after(args, /^(-\w*c|--command)$/).map((script) => ({ script }));
		case "at":
		case "batch":
			return args.some(({ text }) => /^-\w*[flrcd]/.test(text)) ? [] : fromInput(command, (script) => ({ script }));
		case "mapfile":
		case "readarray":
			return after(args, /^-C$/).map((script) => ({ script }));
		case "ed":
		case "psql":
		case "mysql":
		case "mariadb":
		case "sqlite3":
		case "gdb":
			return shellLines(command);
		case "rsync":
			return [...after(args, /^(-\w*e|--rsh)$/), ...behind(args, /^--rsh=(.*)$/s)].map((script) => ({ script }));
		case "awk":
		case "gawk":
		case "mawk":
		case "nawk": {
			const code = joined(args, "\n");
			return [{ code }, ...awkRuns(code.slice(0, MAX_CODE)).flatMap((script): Inner[] => (script === UNKNOWN ? [] : [{ script }]))];
		}
		case "sed": {
			const runs = readSed(args).script?.runs ?? [];
			return [{ code: joined(args, "\n") }, ...runs.map((script): Inner => (script.includes(UNKNOWN) ? "unknown-script" : { script }))];
		}
		case "tar":
			return [...behind(args, /^--(?:checkpoint-action=exec|to-command|use-compress-program)=(.*)$/s), ...after(args, /^(-\w*I|-F)$/)].map((script) => ({
				script,
			}));
		case "git":
			return git(args).map((script) => ({ script }));
	}
	const shapes = SHAPES[name];
	if (!shapes) return [];
	for (const shape of Array.isArray(shapes) ? (shapes as readonly Shape[]) : [shapes as Shape]) {
		const inner = shaped(command, name, shape);
		if (inner) return inner;
	}
	return [];
}

function shaped(command: Found, name: string, shape: Shape): Inner[] | null {
	const { args } = command;
	const first = shape.first ?? [];
	if (first.some((wanted, at) => args[at]?.text !== wanted)) return null;
	if (name === "env") {
		const split = after(args, /^(-\w*S|--split-string)$/);
		const glued = args.flatMap(({ text }) => (/^(?:-S|--split-string=)(.+)$/s.exec(text)?.[1] ?? []) as string[]);
		if (split.length + glued.length > 0) return [...split, ...glued].map((script) => ({ script }));
	}
	if (name === "sudo" && hasFlag(command, "-s|-i|--shell|--login")) {
		const text = joined(skip(args, shape));
		return text === "" ? fromInput(command, (script) => ({ script })) : [{ script: text }];
	}
	if (name === "ssh") {
		const local = behind(args, /^(?:-o)?\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand)[=\s]\s*(.*)$/is).map((script): Inner => ({ script }));
		if (local.length > 0) return [...local, ...(shapedRest(command, shape) ?? [])];
	}
	const calls = /^(npx|npm)$/.test(name) ? [...after(args, /^(-c|--call)$/), ...behind(args, /^--call=(.*)$/s)] : [];
	if (calls.length > 0) return calls.map((script) => ({ script }));
	if (name === "flock" && args.some(({ text }) => text === "-c")) return after(args, /^-c$/).map((script) => ({ script }));
	return shapedRest(command, shape);
}

function shapedRest(command: Found, shape: Shape): Inner[] {
	const rest = skip(command.args.slice(shape.first?.length ?? 0), shape);
	const remote = shape.remote === true;
	if (rest.length === 0) return remote && shape.script && command.input !== null ? [{ script: command.input, remote }] : [];
	return [shape.script ? { script: joined(rest), remote } : { argv: rest, remote }];
}

/** Programs with a command of their own that runs a shell's: `!`, `\\!`, `.shell`. */
function shellLines({ args, input }: Found): Inner[] {
	const lines = [...args.map(({ text }) => text), input ?? ""].join("\n").split("\n");
	return lines.flatMap((line) => (/^\s*(?:\\?!|\.?(?:shell|system)\s)\s*(\S.*)$/s.exec(line)?.[1] ?? []) as string[]).map((script) => ({ script }));
}

/** What git runs for somebody: aliases, pagers, what is done at each step of something. */
function git(args: readonly Word[]): string[] {
	const texts = args.map(({ text }) => text);
	const bisect = texts.indexOf("bisect");
	return [
		...behind(args, /^(?:alias\.[\w-]+=!|core\.(?:pager|editor|sshCommand)=)(.*)$/s),
		...(texts.includes("config") ? [...behind(args, /^!(.*)$/s), ...after(args, /^core\.(?:pager|editor|sshCommand)$/i)] : []),
		...(texts.includes("rebase") ? [...after(args, /^(-x|--exec)$/), ...behind(args, /^--exec=(.*)$/s)] : []),
		...(texts.includes("submodule") ? after(args, /^foreach$/) : []),
		...(bisect !== -1 && texts[bisect + 1] === "run" ? [texts.slice(bisect + 2).join(" ")] : []),
	];
}

/** Past the program's own options, assignments and words. */
function skip(args: readonly Word[], { valued = "", long = [], before = 0 }: Shape): Word[] {
	let words = before;
	let at = 0;
	for (; at < args.length; at++) {
		const text = (args[at] as Word).text;
		if (text === "-") continue;
		if (text === "--") {
			if (words === 0) return args.slice(at + 1);
		} else if (/^--/.test(text)) at += long.includes(text) ? 1 : 0;
		else if (/^-./.test(text))
			at += text.length === 2 && valued.includes(text[1] as string) ? 1 : valued.includes(text.at(-1) as string) && /^-[a-zA-Z]+$/.test(text) ? 1 : 0;
		else if (/^[A-Za-z_]\w*=/.test(text)) continue;
		else if (words === 0) break;
		else words--;
	}
	return args.slice(at);
}

function shell(command: Found): Inner[] {
	const { args } = command;
	const at = args.findIndex(({ text }) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(text) || text === "--command");
	if (at !== -1) {
		const rest = args.slice(at + 1).filter(({ text }, index) => index > 0 || !/^[-+]/.test(text));
		return [{ script: rest[0]?.text ?? UNKNOWN, positional: rest.slice(2).map(({ text }) => text) }];
	}
	const file = args.find(({ text }, index) => !/^[-+]/.test(text) && !/^[-+]o$/.test(args[index - 1]?.text ?? "") && args[index - 1]?.text !== "--rcfile");
	const reads = args.some(({ text }) => /^-[a-zA-Z]*s/.test(text)) || !file || /^(-|\/dev\/(stdin|fd\/).*)$/s.test(file.text);
	return reads ? fromInput(command, (script) => ({ script })) : [];
}

/** Text it is given on stdin. A file somebody prints or redirects is a script like any other; what others print is not known. */
function fromInput(command: Found, make: (text: string) => Inner): Inner[] {
	if (command.input !== null) return [make(command.input)];
	const { upstream } = command;
	if (upstream.length === 0) return command.args.some(({ text }) => text.startsWith("/dev/fd/")) ? ["unknown-script"] : [];
	const isFile = upstream.length === 1 && upstream[0]?.names[0] === "cat" && upstream[0].args.every(({ text }) => !text.includes(UNKNOWN));
	return isFile ? [] : ["unknown-script"];
}

const CODE_FLAG: Readonly<Record<string, RegExp>> = {
	python: /^-[a-zA-Z]*c$/,
	node: /^(-p?e|-p|--eval|--print)$/,
	php: /^-r$/,
	expect: /^-c$/,
	deno: /^eval$/,
};

function interpreter(command: Found, name: string): Inner[] {
	const { args } = command;
	const kind = name.replace(/[\d.]+$/, "");
	const flag = CODE_FLAG[kind === "nodejs" || kind === "bun" ? "node" : kind.startsWith("pypy") ? "python" : kind] ?? /^-[a-zA-Z0-9]*[eE]$/;
	const ours = args.findIndex(({ text }) => /(?:^|\/)(?:doors\/cli\/main\.js|bin\/holdfast)$/.test(text));
	if (ours !== -1) return holdfast(args.slice(ours + 1));
	const codes = after(args, flag);
	const glued = kind === "python" ? /^-c(.+)$/s : /^(?:-[eE]|--eval=)(.+)$/s;
	for (const { text } of args) {
		const code = glued.exec(text)?.[1];
		if (code !== undefined && !flag.test(text)) codes.push(code);
	}
	if (codes.length > 0) return codes.map((code) => ({ code }));
	const file = args.find(({ text }) => !text.startsWith("-"));
	const module = args.findIndex(({ text }) => /^-[a-zA-Z]*m$/.test(text));
	if (module !== -1 && kind === "python") return [{ argv: args.slice(module + 1) }];
	if (args.some(({ text }) => /^(--version|-V|--help|-h)$/.test(text)) || (file && !/^\/dev\/(stdin|fd\/)/.test(file.text))) return [];
	return fromInput(command, (code) => ({ code }));
}

/** Our own command line: what a person runs with it is nobody's business, what an agent runs with it is like any other command. */
function holdfast(args: readonly Word[]): Inner[] {
	const at = args.findIndex(({ text }) => text === "run" || text === "terminal");
	if (at === -1) return [];
	const dashes = args.findIndex(({ text }) => text === "--");
	// Without dashes a word may be the value of an option, or all of the command.
	if (dashes === -1)
		return args.slice(at + 1).flatMap(({ text }, index) => (text.startsWith("-") ? [] : [{ script: text }, { argv: args.slice(at + 1 + index) }]));
	const rest = args.slice(dashes + 1);
	if (rest.length === 0) return [];
	return rest.length > 1 && args[at]?.text === "run" ? [{ argv: rest }] : [{ script: joined(rest) }];
}

function found(command: Found): Inner[] {
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

function xargs(command: Found): Inner[] {
	const shape: Shape = { valued: "nPdLsaEIi", long: ["--max-args", "--max-procs", "--delimiter", "--arg-file", "--replace", "--max-lines"] };
	const inner = skip(command.args, shape);
	if (inner.length === 0) return [];
	const given = command.input === null ? [UNKNOWN] : command.input.split(/[\s\0]+/).filter(Boolean);
	const texts = command.args.map(({ text }) => text);
	const place =
		after(command.args, /^-I$/)[0] ??
		texts.map((text) => /^-I(.+)/.exec(text)?.[1]).find(Boolean) ??
		(texts.some((text) => /^(-i|--replace)$/.test(text)) ? "{}" : undefined);
	if (place === undefined) return [{ argv: [...inner, ...given.map(word)] }];
	return (given.length > 0 ? given : [SOME]).slice(0, 16).map((one) => ({ argv: inner.map((part) => word(part.text.replaceAll(place, one))) }));
}

/** What is in the same word. */
const behind = (args: readonly Word[], pattern: RegExp): string[] => args.flatMap(({ text }) => (pattern.exec(text)?.[1] ?? []) as string[]);

const joined = (args: readonly Word[], by = " "): string => args.map(({ text }) => text).join(by);

const after = (args: readonly Word[], flag: RegExp): string[] =>
	args.flatMap(({ text }, at) => (flag.test(text) && args[at + 1] ? [(args[at + 1] as Word).text] : []));
