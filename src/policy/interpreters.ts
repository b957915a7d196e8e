/** Shells and interpreters: the text they are told to run. */
import { byName } from "../base/index.js";
import type { FoundCommand } from "./found.js";
import { after, type Inner } from "./inner.js";
import { valuesOf } from "./options.js";
import { printsFile } from "./output.js";
import { holdfast } from "./own-cli.js";
import { UNKNOWN, type Word } from "./word.js";

export const SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash", "nu", "elvish", "xonsh"]);
export const INTERPRETERS =
	/^(?:python[\d.]*|pypy3?|perl[\d.]*|ruby[\d.]*|node|nodejs|bun|tsx|ts-node|php[\d.]*|lua(?:jit)?[\d.]*|Rscript|osascript|tclsh|expect|julia|deno|i?python[\d.]*|bpython|elixir|jshell|pwsh|powershell|groovy|scala|raku|guile|R|ghci?|runghc|swift|octave|gnuplot|erl|sbcl|bpftrace)$/;

/** Returns the file that a command runs, and as what. The same text may have made it: `cat > x.sh <<E … E; sh x.sh`. */
export function runsFile(command: FoundCommand): { file: Word | undefined; as: "script" | "code" } | null {
	const name = command.names.at(-1) ?? "";
	const file = command.args.find(({ text }) => !text.startsWith("-")) ?? command.reads[0];
	if (SHELLS.has(name) || name === "source" || name === ".") return { file, as: "script" };
	return INTERPRETERS.test(name) ? { file, as: "code" } : null;
}

export function shell(command: FoundCommand): Inner[] {
	const { args } = command;
	if ([...command.reads, ...command.writes].some(({ text }) => /^\/dev\/(?:tcp|udp)\//.test(text))) return ["unknown-script"]; // from the network
	if (command.reads.some(({ text }) => /^\d+$/.test(text))) return ["unknown-script"]; // from a descriptor that was opened before
	if (after(args, /^--(?:rcfile|init-file)$/).some((text) => text.startsWith("/") && text !== "/dev/null")) return ["unknown-script"];
	const at = args.findIndex(({ text }) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(text) || text === "--command");
	if (at !== -1) {
		const rest = args.slice(at + 1).filter(({ text }, index) => index > 0 || !/^[-+]/.test(text));
		return [{ script: rest[0]?.text ?? UNKNOWN, positional: rest.slice(2).map(({ text }) => text), zero: rest[1]?.text }];
	}
	const file = args.find(({ text }, index) => !/^[-+]/.test(text) && !/^[-+]o$/.test(args[index - 1]?.text ?? "") && args[index - 1]?.text !== "--rcfile");
	const reads = args.some(({ text }) => /^-[a-zA-Z]*s/.test(text)) || !file || /^(-|\/dev\/(stdin|fd\/).*)$/s.test(file.text);
	return reads ? fromInput(command, (script) => ({ script })) : [];
}

/** Text it is given on stdin. A file that `cat` prints or a redirection opens is a script like any other; the output of other programs is not known. */
export function fromInput(command: FoundCommand, make: (text: string) => Inner): Inner[] {
	if (command.input !== null) return [make(command.input)];
	const { upstream } = command;
	if (upstream.length === 0) return command.args.some(({ text }) => text.startsWith("/dev/fd/")) ? ["unknown-script"] : [];
	return upstream.length === 1 && upstream[0] && printsFile(upstream[0]) ? [] : ["unknown-script"];
}

const CODE_FLAG = byName<RegExp>({
	python: /^-[a-zA-Z]*c$/,
	node: /^(-p?e|-p|--eval|--print)$/,
	ipython: /^-c$/,
	bpython: /^-c$/,
	pwsh: /^-(?:c|Command|EncodedCommand|e|ec)$/i,
	powershell: /^-(?:c|Command|EncodedCommand|e|ec)$/i,
	php: /^-r$/,
	expect: /^-c$/,
	deno: /^eval$/,
	guile: /^-c$/,
	octave: /^--eval$/,
	sbcl: /^--eval$/,
	erl: /^-eval$/,
});

/** A file of code that is loaded before anything else: `node -r /tmp/x.js`, `perl -I/tmp -MX`. */
function preloads(args: readonly Word[], kind: string): boolean {
	const given = (flag: RegExp, glued: RegExp) => valuesOf({ args }, flag, glued).some(({ text }) => /^(?:\/(?!usr\/)|~)/.test(text));
	if (kind === "node" || kind === "nodejs" || kind === "bun" || kind === "tsx")
		return given(/^(?:-r|--require|--import|--loader|--experimental-loader|--preload)$/, /^--(?:require|import|loader|experimental-loader|preload)=(.+)$/s);
	if (kind === "ruby") return given(/^-[rI]$/, /^-[rI](.+)$/s);
	return kind === "perl" && given(/^-I$/, /^-I(.+)$/s) && args.some(({ text }) => text.startsWith("-M"));
}

export function interpreter(command: FoundCommand, name: string): Inner[] {
	const { args } = command;
	const kind = name.replace(/[\d.]+$/, "");
	const flag = CODE_FLAG[kind === "nodejs" || kind === "bun" ? "node" : kind.startsWith("pypy") ? "python" : kind] ?? /^-[a-zA-Z0-9]*[eE]$/;
	if (preloads(args, kind)) return ["unknown-script"];
	const ours = args.findIndex(({ text }) => /(?:^|\/)(?:doors\/cli\/main\.js|bin\/holdfast(?:\.js)?)$/.test(text));
	if (ours !== -1) return holdfast(args.slice(ours + 1));
	const codes = after(args, flag);
	const glued = kind === "python" ? /^-c(.+)$/s : /^(?:-[eE]|--eval=)(.+)$/s;
	for (const { text } of args) {
		const code = glued.exec(text)?.[1];
		if (code !== undefined && !flag.test(text)) codes.push(code);
	}
	if (codes.length > 0) return codes.map((code) => ({ code }));
	const file = args.find(({ text }) => !text.startsWith("-") || text === "-");
	const module = args.findIndex(({ text }) => /^-[a-zA-Z]*m$/.test(text));
	if (module !== -1 && kind === "python")
		return args[module + 1]?.text === "timeit" ? args.slice(module + 2).map(({ text }) => ({ code: text })) : [{ argv: args.slice(module + 1) }];
	if (args.some(({ text }) => /^(--version|-V|--help|-h)$/.test(text)) || (file && !/^(?:-$|\/dev\/(stdin|fd\/))/.test(file.text))) return [];
	return fromInput(command, (code) => ({ code }));
}
