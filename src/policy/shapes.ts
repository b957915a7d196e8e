/** Programs that run the command behind their own options: `sudo -u me X`, `timeout 5 X`, `docker exec web X`. */
import { byName } from "../base/index.js";
import { hasFlag } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { after, behind, hidden, type Inner, joined, scripts } from "./inner.js";
import { fromInput, SHELLS } from "./interpreters.js";
import { directoryOption } from "./options.js";
import { sshRuns } from "./ssh.js";
import { valueRuns } from "./variables.js";
import type { Word } from "./word.js";

/** How a program's own arguments are told from the command behind them. */
export interface Shape {
	/** Short options that take a value, and long ones that take it as the next word. */
	readonly valued?: string;
	readonly long?: readonly string[];
	/** Words before the command: a host, a time, a file. */
	readonly before?: number;
	/** Words that must stand first, each one of these: `docker exec`, `mise exec|x`. */
	readonly first?: readonly string[];
	/** Text for a shell rather than a command: the rest as one, or each word by itself. */
	readonly script?: "whole" | "each";
	/** Behind `--`, where there is one: what is before it is not part of the command. */
	readonly dashes?: true;
	readonly remote?: true;
}

const container = {
	valued: "uwencTi",
	long: ["--user", "--workdir", "--env", "--env-file", "--index", "--namespace", "--container", "--detach-keys"],
	before: 1,
	remote: true,
} as const;
const compose = { ...container, valued: "uwenfpT", long: [...container.long, "--file", "--project-name", "--profile", "--project-directory"] } as const;
const run: Shape = { first: ["run"], dashes: true };
const exec: Shape = { first: ["exec|x"], dashes: true };

export const SHAPES = byName<Shape | readonly Shape[]>({
	sudo: { valued: "ughpCDRTUrt", long: ["--user", "--group", "--host", "--prompt", "--chdir", "--chroot", "--role", "--type"] },
	doas: { valued: "uC" },
	pkexec: { valued: "u", long: ["--user"] },
	chrt: { valued: "TPD", before: 1 },
	env: { valued: "uC", long: ["--unset", "--chdir"] },
	nice: { valued: "n", long: ["--adjustment"] },
	ionice: { valued: "cnp" },
	timeout: { valued: "ks", long: ["--kill-after", "--signal"], before: 1 },
	stdbuf: { valued: "ioe" },
	exec: { valued: "a" },
	strace: { valued: "oepEsauPIbX" },
	ltrace: { valued: "oepsau" },
	chroot: { before: 1, long: ["--userspec", "--groups"] },
	unshare: { valued: "SGRw", long: ["--setuid", "--setgid", "--root", "--wd", "--propagation", "--map-user", "--map-group"] },
	nsenter: { valued: "tSGrw", long: ["--target", "--wd", "--root"] },
	ip: { first: ["netns", "exec"], before: 1 },
	taskset: { before: 1, valued: "p" },
	setpriv: {
		long: [
			...["--reuid", "--regid", "--ruid", "--euid", "--rgid", "--egid", "--groups", "--inh-caps", "--ambient-caps", "--bounding-set"],
			...["--securebits", "--pdeathsig", "--selinux-label", "--apparmor-profile"],
		],
	},
	"systemd-run": {
		valued: "pEtuMHr",
		long: ["--unit", "--property", "--setenv", "--slice", "--description", "--on-active", "--on-calendar", "--working-directory", "--uid", "--gid"],
	},
	"systemd-inhibit": { long: ["--what", "--who", "--why", "--mode"] },
	"systemd-cat": { valued: "tp", long: ["--identifier", "--priority"] },
	caffeinate: { valued: "tw" },
	flock: { valued: "wE", long: ["--timeout", "--wait"], before: 1 },
	watch: { valued: "n", long: ["--interval"], script: "whole" },
	choom: { valued: "np", long: ["--adjust"] },
	prlimit: { valued: "p" },
	setarch: [{ first: ["-R|-v|--addr-no-randomize"] }, { before: 1 }],
	cgexec: { valued: "g" },
	numactl: { valued: "CNmip" },
	runcon: { valued: "turl", before: 1 },
	chpst: { valued: "uUbenmdofpcr" },
	cpulimit: { valued: "lpe", long: ["--limit"] },
	faketime: { before: 1, valued: "f" },
	gosu: { before: 1 },
	"su-exec": { before: 1 },
	sg: { before: 1, script: "whole" },
	"xvfb-run": { valued: "nsef", long: ["--server-num", "--server-args"] },
	valgrind: {},
	perf: { first: ["stat|record|trace"], valued: "eopFgCtr" },
	gdb: { first: ["--args"] },
	retry: { valued: "dtsm" },
	...plain(["nohup", "setsid", "builtin", "chronic", "busybox", "toybox", "entr", "bunx", "uvx", "pipx", "dbus-run-session", "unbuffer", "rlwrap", "fakeroot"]),
	...plain([
		"linux64",
		"linux32",
		"i386",
		"x86_64",
		"tini",
		"dumb-init",
		"catatonit",
		"trickle",
		"proxychains",
		"proxychains4",
		"torsocks",
		"torify",
		"eatmydata",
	]),
	...plain(["nocache", "ifne", "catchsegv", "gtimeout", "gnice", "cross-env", "dotenv", "firejail", "sem", "setpgrp", "noglob", "nocorrect"]),
	npx: { valued: "p", long: ["--package"] },
	npm: { first: ["exec|x"], long: ["--package", "--prefix", "--workspace"], valued: "wp" },
	pnpm: [{ first: ["dlx"] }, { first: ["exec"] }],
	yarn: [{ first: ["dlx"] }, { first: ["exec"], script: "whole" }],
	bun: { first: ["x"] },
	bundle: { first: ["exec"] },
	uv: { first: ["run"], valued: "p", long: ["--with", "--python", "--extra", "--group", "--project", "--directory"] },
	conda: { first: ["run"], valued: "np", long: ["--name", "--prefix", "--cwd"] },
	mamba: { first: ["run"], valued: "np", long: ["--name", "--prefix", "--cwd"] },
	micromamba: { first: ["run"], valued: "np", long: ["--name", "--prefix", "--cwd"] },
	direnv: { first: ["exec"], before: 1 },
	nvm: { first: ["exec|run"], before: 1 },
	fnm: { ...exec, long: ["--using"] },
	volta: { ...run, long: ["--node", "--npm", "--yarn"] },
	lerna: exec,
	"aws-vault": { ...exec, before: 1 },
	...Object.fromEntries(["mise", "rtx", "asdf", "rbenv", "pyenv", "nodenv", "goenv", "op"].map((name) => [name, [exec, run]])),
	...Object.fromEntries(["poetry", "pipenv", "pdm", "hatch", "rye", "pixi", "devbox", "dotenvx", "doppler", "teller", "chamber"].map((name) => [name, run])),
	hyperfine: { script: "each", valued: "wmMrnPDLS", long: ["--warmup", "--min-runs", "--max-runs", "--runs", "--export-json", "--export-markdown"] },
	concurrently: { script: "each", valued: "ncp", long: ["--names", "--prefix-colors", "--prefix"] },
	"start-server-and-test": { script: "each" },
	watchexec: { valued: "ewidfs", long: ["--exts", "--watch", "--ignore", "--filter", "--debounce"], script: "whole" },
	ssh: { valued: "pilobcDEeFIJLmOQRSWwB", before: 1, script: "whole", remote: true },
	docker: [
		{ ...container, first: ["exec"] },
		{ ...container, first: ["container", "exec"] },
		{ ...compose, first: ["compose", "exec|run"] },
	],
	podman: [{ first: ["unshare"] }, { ...container, first: ["exec"] }, { ...compose, first: ["compose", "exec|run"] }],
	nerdctl: [
		{ ...container, first: ["exec"] },
		{ ...compose, first: ["compose", "exec|run"] },
	],
	"docker-compose": { ...compose, first: ["exec|run"] },
	kubectl: [
		{ ...container, first: ["exec"] },
		{ first: ["run"], dashes: true, remote: true },
	],
	oc: { ...container, first: ["exec|rsh"] },
	lxc: { ...container, first: ["exec"] },
	incus: { ...container, first: ["exec"] },
	multipass: { ...container, first: ["exec"] },
	heroku: { first: ["run"], valued: "a", long: ["--app"], script: "whole", remote: true },
});

function plain(names: readonly string[]): Record<string, Shape> {
	return Object.fromEntries(names.map((name) => [name, {}]));
}

export function shaped(command: FoundCommand, name: string): Inner[] {
	const shapes = SHAPES[name];
	if (!shapes) return [];
	for (const shape of Array.isArray(shapes) ? (shapes as readonly Shape[]) : [shapes as Shape]) {
		const args = behindFirst(command.args, shape.first ?? []);
		if (args) return byShape(command, name, args, shape);
	}
	return [];
}

/** Returns the words behind those that must stand first; options, which may have values, can stand between. */
function behindFirst(args: readonly Word[], first: readonly string[]): readonly Word[] | null {
	let at = 0;
	for (const wanted of first) {
		const words = wanted.split("|");
		for (; ; at++) {
			const text = args[at]?.text;
			if (text === undefined) return null;
			if (words.includes(text)) break;
			const before = args[at - 1]?.text ?? "";
			if (!text.startsWith("-") && !(before.startsWith("-") && !before.includes("="))) return null;
		}
		at++;
	}
	return args.slice(at);
}

function byShape(command: FoundCommand, name: string, args: readonly Word[], shape: Shape): Inner[] {
	const rest = () => restOf(command, args, shape);
	switch (name) {
		case "env": {
			const split = [...after(args, /^(-\w*S|--split-string)$/), ...behind(args, /^(?:-S|--split-string=)(.+)$/s)];
			return [...scripts(split), ...hidden(assigned(args)), ...(split.length > 0 ? [] : rest())];
		}
		case "sudo": {
			if (!hasFlag(command, "-s|-i|--shell|--login")) return rest();
			const text = joined(skip(args, shape));
			if (text !== "") return [{ script: text }];
			return command.input === null ? ["unknown-script"] : fromInput(command, (script) => ({ script })); // a shell of root, for what is typed
		}
		case "ssh":
			return [...sshRuns({ args }), ...rest()];
		case "npx":
		case "npm": {
			return [...scripts([...after(args, /^(-c|--call)$/), ...behind(args, /^--call=(.*)$/s)]), ...rest()]; // `-c` may be an option of the program that it runs
		}
		case "flock":
		case "sg": {
			return [...scripts(after(args, /^(?:-c|--command)$/)), ...rest()]; // as above
		}
		case "hyperfine":
			return [
				...scripts([...after(args, /^(?:-p|-s|-c|--prepare|--setup|--cleanup|--conclude)$/), ...behind(args, /^--(?:prepare|setup|cleanup|conclude)=(.*)$/s)]),
				...rest(),
			];
		default:
			return rest();
	}
}

/** Returns the commands in the variables that `env` gives to its command. */
function assigned(args: readonly Word[]): string[] {
	const pairs = args.flatMap(({ text }) => {
		const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
		return name === undefined ? [] : [[name, value ?? ""] as const];
	});
	const values = new Map(pairs);
	const functions = behind(args, /^BASH_FUNC_[^=]*=\(\)\s*(.*)$/s);
	return [...functions, ...pairs.flatMap(([name, value]) => valueRuns(name, value, (other) => values.get(other) ?? ""))];
}

function restOf(command: FoundCommand, args: readonly Word[], shape: Shape): Inner[] {
	const dashes = shape.dashes ? args.findIndex(({ text }) => text === "--") : -1;
	const rest = dashes === -1 ? skip(args, shape) : args.slice(dashes + 1);
	const remote = shape.remote === true;
	if (rest.length === 0) return remote && shape.script && command.input !== null ? [{ script: command.input, remote }] : [];
	if (shape.script === "each") return rest.map(({ text }) => ({ script: text, remote }));
	if (shape.script) return [{ script: joined(rest), remote }];
	const raises = command.names.some((name) => /^(?:sudo|doas|pkexec|nsenter|chroot|gosu|su-exec)$/.test(name));
	if (raises && rest.length === 1 && SHELLS.has((rest[0] as Word).text.replace(/^.*\//s, "")) && command.input === null && command.upstream.length === 0)
		return ["unknown-script"];
	// Some of them take a single word with blanks as a line for a shell.
	const [only] = rest;
	return [
		{ argv: rest, remote, cwd: directoryOption(command.names, command) },
		...(only && rest.length === 1 && /\s/.test(only.text) ? [{ script: only.text, remote }] : []),
	];
}

/** Past the program's own options, assignments and words. */
export function skip(args: readonly Word[], { valued = "", long = [], before = 0 }: Shape): Word[] {
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
